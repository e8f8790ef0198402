#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/histogram.h"

static laju_histogram fresh;

static int setup(void **unused) {
  (void)unused;
  memset(&fresh, 0, sizeof fresh);
  return 0;
}

static void an_empty_one_says_zero(void **unused) {
  (void)unused;
  assert_int_equal(laju_histogram_count(&fresh), 0);
  assert_int_equal(laju_histogram_sum_us(&fresh), 0);
  assert_int_equal(laju_histogram_max_us(&fresh), 0);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.5), 0);
  assert_int_equal(laju_histogram_quantile(&fresh, 1), 0);
}

static void small_values_are_exact(void **unused) {
  (void)unused;
  for (int64_t us = 1; us <= 100; us++) laju_histogram_add(&fresh, us);
  assert_int_equal(laju_histogram_count(&fresh), 100);
  assert_int_equal(laju_histogram_sum_us(&fresh), 5050);
  assert_int_equal(laju_histogram_quantile(&fresh, 0), 1);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.01), 1);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.5), 50);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.99), 99);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.991), 100);
  assert_int_equal(laju_histogram_quantile(&fresh, 1), 100);
}

/* One value, and a greater one far off, so that the greatest does not hide the edge. */
static int64_t edge_of(int64_t us) {
  setup(NULL);
  laju_histogram_add(&fresh, us);
  laju_histogram_add(&fresh, LAJU_HISTOGRAM_MAX_US);
  return laju_histogram_quantile(&fresh, 0.5);
}

static void a_quantile_is_at_most_a_64th_too_high_and_never_too_low(void **unused) {
  (void)unused;
  for (int64_t us = 0; us < 5000; us++) {
    assert_in_range(edge_of(us), us, us + us / 64);
  }
  for (int64_t power = 64; power <= LAJU_HISTOGRAM_MAX_US / 2; power *= 2) {
    const int64_t around[] = {power - 1, power, power + 1, power + power / 3, 2 * power - 2};
    for (size_t i = 0; i < 5; i++) assert_in_range(edge_of(around[i]), around[i], around[i] + around[i] / 64);
  }
}

static void every_value_above_begins_where_the_one_below_ends(void **unused) {
  (void)unused;
  int64_t edge = 0;
  size_t buckets = 1;
  while (edge < LAJU_HISTOGRAM_MAX_US) {
    int64_t next = edge_of(edge + 1);
    assert_true(next > edge);
    edge = next;
    buckets++;
  }
  assert_int_equal(edge, LAJU_HISTOGRAM_MAX_US);
  assert_int_equal(buckets, LAJU_HISTOGRAM_BUCKETS);
}

static void what_is_too_long_counts_in_the_last_bucket_and_the_maximum_is_kept(void **unused) {
  (void)unused;
  laju_histogram_add(&fresh, 10);
  laju_histogram_add(&fresh, INT64_C(3600000000));
  laju_histogram_add(&fresh, LAJU_HISTOGRAM_MAX_US + 1);
  assert_int_equal(laju_histogram_count(&fresh), 3);
  assert_int_equal(laju_histogram_max_us(&fresh), INT64_C(3600000000));
  assert_int_equal(laju_histogram_quantile(&fresh, 0.5), INT64_C(3600000000));
  assert_int_equal(laju_histogram_sum_us(&fresh), INT64_C(3600000000) + LAJU_HISTOGRAM_MAX_US + 11);
}

static void below_zero_is_zero(void **unused) {
  (void)unused;
  laju_histogram_add(&fresh, -5);
  laju_histogram_add(&fresh, INT64_MIN);
  assert_int_equal(laju_histogram_count(&fresh), 2);
  assert_int_equal(laju_histogram_sum_us(&fresh), 0);
  assert_int_equal(laju_histogram_quantile(&fresh, 1), 0);
}

static void the_same_value_many_times_is_as_often_one_by_one(void **unused) {
  (void)unused;
  laju_histogram_add_times(&fresh, 700, 99);
  laju_histogram_add_times(&fresh, 9000, 1);
  laju_histogram_add_times(&fresh, 50000, 0);
  assert_int_equal(laju_histogram_count(&fresh), 100);
  assert_int_equal(laju_histogram_sum_us(&fresh), 99 * 700 + 9000);
  assert_in_range(laju_histogram_quantile(&fresh, 0.99), 700, 711);
  assert_int_equal(laju_histogram_max_us(&fresh), 9000);
}

