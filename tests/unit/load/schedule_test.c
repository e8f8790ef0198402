#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load/schedule.h"

#define SECOND_NS UINT64_C(1000000000)
#define START_NS (12345 * SECOND_NS)

static laju_load_schedule of(uint64_t rate, uint64_t thread, uint64_t threads) {
  return (laju_load_schedule){START_NS, START_NS + 100 * SECOND_NS, rate, thread, threads};
}

static void the_first_is_due_at_once_and_the_next_a_period_later(void **unused) {
  (void)unused;
  laju_load_schedule one = of(1000, 0, 1);
  assert_int_equal(laju_load_schedule_time_ns(&one, 0), START_NS);
  assert_int_equal(laju_load_schedule_time_ns(&one, 1), START_NS + 1000000);
  assert_int_equal(laju_load_schedule_due(&one, START_NS - 1), 0);
  assert_int_equal(laju_load_schedule_due(&one, START_NS), 1);
  assert_int_equal(laju_load_schedule_due(&one, START_NS + 999999), 1);
  assert_int_equal(laju_load_schedule_due(&one, START_NS + 1000000), 2);
}

static void a_rate_that_does_not_divide_a_second_drifts_nowhere(void **unused) {
  (void)unused;
  laju_load_schedule three = of(3, 0, 1);
  assert_int_equal(laju_load_schedule_time_ns(&three, 1), START_NS + 333333334);
  assert_int_equal(laju_load_schedule_time_ns(&three, 3), START_NS + SECOND_NS);
  assert_int_equal(laju_load_schedule_time_ns(&three, 300), START_NS + 100 * SECOND_NS);
}

static void what_is_due_is_what_has_its_time(void **unused) {
  (void)unused;
  static const uint64_t rates[] = {1, 3, 7, 999, 12345, LAJU_LOAD_RATE_MAX};
  for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
    for (uint64_t thread = 0; thread < 3; thread++) {
      laju_load_schedule part = of(rates[r], thread, 3);
      for (uint64_t n = 0; n < 200; n++) {
        uint64_t time_ns = laju_load_schedule_time_ns(&part, n);
        if (time_ns >= part.end_ns) break;
        assert_int_equal(laju_load_schedule_due(&part, time_ns), n + 1);
        assert_int_equal(laju_load_schedule_due(&part, time_ns - 1), n);
      }
    }
  }
}

static void threads_share_it_without_gap_or_overlap(void **unused) {
  (void)unused;
  laju_load_schedule whole = of(70000, 0, 1);
  for (uint64_t now_ns = START_NS; now_ns < START_NS + SECOND_NS; now_ns += 1234567) {
    uint64_t sum = 0;
    for (uint64_t thread = 0; thread < 7; thread++) {
      laju_load_schedule part = of(70000, thread, 7);
      sum += laju_load_schedule_due(&part, now_ns);
    }
    assert_int_equal(sum, laju_load_schedule_due(&whole, now_ns));
  }
}

static void nothing_is_due_after_the_end(void **unused) {
  (void)unused;
  laju_load_schedule one = of(1000, 0, 1);
  assert_int_equal(laju_load_schedule_due(&one, one.end_ns), 100000);
  assert_int_equal(laju_load_schedule_due(&one, one.end_ns + 50 * SECOND_NS), 100000);
}

static void a_day_at_the_highest_rate_does_not_overflow(void **unused) {
  (void)unused;
  uint64_t day_ns = 86400 * SECOND_NS, count = 86400 * LAJU_LOAD_RATE_MAX;
  laju_load_schedule long_one = {START_NS, START_NS + day_ns, LAJU_LOAD_RATE_MAX, 0, 1};
  assert_int_equal(laju_load_schedule_due(&long_one, START_NS + day_ns), count);
  assert_int_equal(laju_load_schedule_time_ns(&long_one, count), START_NS + day_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_is_due_at_once_and_the_next_a_period_later),
      cmocka_unit_test(a_rate_that_does_not_divide_a_second_drifts_nowhere),
      cmocka_unit_test(what_is_due_is_what_has_its_time),
      cmocka_unit_test(threads_share_it_without_gap_or_overlap),
      cmocka_unit_test(nothing_is_due_after_the_end),
      cmocka_unit_test(a_day_at_the_highest_rate_does_not_overflow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
