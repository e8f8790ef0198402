#include "proto/http_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW_US INT64_C(1700000000000000)

static const laju_terms shown = {.show_x_ratelimit = true, .show_ratelimit = true};

/* The Date field of a reply that was decided at `now_us`. */
static void dates(laju_http_date *date, int64_t now_us, const char *expected) {
  laju_problem problem = {.status = 408, .detail = "late", .list = "", .index = LAJU_PROBLEM_NO_INDEX};
  laju_buffer out = {0};
  laju_http_reply_problem(date, now_us, &problem, &out);
  laju_buffer_add(&out, "", 1);
  const char *found = strstr(out.data, "\r\nDate: ");
  assert_non_null(found);
  assert_memory_equal(found + 8, expected, strlen(expected));
  laju_buffer_deinit(&out);
}

static void the_date_is_the_decisions(void **state) {
  (void)state;
  laju_http_date date = {0};
  dates(&date, 0, "Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  dates(&date, 1709210096999999, "Thu, 29 Feb 2024 12:34:56 GMT\r\n");
  dates(&date, 1709210097000000, "Thu, 29 Feb 2024 12:34:57 GMT\r\n");
  dates(&date, 1709210097999999, "Thu, 29 Feb 2024 12:34:57 GMT\r\n");
  dates(&date, LAJU_TIME_MAX_US, "Tue, 05 Jun 2255 23:47:34 GMT\r\n");
}

static void the_longest_decisions_fit(void **state) {
  (void)state;
  char name[LAJU_NAME_MAX];
  memset(name, 'n', sizeof name);
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, name, sizeof name, LAJU_TOKEN_BUCKET, 1, LAJU_PERIOD_MAX_US, UINT32_MAX), 0);
  laju_batch *batch = laju_batch_new();
  assert_non_null(batch);
  batch->now_us = LAJU_TIME_MAX_US;
  for (size_t i = 0; i < LAJU_EACH_MAX; i++) {
    batch->checks[i] = (laju_check){.rule = &rule};
    batch->decisions[i] = (laju_decision){.retry_after_us = LAJU_WAIT_MAX_US,
                                          .more_after_us = LAJU_WAIT_MAX_US,
                                          .reset_after_us = LAJU_WAIT_MAX_US,
                                          .delay_us = LAJU_WAIT_MAX_US,
                                          .limit = UINT32_MAX,
                                          .remaining = UINT32_MAX - 1,
                                          .basis = LAJU_FALLBACK};
  }
  laju_http_date date = {0};
  laju_buffer out = {0};
  laju_ask all = {.kind = LAJU_ASK_ALL, .form = LAJU_HTTP_CHECKS, .count = LAJU_CHECKS_MAX};
  laju_http_reply(&date, &shown, batch, &all, &out);
  laju_ask each = {.kind = LAJU_ASK_EACH, .form = LAJU_HTTP_BATCH, .count = LAJU_EACH_MAX};
  laju_http_reply(&date, &shown, batch, &each, &out);
  laju_buffer_add(&out, "", 1);
  const char *second = strstr(out.data + 1, "HTTP/1.1 200 OK\r\n");
  assert_non_null(second);
  const char *body = strstr(second, "\r\n\r\n") + 4;
  assert_int_equal(strtoul(strstr(second, "Content-Length: ") + 16, NULL, 10), strlen(body));
  assert_non_null(strstr(body, "\"reset_after_ms\":9007199254741,\"delay_ms\":9007199254741,\"source\":\"fallback\"}"));
  laju_buffer_deinit(&out);
  laju_batch_free(batch);
}

/* ---- without the shared store ---- */

#define SECOND_US 1000000

static laju_rule rule_of(const char *line, laju_on_store_error on_store_error) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, line, why), 0);
  rule.on_store_error = on_store_error;
  return rule;
}

/* The response to a request of `count` of these checks. */
static const char *answers(laju_ask ask, const laju_check *checks, const laju_decision *decisions, size_t count) {
  static char text[4096];
  laju_batch *batch = laju_batch_new();
  laju_http_date date = {0};
  laju_buffer out = {0};
  assert_non_null(batch);
  batch->now_us = NOW_US;
  memcpy(batch->checks, checks, count * sizeof *checks);
  memcpy(batch->decisions, decisions, count * sizeof *decisions);
  ask.count = (uint32_t)count;
  laju_http_reply(&date, &shown, batch, &ask, &out);
  laju_buffer_add(&out, "", 1);
  assert_true(out.len <= sizeof text);
  memcpy(text, out.data, out.len);
  laju_buffer_deinit(&out);
  laju_batch_free(batch);
  return text;
}

static void holds(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("%s is not in %s", part, text);
}

static const laju_ask one = {.kind = LAJU_ASK_ALL, .form = LAJU_HTTP_ONE};
static const laju_ask list = {.kind = LAJU_ASK_ALL, .form = LAJU_HTTP_CHECKS};
static const laju_ask auth = {.kind = LAJU_ASK_ALL, .form = 401};

