#include "proto/headers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NOW_US INT64_C(1700000000000000)

static const laju_terms shown = {.show_x_ratelimit = true, .show_ratelimit = true};

static laju_rule rule_of(const char *line) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, line, why), 0);
  return rule;
}

static void writes(const laju_check *checks, const laju_decision *decisions, size_t count, const char *expected) {
  char text[LAJU_HEADERS_MAX + 1];
  size_t tightest = laju_headers_tightest(checks, decisions, count);
  text[laju_headers_write(text, &shown, checks, decisions, count, tightest, NOW_US)] = '\0';
  assert_string_equal(text, expected);
}

static void an_admission_tells_all_but_retry_after(void **state) {
  (void)state;
  laju_rule rule = rule_of("login=5/1m token-bucket burst 10");
  laju_check check = {.rule = &rule};
  laju_decision decision = {
      .allowed = true, .limit = 10, .remaining = 9, .more_after_us = 12000000, .reset_after_us = 12000000};
  writes(&check, &decision, 1,
         "X-RateLimit-Limit: 10\r\n"
         "X-RateLimit-Remaining: 9\r\n"
         "X-RateLimit-Reset: 1700000012\r\n"
         "RateLimit-Policy: \"login\";q=10;w=120\r\n"
         "RateLimit: \"login\";r=9;t=12\r\n");
}

static void seconds_are_rounded_up(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m fixed-window");
  laju_check check = {.rule = &rule};
  laju_decision decision = {.limit = 5, .retry_after_us = 1, .more_after_us = 1000001, .reset_after_us = 2000001};
  writes(&check, &decision, 1,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 0\r\n"
         "X-RateLimit-Reset: 1700000003\r\n"
         "RateLimit-Policy: \"a\";q=5;w=60\r\n"
         "RateLimit: \"a\";r=0;t=2\r\n"
         "Retry-After: 1\r\n");
}

static void a_full_key_has_no_t(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m");
  laju_check check = {.rule = &rule};
  laju_decision decision = {.allowed = true, .limit = 5, .remaining = 5};
  writes(&check, &decision, 1,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 5\r\n"
         "X-RateLimit-Reset: 1700000000\r\n"
         "RateLimit-Policy: \"a\";q=5;w=60\r\n"
         "RateLimit: \"a\";r=5\r\n");
}

static void policy_is(const char *line, const char *expected) {
  laju_rule rule = rule_of(line);
  laju_check check = {.rule = &rule};
  laju_decision decision = {.allowed = true, .limit = rule.capacity, .remaining = rule.capacity};
  char text[LAJU_HEADERS_MAX + 1];
  text[laju_headers_write(text, &shown, &check, &decision, 1, 0, NOW_US)] = '\0';
  const char *policy = strstr(text, "RateLimit-Policy: ");
  assert_non_null(policy);
  policy += strlen("RateLimit-Policy: ");
  assert_memory_equal(policy, expected, strlen(expected));
  assert_memory_equal(policy + strlen(expected), "\r\n", 2);
}

static void w_is_a_whole_number_above_0_or_left_out(void **state) {
  (void)state;
  policy_is("a=100/1m", "\"a\";q=100;w=60");
  policy_is("a=3/1s token-bucket burst 10", "\"a\";q=10"); /* 10/3 of a second */
  policy_is("a=10/250ms", "\"a\";q=10");
  policy_is("a=4/500ms token-bucket burst 8", "\"a\";q=8;w=1");
  policy_is("a=0/1m", "\"a\";q=0");
  /* 366 days times 2^32 - 1 does not fit 64 bits: 31622400 s * 4294967295 / 1 */
  policy_is("a=1/366d token-bucket burst 4294967295", "\"a\";q=4294967295;w=135817173789408000");
  policy_is("a=7/366d token-bucket burst 4294967295", "\"a\";q=4294967295");
}

static void each_rule_is_told_once_by_its_tightest_decision(void **state) {
  (void)state;
  laju_rule a = rule_of("a=10/1s fixed-window"), b = rule_of("b=100/1m fixed-window");
  laju_check checks[] = {{.rule = &a}, {.rule = &b}, {.rule = &a}};
  laju_decision decisions[] = {
      {.allowed = true, .limit = 10, .remaining = 8, .more_after_us = 500000, .reset_after_us = 500000},
      {.allowed = true, .limit = 100, .remaining = 50, .more_after_us = 30000000, .reset_after_us = 30000000},
      {.allowed = true, .limit = 10, .remaining = 2, .more_after_us = 500000, .reset_after_us = 500000},
  };
  writes(checks, decisions, 3,
         "X-RateLimit-Limit: 10\r\n"
         "X-RateLimit-Remaining: 2\r\n"
         "X-RateLimit-Reset: 1700000001\r\n"
         "RateLimit-Policy: \"a\";q=10;w=1, \"b\";q=100;w=60\r\n"
         "RateLimit: \"a\";r=2;t=1, \"b\";r=50;t=30\r\n");
}

