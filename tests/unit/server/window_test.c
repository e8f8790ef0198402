#include "server/window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)

static laju_window window;
static laju_histogram all;

static int clear(void **state) {
  (void)state;
  memset(&window, 0, sizeof window);
  memset(&all, 0, sizeof all);
  return 0;
}

static void before_the_first_reading_nothing_is_known(void **state) {
  (void)state;
  laju_histogram_add(&all, 5);
  laju_lately lately = laju_window_look(&window, &all, SECOND);
  assert_int_equal(lately.window_us, 0);
  assert_int_equal(lately.count, 0);
}

static void what_was_long_ago_does_not_count(void **state) {
  (void)state;
  laju_histogram_add_times(&all, 900000, 1000);
  for (int64_t second = 1; second <= 20; second++) {
    laju_window_feed(&window, &all, second * SECOND);
    laju_histogram_add_times(&all, second < 15 ? 900000 : 20, 10);
  }
  laju_lately lately = laju_window_look(&window, &all, 20 * SECOND + 500000);
  assert_int_equal(lately.window_us, 5 * SECOND + 500000);
  assert_int_equal(lately.count, 60);
  assert_int_equal(lately.p50_us, 20);
  assert_int_equal(lately.p99_us, 20);
}

static void percentiles_are_of_the_window_s_values(void **state) {
  (void)state;
  laju_histogram_add_times(&all, 900000, 7); /* before it began */
  laju_window_feed(&window, &all, SECOND);
  laju_histogram_add_times(&all, 10, 98);
  laju_histogram_add_times(&all, 60, 2);
  laju_lately lately = laju_window_look(&window, &all, 2 * SECOND);
  assert_int_equal(lately.window_us, SECOND);
  assert_int_equal(lately.count, 100);
  assert_int_equal(lately.p50_us, 10);
  assert_int_equal(lately.p99_us, 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(before_the_first_reading_nothing_is_known, clear),
      cmocka_unit_test_setup(what_was_long_ago_does_not_count, clear),
      cmocka_unit_test_setup(percentiles_are_of_the_window_s_values, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
