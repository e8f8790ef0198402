#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static int64_t wall_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void it_shows_the_wall_clock_s_time(void **state) {
  (void)state;
  laju_clock clock;
  int64_t before = wall_us();
  laju_clock_init(&clock);
  int64_t shown = laju_clock_now_us(&clock), after = wall_us();
  assert_in_range(shown, before - 1000, after + 1000);
}

static void it_never_goes_back(void **state) {
  (void)state;
  laju_clock clock;
  laju_clock_init(&clock);
  int64_t last = 0;
  for (int i = 0; i < 100000; i++) {
    int64_t now = laju_clock_now_us(&clock);
    assert_true(now >= last);
    last = now;
  }
}

static void it_can_be_moved_forward_and_not_back(void **state) {
  (void)state;
  laju_clock clock;
  laju_clock_init(&clock);
  int64_t hour_us = INT64_C(3600) * 1000000, ahead = laju_clock_now_us(&clock) + hour_us;
  laju_clock_not_before(&clock, ahead);
  assert_in_range(laju_clock_now_us(&clock), ahead, ahead + 60000000);
  laju_clock_not_before(&clock, ahead - hour_us);
  assert_true(laju_clock_now_us(&clock) >= ahead);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_shows_the_wall_clock_s_time),
      cmocka_unit_test(it_never_goes_back),
      cmocka_unit_test(it_can_be_moved_forward_and_not_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
