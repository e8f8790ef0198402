#include "server/wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define START 1000000

static laju_wheel wheel;
static laju_deadline a, b;

static int setup(void **state) {
  (void)state;
  laju_wheel_init(&wheel, START);
  a = b = (laju_deadline){0};
  return 0;
}

static void nothing_is_due_before_its_time(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 10000);
  for (uint64_t now = START; now < START + 10000; now++) assert_null(laju_wheel_due(&wheel, now));
  assert_null(laju_wheel_due(&wheel, START + 10000));
}

static void what_is_due_comes_within_a_tick_once(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 10000);
  assert_ptr_equal(laju_wheel_due(&wheel, START + 10000 + LAJU_WHEEL_TICK_MS), &a);
  assert_null(laju_wheel_due(&wheel, START + 10000 + LAJU_WHEEL_TICK_MS));
  assert_int_equal(wheel.count, 0);
}

static void a_deadline_moved_away_fires_at_its_new_time(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 1000);
  laju_wheel_set(&wheel, &a, START + 5000);
  assert_null(laju_wheel_due(&wheel, START + 5000));
  assert_ptr_equal(laju_wheel_due(&wheel, START + 5000 + LAJU_WHEEL_TICK_MS), &a);
}

static void a_deadline_moved_closer_fires_at_its_new_time(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 50000);
  laju_wheel_set(&wheel, &a, START + 1000);
  assert_ptr_equal(laju_wheel_due(&wheel, START + 1000 + LAJU_WHEEL_TICK_MS), &a);
  assert_int_equal(wheel.count, 0);
}

static void a_deadline_further_than_the_wheel_is_round_is_kept(void **state) {
  (void)state;
  uint64_t due = START + UINT64_C(3) * LAJU_WHEEL_SLOTS * LAJU_WHEEL_TICK_MS;
  laju_wheel_set(&wheel, &a, due);
  for (uint64_t now = START; now <= due; now += LAJU_WHEEL_TICK_MS) assert_null(laju_wheel_due(&wheel, now));
  assert_ptr_equal(laju_wheel_due(&wheel, due + LAJU_WHEEL_TICK_MS), &a);
}

static void a_loop_that_stood_still_for_hours_misses_nothing(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 100);
  laju_wheel_set(&wheel, &b, START + 90000000);
  assert_ptr_equal(laju_wheel_due(&wheel, START + 80000000), &a);
  assert_null(laju_wheel_due(&wheel, START + 80000000));
  assert_ptr_equal(laju_wheel_due(&wheel, START + 90000000 + LAJU_WHEEL_TICK_MS), &b);
}

static void what_is_dropped_never_fires(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START + 1000);
  laju_wheel_set(&wheel, &b, START + 1000);
  laju_wheel_drop(&wheel, &a);
  laju_wheel_drop(&wheel, &a);
  assert_int_equal(wheel.count, 1);
  assert_ptr_equal(laju_wheel_due(&wheel, START + 2000), &b);
  assert_null(laju_wheel_due(&wheel, START + 2000));
}

static void all_of_one_tick_come_one_by_one(void **state) {
  (void)state;
  static laju_deadline many[100];
  for (size_t i = 0; i < 100; i++) laju_wheel_set(&wheel, &many[i], START + 700);
  size_t seen = 0;
  for (laju_deadline *due; (due = laju_wheel_due(&wheel, START + 1250)) != NULL; seen++) {
    assert_ptr_equal(due, &many[seen]);
  }
  assert_int_equal(seen, 100);
}

static void the_one_that_fired_may_be_set_again_at_once(void **state) {
  (void)state;
  laju_wheel_set(&wheel, &a, START);
  assert_ptr_equal(laju_wheel_due(&wheel, START + 500), &a);
  laju_wheel_set(&wheel, &a, START); /* overdue already: comes with the next tick, not in this round for ever */
  assert_ptr_equal(laju_wheel_due(&wheel, START + 750), &a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(nothing_is_due_before_its_time, setup),
      cmocka_unit_test_setup(what_is_due_comes_within_a_tick_once, setup),
      cmocka_unit_test_setup(a_deadline_moved_away_fires_at_its_new_time, setup),
      cmocka_unit_test_setup(a_deadline_moved_closer_fires_at_its_new_time, setup),
      cmocka_unit_test_setup(a_deadline_further_than_the_wheel_is_round_is_kept, setup),
      cmocka_unit_test_setup(a_loop_that_stood_still_for_hours_misses_nothing, setup),
      cmocka_unit_test_setup(what_is_dropped_never_fires, setup),
      cmocka_unit_test_setup(all_of_one_tick_come_one_by_one, setup),
      cmocka_unit_test_setup(the_one_that_fired_may_be_set_again_at_once, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