static void retry_after_is_the_longest_wait(void **state) {
  (void)state;
  laju_rule a = rule_of("a=10/1m fixed-window");
  laju_check checks[] = {{.rule = &a}, {.rule = &a}};
  laju_decision decisions[] = {
      {.limit = 10, .retry_after_us = 7000001, .more_after_us = 7000001, .reset_after_us = 7000001},
      {.limit = 10, .retry_after_us = 9000000, .more_after_us = 7000001, .reset_after_us = 7000001},
  };
  char text[LAJU_HEADERS_MAX + 1];
  text[laju_headers_write(text, &shown, checks, decisions, 2, 1, NOW_US)] = '\0';
  assert_non_null(strstr(text, "\r\nRetry-After: 9\r\n"));
  decisions[0].retry_after_us = LAJU_NEVER;
  text[laju_headers_write(text, &shown, checks, decisions, 2, 0, NOW_US)] = '\0';
  assert_null(strstr(text, "Retry-After"));
}

static void a_reset_is_the_same_instant_anywhere_in_a_tick(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=10/1d fixed-window"); /* ticks of 100 ms */
  laju_check check = {.rule = &rule};
  laju_decision decision = {.allowed = true, .limit = 10, .remaining = 9, .reset_after_us = 20000000};
  char at_first[LAJU_HEADERS_MAX], at_last[LAJU_HEADERS_MAX];
  size_t len = laju_headers_write(at_first, &shown, &check, &decision, 1, 0, NOW_US);
  assert_int_equal(laju_headers_write(at_last, &shown, &check, &decision, 1, 0, NOW_US + 99999), len);
  assert_memory_equal(at_first, at_last, len);
}

static void the_longest_wait_and_sixteen_long_names_fit(void **state) {
  (void)state;
  laju_rule rules[LAJU_CHECKS_MAX];
  laju_check checks[LAJU_CHECKS_MAX];
  laju_decision decisions[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < LAJU_CHECKS_MAX; i++) {
    char name[LAJU_NAME_MAX];
    memset(name, 'n', sizeof name);
    name[0] = (char)('a' + i);
    assert_int_equal(laju_rule_init(&rules[i], name, sizeof name, LAJU_TOKEN_BUCKET, 1, LAJU_PERIOD_MAX_US, UINT32_MAX),
                     0);
    checks[i] = (laju_check){.rule = &rules[i]};
    decisions[i] = (laju_decision){.limit = UINT32_MAX,
                                   .remaining = UINT32_MAX - 1,
                                   .retry_after_us = LAJU_WAIT_MAX_US,
                                   .more_after_us = LAJU_WAIT_MAX_US,
                                   .reset_after_us = LAJU_WAIT_MAX_US};
  }
  char text[LAJU_HEADERS_MAX + 1];
  size_t len = laju_headers_write(text, &shown, checks, decisions, LAJU_CHECKS_MAX, 0, LAJU_TIME_MAX_US);
  assert_true(len < LAJU_HEADERS_MAX);
  text[len] = '\0';
  assert_non_null(strstr(text, "X-RateLimit-Reset: 18014398455\r\n")); /* 2^53 - 1 us after its tick of 100 s */
  assert_non_null(strstr(text, "\r\nRetry-After: 9007199255\r\n"));
}

static void what_is_not_to_be_shown_is_not(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m fixed-window");
  laju_check check = {.rule = &rule};
  laju_decision decision = {.limit = 5, .retry_after_us = 1, .more_after_us = 1, .reset_after_us = 1};
  laju_terms x_only = {.show_x_ratelimit = true}, none = {0};
  char text[LAJU_HEADERS_MAX + 1];
  text[laju_headers_write(text, &x_only, &check, &decision, 1, 0, NOW_US)] = '\0';
  assert_string_equal(
      text, "X-RateLimit-Limit: 5\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1700000001\r\nRetry-After: 1\r\n");
  text[laju_headers_write(text, &none, &check, &decision, 1, 0, NOW_US)] = '\0';
  assert_string_equal(text, "Retry-After: 1\r\n");
}

