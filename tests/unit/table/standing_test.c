#include "table/fixture.h"

#include "core/decide.h"
#include "table/standing.h"

static laju_decision standing(uint32_t remaining, uint32_t limit, int64_t reset_after_us) {
  return (laju_decision){.remaining = remaining, .limit = limit, .reset_after_us = reset_after_us};
}

static void assert_goes_before(laju_decision a, laju_decision b) {
  assert_true(laju_standing_goes_before(&a, &b));
  assert_false(laju_standing_goes_before(&b, &a));
}

static void fresh_keys_go_first_then_the_least_used_then_those_soonest_fresh(void **unused) {
  (void)unused;
  assert_goes_before(standing(1, 10, 0), standing(9, 10, 1));
  assert_goes_before(standing(2, 10, 99), standing(1, 10, 1));
  assert_goes_before(standing(2, 3, 99), standing(600, 1000, 1)); /* two thirds are more than six tenths */
  assert_goes_before(standing(1, 2, 5), standing(50, 100, 6));
  assert_goes_before(standing(UINT32_MAX, UINT32_MAX, 5), standing(UINT32_MAX - 1, UINT32_MAX, 5));
  laju_decision same = standing(5, 10, 7);
  assert_false(laju_standing_goes_before(&same, &same));
}

static void a_state_that_its_shape_cannot_have_counts_as_fresh(void **unused) {
  (void)unused;
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    if (a == LAJU_SLIDING_WINDOW_LOG) continue;
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 86400 * SECOND);
    laju_shape shape = laju_shape_of(&rule);
    laju_state state = {.words = {0, 0}};
    laju_decision used;
    laju_decide(&rule, &state, NOON, 4, &used);
    laju_decision found = laju_standing_of_state(shape, state, NOON);
    assert_int_equal(found.remaining, 6);
    assert_int_equal(found.reset_after_us, used.reset_after_us);
    laju_state wild = {.words = {UINT64_MAX, UINT64_MAX}};
    assert_false(laju_standing_state_valid(shape, wild));
    found = laju_standing_of_state(shape, wild, NOON);
    assert_true(laju_standing_is_fresh(&found));
  }
}

/* After an id was recycled, any state may be judged by any shape: whatever comes out, no arithmetic may break (UBSan). */
static void any_state_under_any_shape_is_judged_without_harm(void **unused) {
  (void)unused;
  uint64_t random = 1;
  for (int i = 0; i < 100000; i++) {
    uint64_t x = random_next(&random);
    laju_rule rule = rule_of("api", (laju_algorithm)(x % 4), (x >> 8) % 3 == 0 ? UINT32_MAX : x % 7,
                             (x >> 16) % 2 ? 1000 : 86400 * SECOND);
    laju_state state = {.words = {random_next(&random) >> (x >> 20) % 64, random_next(&random) >> (x >> 40) % 64}};
    laju_decision found = laju_standing_of_state(laju_shape_of(&rule), state, NOON);
    assert_true(found.remaining <= found.limit && found.reset_after_us >= 0);
  }
}

static void a_log_of_other_ticks_counts_as_fresh(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_SLIDING_WINDOW_LOG, 10, 86400 * SECOND);
  uint64_t stamps[8] = {1, 2, UINT64_MAX};
  laju_log log = {.stamps = stamps, .capacity = 8, .count = 3};
  assert_false(laju_standing_log_valid(laju_shape_of(&rule), &log));
  laju_decision found = laju_standing_of_log(laju_shape_of(&rule), &log, NOON);
  assert_true(laju_standing_is_fresh(&found));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fresh_keys_go_first_then_the_least_used_then_those_soonest_fresh),
      cmocka_unit_test(a_state_that_its_shape_cannot_have_counts_as_fresh),
      cmocka_unit_test(any_state_under_any_shape_is_judged_without_harm),
      cmocka_unit_test(a_log_of_other_ticks_counts_as_fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
