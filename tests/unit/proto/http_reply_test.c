#include "proto/http_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
                                          .remaining = UINT32_MAX - 1};
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
  assert_non_null(
      strstr(body, "\"retry_after_ms\":9007199254741,\"reset_after_ms\":9007199254741,\"delay_ms\":9007199254741}"));
  laju_buffer_deinit(&out);
  laju_batch_free(batch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_date_is_the_decisions),
      cmocka_unit_test(the_longest_decisions_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
