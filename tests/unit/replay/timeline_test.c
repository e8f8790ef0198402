#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/timeline.h"

static laju_timeline t;

static void begin(void) {
  laju_timeline_init(&t);
}

static void seconds_are_steps_until_there_are_too_many(void **state) {
  (void)state;
  begin();
  for (int64_t s = 100; s < 100 + LAJU_TIMELINE_STEPS; s++) laju_timeline_add(&t, s, 1, 0);
  assert_int_equal(t.step_s, 1);
  assert_int_equal(t.count, 480);
  assert_int_equal(t.from_s, 100);
  laju_timeline_add(&t, 100 + LAJU_TIMELINE_STEPS, 0, 5);
  assert_int_equal(t.step_s, 2);
  assert_int_equal(t.count, 241);
  assert_int_equal(t.steps[0].admitted, 2);
  assert_int_equal(t.steps[240].admitted, 0);
  assert_int_equal(t.steps[240].refused, 5);
}

static void steps_begin_at_multiples_of_their_length(void **state) {
  (void)state;
  begin();
  for (int64_t s = 7; s < 7 + 481; s++) laju_timeline_add(&t, s, 1, 0);
  assert_int_equal(t.from_s, 6);
  assert_int_equal(t.steps[0].admitted, 1); /* second 7 alone: 6 was before all */
  assert_int_equal(t.steps[1].admitted, 2);
}

static void nothing_is_lost_over_a_jump_of_years(void **state) {
  (void)state;
  uint64_t admitted = 0, refused = 0;
  begin();
  for (int64_t s = 1000; s < 2000; s++) laju_timeline_add(&t, s, 3, 1);
  laju_timeline_add(&t, INT64_C(9000000000), 10, 20);
  laju_timeline_finish(&t);
  assert_true(t.count <= LAJU_TIMELINE_STEPS);
  for (size_t i = 0; i < t.count; i++) {
    admitted += t.steps[i].admitted;
    refused += t.steps[i].refused;
  }
  assert_int_equal(admitted, 3010);
  assert_int_equal(refused, 1020);
  assert_int_equal(t.from_s % t.step_s, 0);
  assert_true(t.from_s + (int64_t)t.count * t.step_s > INT64_C(9000000000));
}

static void the_worst_second_has_most_refused(void **state) {
  (void)state;
  begin();
  laju_timeline_add(&t, 10, 500, 0);
  laju_timeline_add(&t, 11, 1, 2);
  laju_timeline_add(&t, 11, 1, 1);
  laju_timeline_add(&t, 12, 9, 2);
  laju_timeline_finish(&t);
  assert_int_equal(t.worst_s, 11);
  assert_int_equal(t.worst.refused, 3);
  assert_int_equal(t.worst.admitted, 2);
}

static void among_equals_the_busiest_then_the_first(void **state) {
  (void)state;
  begin();
  laju_timeline_add(&t, 10, 1, 2);
  laju_timeline_add(&t, 11, 5, 2);
  laju_timeline_add(&t, 12, 5, 2);
  laju_timeline_finish(&t);
  assert_int_equal(t.worst_s, 11);
}

static void the_last_second_may_be_the_worst(void **state) {
  (void)state;
  begin();
  laju_timeline_add(&t, 10, 1, 0);
  laju_timeline_add(&t, 11, 2, 0);
  laju_timeline_finish(&t);
  assert_int_equal(t.worst_s, 11);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seconds_are_steps_until_there_are_too_many),
      cmocka_unit_test(steps_begin_at_multiples_of_their_length),
      cmocka_unit_test(nothing_is_lost_over_a_jump_of_years),
      cmocka_unit_test(the_worst_second_has_most_refused),
      cmocka_unit_test(among_equals_the_busiest_then_the_first),
      cmocka_unit_test(the_last_second_may_be_the_worst),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
