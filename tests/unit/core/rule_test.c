#include "core/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define S INT64_C(1000000)
#define DAY (86400 * S)

static int init(laju_rule *rule, laju_algorithm algorithm, uint64_t limit, int64_t period_us, uint64_t burst) {
  return laju_rule_init(rule, "login", 5, algorithm, limit, period_us, burst);
}

static int init_named(const char *name, size_t len) {
  laju_rule rule;
  return laju_rule_init(&rule, name, len, LAJU_FIXED_WINDOW, 1, S, 0);
}

static int64_t tick_of(int64_t period_us) {
  laju_rule rule;
  return init(&rule, LAJU_FIXED_WINDOW, 1, period_us, 0) == 0 ? rule.tick_us : 0;
}

static void a_rule_holds_what_it_was_made_of(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, LAJU_TOKEN_BUCKET, 5, 60 * S, 10), 0);
  assert_int_equal(rule.limit, 5);
  assert_int_equal(rule.capacity, 10);
  assert_int_equal(rule.cost, 1);
  assert_int_equal(rule.tick_us, 100);
  assert_int_equal(rule.period, 600000);
  assert_int_equal(laju_rule_period_us(&rule), 60 * S);
  assert_string_equal(rule.name, "login");
}

static void a_burst_of_0_is_as_limit(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, LAJU_LEAKY_BUCKET, 7, S, 0), 0);
  assert_int_equal(rule.capacity, 7);
}

static void a_limit_of_0_has_no_capacity(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, LAJU_TOKEN_BUCKET, 0, S, 10), 0);
  assert_int_equal(rule.capacity, 0);
}

static void only_buckets_have_a_burst(void **state) {
  (void)state;
  laju_rule rule;
  for (unsigned i = LAJU_FIXED_WINDOW; i < LAJU_ALGORITHMS; i++) {
    assert_int_equal(init(&rule, (laju_algorithm)i, 5, S, 6), LAJU_ERR_BURST);
    assert_int_equal(init(&rule, (laju_algorithm)i, 5, S, 5), 0);
  }
}

static void limits_end_where_they_should(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, LAJU_TOKENS_MAX, S, 0), 0);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, LAJU_TOKENS_MAX + UINT64_C(1), S, 0), LAJU_ERR_LIMIT);
  assert_int_equal(init(&rule, LAJU_SLIDING_WINDOW_LOG, 65536, S, 0), 0);
  assert_int_equal(init(&rule, LAJU_SLIDING_WINDOW_LOG, 65537, S, 0), LAJU_ERR_LIMIT);
  assert_int_equal(init(&rule, LAJU_TOKEN_BUCKET, 1, S, LAJU_TOKENS_MAX), 0);
  assert_int_equal(init(&rule, LAJU_TOKEN_BUCKET, 1, S, LAJU_TOKENS_MAX + UINT64_C(1)), LAJU_ERR_BURST);
}

static void periods_end_where_they_should(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, 1000, 0), 0);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, 999, 0), LAJU_ERR_PERIOD);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, 366 * DAY, 0), 0);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, 366 * DAY + 100 * S, 0), LAJU_ERR_PERIOD);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, -S, 0), LAJU_ERR_PERIOD);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, INT64_MAX, 0), LAJU_ERR_PERIOD);
}

static void the_tick_is_the_smallest_that_leaves_few_enough_parts(void **state) {
  (void)state;
  assert_int_equal(tick_of(1000), 1);
  assert_int_equal(tick_of(S), 1);
  assert_int_equal(tick_of(1048576), 1);
  assert_int_equal(tick_of(1048577), 0);
  assert_int_equal(tick_of(1048580), 10);
  assert_int_equal(tick_of(60 * S), 100);
  assert_int_equal(tick_of(3600 * S), 10000);
  assert_int_equal(tick_of(DAY), 100000);
  assert_int_equal(tick_of(7 * DAY), 1000000);
  assert_int_equal(tick_of(366 * DAY), 100 * S);
}

static void an_algorithm_that_is_none_is_refused(void **state) {
  (void)state;
  laju_rule rule;
  assert_int_equal(init(&rule, (laju_algorithm)5, 1, S, 0), LAJU_ERR_ALGORITHM);
  assert_null(laju_algorithm_name((laju_algorithm)5));
}

static void algorithms_are_found_by_their_names(void **state) {
  (void)state;
  for (unsigned i = 0; i < LAJU_ALGORITHMS; i++) {
    const char *name = laju_algorithm_name((laju_algorithm)i);
    laju_algorithm found = LAJU_ALGORITHMS;
    assert_int_equal(laju_algorithm_find(name, strlen(name), &found), 0);
    assert_int_equal(found, i);
    assert_int_equal(laju_algorithm_find(name, strlen(name) - 1, &found), LAJU_ERR_ALGORITHM);
  }
  laju_algorithm untouched = LAJU_LEAKY_BUCKET;
  assert_int_equal(laju_algorithm_find("Token-Bucket", 12, &untouched), LAJU_ERR_ALGORITHM);
  assert_int_equal(laju_algorithm_find("", 0, &untouched), LAJU_ERR_ALGORITHM);
  assert_int_equal(untouched, LAJU_LEAKY_BUCKET);
}

