#include <laju/laju.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static laju_decision refused(int64_t retry_after_us) {
  return (laju_decision){.limit = 10, .retry_after_us = retry_after_us};
}

static laju_decision admitted(uint32_t remaining, uint32_t limit, int64_t reset_after_us) {
  return (laju_decision){.allowed = true, .remaining = remaining, .limit = limit, .reset_after_us = reset_after_us};
}

static void expect_tighter(laju_decision a, laju_decision b) {
  assert_true(laju_decision_tighter(&a, &b));
  assert_false(laju_decision_tighter(&b, &a));
}

static void expect_equal(laju_decision a, laju_decision b) {
  assert_false(laju_decision_tighter(&a, &b));
  assert_false(laju_decision_tighter(&b, &a));
}

static void a_refusal_is_tighter_than_any_admission(void **state) {
  (void)state;
  expect_tighter(refused(1), admitted(0, 1, LAJU_WAIT_MAX_US));
}

static void among_refusals_the_longer_wait_is(void **state) {
  (void)state;
  expect_tighter(refused(2000), refused(1999));
}

static void never_is_the_longest_wait(void **state) {
  (void)state;
  expect_tighter(refused(LAJU_NEVER), refused(LAJU_WAIT_MAX_US));
  expect_equal(refused(LAJU_NEVER), refused(LAJU_NEVER));
}

static void among_admissions_the_lesser_share_is(void **state) {
  (void)state;
  expect_tighter(admitted(9, 100, 0), admitted(1, 10, 0));
  expect_tighter(admitted(3, 10, 0), admitted(1, 3, 0));
  expect_equal(admitted(1, 10, 0), admitted(10, 100, 0));
}

static void shares_are_compared_exactly_at_the_ends_of_their_ranges(void **state) {
  (void)state;
  const uint32_t most = LAJU_TOKENS_MAX;
  expect_tighter(admitted(most - 1, most, 0), admitted(most, most, 0));
  expect_tighter(admitted(most - 2, most - 1, 0), admitted(most - 1, most, 0));
}

static void a_limit_of_0_counts_as_nothing_left(void **state) {
  (void)state;
  expect_tighter(admitted(0, 0, 0), admitted(1, LAJU_TOKENS_MAX, 0));
  expect_equal(admitted(0, 0, 0), admitted(0, 10, 0));
}

static void among_equal_shares_the_later_reset_is(void **state) {
  (void)state;
  expect_tighter(admitted(5, 10, 7001), admitted(50, 100, 7000));
}

static void the_first_of_equals_is_told(void **state) {
  (void)state;
  laju_decision decisions[] = {admitted(5, 10, 1), admitted(4, 10, 1), admitted(4, 10, 1), admitted(40, 100, 1)};
  assert_int_equal(laju_decision_tightest(decisions, 4), 1);
  assert_int_equal(laju_decision_tightest(decisions, 1), 0);
}

static void the_tightest_of_many_is_found_wherever_it_stands(void **state) {
  (void)state;
  for (size_t at = 0; at < LAJU_CHECKS_MAX; at++) {
    laju_decision decisions[LAJU_CHECKS_MAX];
    for (size_t i = 0; i < LAJU_CHECKS_MAX; i++) decisions[i] = i == at ? refused(1) : admitted(1, 10, 0);
    assert_int_equal(laju_decision_tightest(decisions, LAJU_CHECKS_MAX), at);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_is_tighter_than_any_admission),
      cmocka_unit_test(among_refusals_the_longer_wait_is),
      cmocka_unit_test(never_is_the_longest_wait),
      cmocka_unit_test(among_admissions_the_lesser_share_is),
      cmocka_unit_test(shares_are_compared_exactly_at_the_ends_of_their_ranges),
      cmocka_unit_test(a_limit_of_0_counts_as_nothing_left),
      cmocka_unit_test(among_equal_shares_the_later_reset_is),
      cmocka_unit_test(the_first_of_equals_is_told),
      cmocka_unit_test(the_tightest_of_many_is_found_wherever_it_stands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
