#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/rule.h"

static laju_rule rule;

static void accepted(const char *text) {
  char why[LAJU_TEXT_SIZE] = "";
  int error = laju_rule_parse(&rule, text, why);
  assert_string_equal(why, "");
  assert_int_equal(error, 0);
}

static void refused(const char *text, int with, const char *message) {
  char why[LAJU_TEXT_SIZE] = "";
  laju_rule before = rule;
  int error = laju_rule_parse(&rule, text, why);
  assert_string_equal(why, message);
  assert_int_equal(error, with);
  assert_memory_equal(&before, &rule, sizeof rule);
}

static void the_short_form_is_a_sliding_window_counter(void **state) {
  (void)state;
  accepted("api=100/1m");
  assert_string_equal(rule.name, "api");
  assert_int_equal(rule.algorithm, LAJU_SLIDING_WINDOW_COUNTER);
  assert_int_equal(rule.limit, 100);
  assert_int_equal(rule.capacity, 100);
  assert_int_equal(rule.cost, 1);
  assert_int_equal(laju_rule_period_us(&rule), 60000000);
}

static void the_long_form_says_all(void **state) {
  (void)state;
  accepted("login=5/1m token-bucket burst 10 cost 2");
  assert_int_equal(rule.algorithm, LAJU_TOKEN_BUCKET);
  assert_int_equal(rule.limit, 5);
  assert_int_equal(rule.capacity, 10);
  assert_int_equal(rule.cost, 2);
}

static void the_options_stand_in_any_order_and_spacing(void **state) {
  (void)state;
  accepted("  login=5/250ms\tcost 2   burst 10 leaky-bucket ");
  assert_int_equal(rule.algorithm, LAJU_LEAKY_BUCKET);
  assert_int_equal(rule.capacity, 10);
  assert_int_equal(rule.cost, 2);
  assert_int_equal(laju_rule_period_us(&rule), 250000);
}

static void it_makes_what_laju_rule_init_makes(void **state) {
  (void)state;
  laju_rule made;
  assert_int_equal(laju_rule_init(&made, "log", 3, LAJU_SLIDING_WINDOW_LOG, 65536, INT64_C(604800000000), 0), 0);
  accepted("log=65536/1w sliding-window-log");
  assert_memory_equal(&made, &rule, sizeof rule);
}

#define FORM "NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]"

static void what_is_not_of_the_form_is_told_the_form(void **state) {
  (void)state;
  refused("", LAJU_ERR_TEXT, "\"\" is not NAME=LIMIT/PERIOD; allowed: " FORM);
  refused("login", LAJU_ERR_TEXT, "\"login\" is not NAME=LIMIT/PERIOD; allowed: " FORM);
  refused("login=5", LAJU_ERR_TEXT,
          "\"login=5\" is not NAME=LIMIT/PERIOD; did you mean \"login=5/1m\"? allowed: " FORM);
  refused("login = 5/1m", LAJU_ERR_TEXT, "\"login\" is not NAME=LIMIT/PERIOD; allowed: " FORM);
  refused("login=5/1m brust 10", LAJU_ERR_TEXT, "\"brust\" is not known here; did you mean \"burst\"? allowed: " FORM);
}

static void each_field_is_named_when_it_is_wrong(void **state) {
  (void)state;
  refused("=5/1m", LAJU_ERR_NAME, "name: \"\" is not a name; allowed: 1 to 64 of A-Z a-z 0-9 _ . -");
  refused("a=x/1m", LAJU_ERR_LIMIT,
          "limit: \"x\" is not a whole number; allowed: 0 to 4294967295 (sliding-window-log: 0 to 65536)");
  refused(
      "a=5/m", LAJU_ERR_PERIOD,
      "per: \"m\" is not a duration; did you mean \"1m\"? allowed: 1ms to 366d, a whole number and a unit: us, ms, s, m, h, "
      "d or w");
  refused(
      "a=5/2000001us", LAJU_ERR_PERIOD_TICK,
      "per: \"2000001us\" is divided by no tick (a power of ten of us, up to 100s, at most 1048576 in a period); did you "
      "mean \"2s\"? allowed: 1ms to 366d");
  refused(
      "a=5/1m token", LAJU_ERR_ALGORITHM,
      "algorithm: \"token\" is not an algorithm; did you mean \"token-bucket\"? allowed: token-bucket, leaky-bucket, "
      "fixed-window, sliding-window-counter or sliding-window-log");
  refused("a=5/1m burst 9", LAJU_ERR_BURST,
          "burst: is not for sliding-window-counter; allowed: with token-bucket and leaky-bucket only");
  refused("a=5/1m cost", LAJU_ERR_COST, "cost: \"\" is not a whole number; allowed: 0 to 4294967295");
  refused("a=65537/1m sliding-window-log", LAJU_ERR_LIMIT,
          "limit: \"65537\" is too many for a sliding-window-log; allowed: 0 to 65536");
}

static void a_field_given_twice_is_refused(void **state) {
  (void)state;
  refused("a=5/1m cost 1 cost 2", LAJU_ERR_TEXT, "cost: \"2\" is given twice; allowed: " FORM);
  refused("a=5/1m token-bucket leaky-bucket", LAJU_ERR_TEXT,
          "algorithm: \"leaky-bucket\" is given twice; allowed: " FORM);
}

static void a_long_or_strange_text_is_shown_cut_and_cleaned(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text);
  text[1] = '\n';
  text[sizeof text - 1] = '\0';
  refused(text, LAJU_ERR_TEXT,
          "\"x?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is not NAME=LIMIT/PERIOD; allowed: " FORM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_short_form_is_a_sliding_window_counter),
      cmocka_unit_test(the_long_form_says_all),
      cmocka_unit_test(the_options_stand_in_any_order_and_spacing),
      cmocka_unit_test(it_makes_what_laju_rule_init_makes),
      cmocka_unit_test(what_is_not_of_the_form_is_told_the_form),
      cmocka_unit_test(each_field_is_named_when_it_is_wrong),
      cmocka_unit_test(a_field_given_twice_is_refused),
      cmocka_unit_test(a_long_or_strange_text_is_shown_cut_and_cleaned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