static void a_reset_may_count_from_now(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m fixed-window");
  laju_check check = {.rule = &rule};
  laju_decision decision = {.allowed = true, .limit = 5, .remaining = 4, .reset_after_us = 11000001};
  laju_terms delta = {.show_x_ratelimit = true, .reset_is_delta = true};
  char text[LAJU_HEADERS_MAX + 1];
  text[laju_headers_write(text, &delta, &check, &decision, 1, 0, NOW_US)] = '\0';
  assert_non_null(strstr(text, "\r\nX-RateLimit-Reset: 12\r\n"));
}

static void an_answer_without_the_store_has_its_source(void **state) {
  (void)state;
  laju_rule rule = rule_of("a=5/1m fixed-window"), ghost = rule_of("g=5/1m fixed-window");
  ghost.shadow = true;
  laju_check checks[] = {{.rule = &rule}, {.rule = &ghost}};
  laju_decision decisions[] = {{.allowed = true, .limit = 5, .remaining = 5, .basis = LAJU_FALLBACK},
                               {.allowed = true, .limit = 5, .remaining = 5, .basis = LAJU_FALLBACK}};
  writes(checks, decisions, 2,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 5\r\n"
         "X-RateLimit-Reset: 1700000000\r\n"
         "X-RateLimit-Source: fallback\r\n"
         "RateLimit-Policy: \"a\";q=5;w=60\r\n"
         "RateLimit: \"a\";r=5\r\n");
  decisions[0].basis = LAJU_DECIDED;
  writes(checks, decisions, 2,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 5\r\n"
         "X-RateLimit-Reset: 1700000000\r\n"
         "RateLimit-Policy: \"a\";q=5;w=60\r\n"
         "RateLimit: \"a\";r=5\r\n");
}

static void what_was_not_asked_is_left_out(void **state) {
  (void)state;
  laju_rule rules[] = {rule_of("a=5/1m fixed-window"), rule_of("b=5/1m fixed-window"), rule_of("c=9/1m fixed-window")};
  laju_check checks[] = {{.rule = &rules[0]}, {.rule = &rules[1]}, {.rule = &rules[2]}};
  laju_decision decisions[] = {
      {.limit = 5, .basis = LAJU_UNASKED},
      {.limit = 5, .retry_after_us = 2000000, .more_after_us = 2000000, .reset_after_us = 2000000},
      {.limit = 9, .retry_after_us = LAJU_NEVER, .basis = LAJU_UNASKED}};
  writes(checks, decisions, 3,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 0\r\n"
         "X-RateLimit-Reset: 1700000002\r\n"
         "RateLimit-Policy: \"b\";q=5;w=60\r\n"
         "RateLimit: \"b\";r=0;t=2\r\n"
         "Retry-After: 2\r\n");
}

static void a_rule_in_shadow_is_not_told_of(void **state) {
  (void)state;
  laju_rule ghost = rule_of("ghost=1/1m fixed-window"), a = rule_of("a=5/1m fixed-window");
  ghost.shadow = true;
  laju_check checks[] = {{.rule = &ghost}, {.rule = &a}};
  laju_decision decisions[] = {
      {.limit = 1, .retry_after_us = 60000000, .more_after_us = 60000000, .reset_after_us = 60000000},
      {.allowed = true, .limit = 5, .remaining = 4, .more_after_us = 9000000, .reset_after_us = 9000000},
  };
  assert_int_equal(laju_headers_tightest(checks, decisions, 2), 1);
  writes(checks, decisions, 2,
         "X-RateLimit-Limit: 5\r\n"
         "X-RateLimit-Remaining: 4\r\n"
         "X-RateLimit-Reset: 1700000009\r\n"
         "RateLimit-Policy: \"a\";q=5;w=60\r\n"
         "RateLimit: \"a\";r=4;t=9\r\n");
  assert_int_equal(laju_headers_tightest(checks, decisions, 1), 0);
  writes(checks, decisions, 1, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_admission_tells_all_but_retry_after),
      cmocka_unit_test(seconds_are_rounded_up),
      cmocka_unit_test(a_full_key_has_no_t),
      cmocka_unit_test(w_is_a_whole_number_above_0_or_left_out),
      cmocka_unit_test(each_rule_is_told_once_by_its_tightest_decision),
      cmocka_unit_test(retry_after_is_the_longest_wait),
      cmocka_unit_test(a_reset_is_the_same_instant_anywhere_in_a_tick),
      cmocka_unit_test(what_is_not_to_be_shown_is_not),
      cmocka_unit_test(a_reset_may_count_from_now),
      cmocka_unit_test(an_answer_without_the_store_has_its_source),
      cmocka_unit_test(what_was_not_asked_is_left_out),
      cmocka_unit_test(a_rule_in_shadow_is_not_told_of),
      cmocka_unit_test(the_longest_wait_and_sixteen_long_names_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