static void an_answer_without_the_store_says_so(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m", LAJU_STORE_ERROR_ALLOW);
  laju_check check = {.rule = &rule};
  laju_decision allowed = {.allowed = true, .limit = 5, .remaining = 5, .basis = LAJU_FALLBACK};
  laju_ask ask = one;
  ask.allowed = true;
  const char *text = answers(ask, &check, &allowed, 1);
  holds(text, "HTTP/1.1 200 OK\r\n");
  holds(text, "\r\nX-RateLimit-Source: fallback\r\n");
  holds(text, "\"delay_ms\":0,\"source\":\"fallback\"}");
  allowed.basis = LAJU_DECIDED;
  text = answers(ask, &check, &allowed, 1);
  assert_null(strstr(text, "ource"));
}

static void a_refusal_for_want_of_the_store_is_503(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m", LAJU_STORE_ERROR_DENY);
  laju_check check = {.rule = &rule};
  laju_decision denied = {.limit = 5, .retry_after_us = SECOND_US, .basis = LAJU_FALLBACK};
  const char *text = answers(one, &check, &denied, 1);
  holds(text, "HTTP/1.1 503 Service Unavailable\r\n");
  holds(text, "\r\nContent-Type: application/json\r\n");
  holds(text, "\r\nRetry-After: 1\r\n");
  holds(text, "{\"allowed\":false,\"rule\":\"a\",");
  holds(answers(auth, &check, &denied, 1), "HTTP/1.1 401 Unauthorized\r\n");
}

static void other_refusals_stay_429(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m", LAJU_STORE_ERROR_DENY);
  laju_rule local = rule_of("b=5/1m", LAJU_STORE_ERROR_LOCAL);
  laju_check dear = {.rule = &rule}, second = {.rule = &local};
  laju_decision never = {.limit = 5, .retry_after_us = LAJU_NEVER, .basis = LAJU_FALLBACK};
  laju_decision wait = {.limit = 5, .retry_after_us = 30 * SECOND_US, .basis = LAJU_FALLBACK};
  laju_decision decided = {.limit = 5, .retry_after_us = SECOND_US};
  holds(answers(one, &dear, &never, 1), "HTTP/1.1 429 Too Many Requests\r\n");
  holds(answers(one, &second, &wait, 1), "HTTP/1.1 429 Too Many Requests\r\n");
  holds(answers(one, &second, &wait, 1), "\r\nRetry-After: 30\r\n");
  holds(answers(one, &dear, &decided, 1), "HTTP/1.1 429 Too Many Requests\r\n");
}

static void what_was_not_asked_is_told_of_in_the_list_alone(void **state) {
  (void)state;
  laju_rule full = rule_of("full=9/1m", LAJU_STORE_ERROR_ALLOW), idle = rule_of("idle=5/1m", LAJU_STORE_ERROR_ALLOW);
  laju_check checks[] = {{.rule = &idle}, {.rule = &full}};
  laju_decision decisions[] = {{.limit = 5, .basis = LAJU_UNASKED}, {.limit = 9, .retry_after_us = SECOND_US}};
  const char *text = answers(list, checks, decisions, 2);
  holds(text, "\r\nX-RateLimit-Limit: 9\r\n");
  holds(text, "\r\nRateLimit-Policy: \"full\";q=9;w=60\r\n");
  holds(text, "{\"allowed\":false,\"rule\":\"full\",\"limit\":9,");
  holds(text, "\"rule\":\"idle\",\"limit\":5,");
  holds(text, "\"delay_ms\":0,\"source\":\"unasked\"}");
}

static void a_request_over_several_slots_is_refused_with_what_would_help(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m", LAJU_STORE_ERROR_ALLOW);
  laju_check check = {.rule = &rule};
  laju_decision nothing = {.limit = 0};
  laju_ask split = one, behind = auth;
  split.split = behind.split = true;
  const char *text = answers(split, &check, &nothing, 1);
  holds(text, "HTTP/1.1 400 Bad Request\r\n");
  holds(text, "\r\nContent-Type: application/problem+json\r\n");
  holds(text, "\"detail\":\"its checks belong to different slots of the Redis Cluster");
  holds(text, "rules with one `group:`");
  assert_null(strstr(text, "..."));
  holds(answers(behind, &check, &nothing, 1), "HTTP/1.1 500 Internal Server Error\r\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_date_is_the_decisions),
      cmocka_unit_test(the_longest_decisions_fit),
      cmocka_unit_test(an_answer_without_the_store_says_so),
      cmocka_unit_test(a_refusal_for_want_of_the_store_is_503),
      cmocka_unit_test(other_refusals_stay_429),
      cmocka_unit_test(what_was_not_asked_is_told_of_in_the_list_alone),
      cmocka_unit_test(a_request_over_several_slots_is_refused_with_what_would_help),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