static void merged_ones_are_as_if_one_had_seen_all(void **unused) {
  (void)unused;
  static laju_histogram parts[3], sum;
  for (int64_t i = 0; i < 3000; i++) {
    int64_t us = i * i % 1000003;
    laju_histogram_add(&parts[i % 3], us);
    laju_histogram_add(&fresh, us);
  }
  for (size_t i = 0; i < 3; i++) laju_histogram_merge(&sum, &parts[i]);
  assert_memory_equal(&sum, &fresh, sizeof sum);
  assert_int_equal(laju_histogram_count(&parts[0]), 1000);
}

static void what_came_since_an_earlier_reading_is_the_difference(void **unused) {
  (void)unused;
  static laju_histogram earlier;
  laju_histogram_add_times(&fresh, 10, 100);
  laju_histogram_merge(&earlier, &fresh);
  laju_histogram_add_times(&fresh, 50, 3);
  laju_histogram_subtract(&fresh, &earlier);
  assert_int_equal(laju_histogram_count(&fresh), 3);
  assert_int_equal(laju_histogram_sum_us(&fresh), 150);
  assert_int_equal(laju_histogram_quantile(&fresh, 0.5), 50);
}

static void bounds_get_what_lies_within_them(void **unused) {
  (void)unused;
  static const int64_t bounds_us[] = {10, 100, 1000, 10000, 1000000000};
  static const int64_t values_us[] = {0, 10, 11, 99, 500, 980, 2000, 9000, 20000, 99000000};
  uint64_t out[5];
  for (size_t i = 0; i < 10; i++) laju_histogram_add(&fresh, values_us[i]);
  assert_int_equal(laju_histogram_cumulate(&fresh, bounds_us, 5, out), 10);
  static const uint64_t expected[] = {2, 4, 6, 8, 10};
  assert_memory_equal(out, expected, sizeof out);
  laju_histogram_add(&fresh, LAJU_HISTOGRAM_MAX_US + 1);
  assert_int_equal(laju_histogram_cumulate(&fresh, bounds_us, 5, out), 11);
  assert_int_equal(out[4], 10); /* how much longer than the last bucket's edge it was is not known any more */
  assert_int_equal(laju_histogram_cumulate(&fresh, bounds_us, 0, out), 11);
}

static void a_bound_gets_what_is_a_60th_below_and_nothing_above(void **unused) {
  (void)unused;
  for (int64_t bound_us = 0; bound_us < 3000; bound_us += 7) {
    uint64_t within;
    setup(NULL);
    laju_histogram_add(&fresh, bound_us + 1);
    laju_histogram_add(&fresh, bound_us - bound_us / 60);
    assert_int_equal(laju_histogram_cumulate(&fresh, &bound_us, 1, &within), 2);
    assert_int_equal(within, 1);
  }
}

#define ADDED 200000

static void *add_all(void *histogram) {
  for (int64_t i = 0; i < ADDED; i++) laju_histogram_add(histogram, i % 5000);
  return NULL;
}

static void a_reader_sees_it_grow_and_never_shrink(void **unused) {
  (void)unused;
  static laju_histogram shared;
  pthread_t writer;
  uint64_t before = 0, now = 0;
  assert_int_equal(pthread_create(&writer, NULL, add_all, &shared), 0);
  do {
    setup(NULL);
    laju_histogram_merge(&fresh, &shared);
    now = laju_histogram_count(&fresh);
    assert_true(now >= before);
    assert_true(laju_histogram_quantile(&fresh, 0.5) <= laju_histogram_quantile(&fresh, 0.99));
    before = now;
  } while (now < ADDED);
  pthread_join(writer, NULL);
  assert_int_equal(now, ADDED);
  assert_int_equal(laju_histogram_sum_us(&shared), INT64_C(4999) * 5000 / 2 * (ADDED / 5000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(an_empty_one_says_zero, setup),
      cmocka_unit_test_setup(small_values_are_exact, setup),
      cmocka_unit_test_setup(a_quantile_is_at_most_a_64th_too_high_and_never_too_low, setup),
      cmocka_unit_test_setup(every_value_above_begins_where_the_one_below_ends, setup),
      cmocka_unit_test_setup(what_is_too_long_counts_in_the_last_bucket_and_the_maximum_is_kept, setup),
      cmocka_unit_test_setup(below_zero_is_zero, setup),
      cmocka_unit_test_setup(the_same_value_many_times_is_as_often_one_by_one, setup),
      cmocka_unit_test_setup(merged_ones_are_as_if_one_had_seen_all, setup),
      cmocka_unit_test_setup(what_came_since_an_earlier_reading_is_the_difference, setup),
      cmocka_unit_test_setup(bounds_get_what_lies_within_them, setup),
      cmocka_unit_test_setup(a_bound_gets_what_is_a_60th_below_and_nothing_above, setup),
      cmocka_unit_test_setup(a_reader_sees_it_grow_and_never_shrink, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