static void names_are_short_and_plain(void **state) {
  (void)state;
  char longest[65];
  memset(longest, 'n', sizeof longest);
  assert_int_equal(init_named("A-z_0.9", 7), 0);
  assert_int_equal(init_named(longest, 64), 0);
  assert_int_equal(init_named(longest, 65), LAJU_ERR_NAME);
  assert_int_equal(init_named("", 0), LAJU_ERR_NAME);
  assert_int_equal(init_named("a b", 3), LAJU_ERR_NAME);
  assert_int_equal(init_named("a\0b", 3), LAJU_ERR_NAME);
  assert_int_equal(init_named("a/b", 3), LAJU_ERR_NAME);
  assert_int_equal(init_named("\xc3\xa9", 2), LAJU_ERR_NAME);
}

static void a_refused_rule_is_not_written(void **state) {
  (void)state;
  laju_rule rule, before;
  memset(&rule, 0x55, sizeof rule);
  memcpy(&before, &rule, sizeof rule);
  assert_int_equal(init(&rule, LAJU_FIXED_WINDOW, 1, 999, 0), LAJU_ERR_PERIOD);
  assert_memory_equal(&rule, &before, sizeof rule);
}

static laju_rule made(const char *name, laju_algorithm algorithm, uint64_t limit, int64_t period_us) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, name, strlen(name), algorithm, limit, period_us, 0), 0);
  return rule;
}

static void a_state_belongs_to_name_algorithm_and_period(void **state) {
  (void)state;
  laju_rule rule = made("api", LAJU_TOKEN_BUCKET, 10, S);
  laju_rule others[] = {made("apj", LAJU_TOKEN_BUCKET, 10, S), made("ap", LAJU_TOKEN_BUCKET, 10, S),
                        made("api", LAJU_LEAKY_BUCKET, 10, S), made("api", LAJU_TOKEN_BUCKET, 10, 2 * S)};
  for (size_t i = 0; i < 4; i++) assert_true(others[i].id[0] != rule.id[0] && others[i].id[1] != rule.id[1]);
  laju_rule raised = made("api", LAJU_TOKEN_BUCKET, 20, S);
  assert_memory_equal(raised.id, rule.id, sizeof rule.id);
}

/* The definition, tried out: is there a tick that divides it into few enough parts? */
static bool works(int64_t period_us) {
  return tick_of(period_us) != 0;
}

static void expect_nearest(int64_t period_us) {
  int64_t nearest = laju_period_nearest(period_us);
  assert_true(works(nearest));
  int64_t away = nearest > period_us ? nearest - period_us : period_us - nearest;
  for (int64_t closer = 0; closer < away; closer++) {
    assert_false(works(period_us - closer));
    assert_false(works(period_us + closer));
  }
}

static void the_nearest_period_is_the_nearest(void **state) {
  (void)state;
  int64_t edges[] = {1000, 1048576, 1048577, 1048585, 10485760, 10485761, 104857600, 104857601, 104857650, 1048576001};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
    for (int64_t period_us = edges[i]; period_us < edges[i] + 150; period_us++) expect_nearest(period_us);
  }
  for (int64_t period_us = 1000; period_us < 100000000; period_us += 999983) expect_nearest(period_us);
}

static void the_nearest_period_stays_in_range(void **state) {
  (void)state;
  assert_int_equal(laju_period_nearest(0), 1000);
  assert_int_equal(laju_period_nearest(-5), 1000);
  assert_int_equal(laju_period_nearest(366 * DAY + 1), 366 * DAY);
  assert_int_equal(laju_period_nearest(366 * DAY - 1), 366 * DAY);
  assert_int_equal(laju_period_nearest(INT64_MAX), 366 * DAY);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rule_holds_what_it_was_made_of),
      cmocka_unit_test(a_burst_of_0_is_as_limit),
      cmocka_unit_test(a_limit_of_0_has_no_capacity),
      cmocka_unit_test(only_buckets_have_a_burst),
      cmocka_unit_test(limits_end_where_they_should),
      cmocka_unit_test(periods_end_where_they_should),
      cmocka_unit_test(the_tick_is_the_smallest_that_leaves_few_enough_parts),
      cmocka_unit_test(an_algorithm_that_is_none_is_refused),
      cmocka_unit_test(algorithms_are_found_by_their_names),
      cmocka_unit_test(names_are_short_and_plain),
      cmocka_unit_test(a_refused_rule_is_not_written),
      cmocka_unit_test(a_state_belongs_to_name_algorithm_and_period),
      cmocka_unit_test(the_nearest_period_is_the_nearest),
      cmocka_unit_test(the_nearest_period_stays_in_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
