#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load/keys.h"

#define DRAWS 1000000

static uint64_t seen[1000];

static void draw(uint64_t count, double skew) {
  laju_load_keys keys;
  memset(seen, 0, sizeof seen);
  laju_load_keys_init(&keys, count, skew, 7);
  for (int i = 0; i < DRAWS; i++) {
    uint64_t key = laju_load_keys_next(&keys);
    assert_in_range(key, 0, count - 1);
    if (key < 1000) seen[key]++;
  }
}

/* Within five standard deviations: the draws are the same each time, so this holds always or never. */
static void comes_as_often_as(uint64_t times, double share) {
  double expected = DRAWS * share;
  assert_true(fabs((double)times - expected) < 5 * sqrt(expected) + 1);
}

static void without_a_skew_all_come_alike(void **unused) {
  (void)unused;
  draw(1000, 0);
  for (int i = 0; i < 1000; i++) comes_as_often_as(seen[i], 0.001);
}

static void follows_zipf(uint64_t count, double skew) {
  double sum = 0;
  for (uint64_t rank = count; rank > 0; rank--) sum += pow((double)rank, -skew);
  draw(count, skew);
  for (uint64_t rank = 1; rank <= count && rank <= 1000; rank++) {
    comes_as_often_as(seen[rank - 1], pow((double)rank, -skew) / sum);
  }
}

static void with_a_skew_they_come_by_zipfs_law(void **unused) {
  (void)unused;
  follows_zipf(1000, 0.5);
  follows_zipf(1000, 0.99);
  follows_zipf(1000, 1); /* where the general formula divides by zero */
  follows_zipf(1000000, 1.2);
  follows_zipf(10, 3);
  follows_zipf(2, 10);
}

static void a_single_key_is_always_the_same(void **unused) {
  (void)unused;
  draw(1, 0);
  assert_int_equal(seen[0], DRAWS);
  draw(1, 0.99);
  assert_int_equal(seen[0], DRAWS);
}

static void a_billion_keys_need_no_memory(void **unused) {
  (void)unused;
  draw(LAJU_LOAD_KEYS_MAX, LAJU_LOAD_SKEW_MAX);
  comes_as_often_as(seen[0], 1 / 1.000994575);
  draw(LAJU_LOAD_KEYS_MAX, 1e-9);
  comes_as_often_as(seen[0], 0);
}

static void as_many_digits_as_the_greatest_key_has(void **unused) {
  (void)unused;
  static const uint64_t counts[] = {1, 10, 11, 10000, 10001, LAJU_LOAD_KEYS_MAX};
  static const unsigned digits[] = {1, 1, 2, 4, 5, 9};
  for (size_t i = 0; i < 6; i++) {
    laju_load_keys keys;
    laju_load_keys_init(&keys, counts[i], 0, 1);
    assert_int_equal(keys.digits, digits[i]);
  }
}

static void equal_seeds_give_equal_keys_and_others_others(void **unused) {
  (void)unused;
  laju_load_keys a, b, c;
  int same = 0;
  laju_load_keys_init(&a, 1000000, 0.99, 1);
  laju_load_keys_init(&b, 1000000, 0.99, 1);
  laju_load_keys_init(&c, 1000000, 0, 2);
  for (int i = 0; i < 1000; i++) {
    uint64_t key = laju_load_keys_next(&a);
    assert_int_equal(key, laju_load_keys_next(&b));
    same += key == laju_load_keys_next(&c);
  }
  assert_in_range(same, 0, 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_skew_all_come_alike),
      cmocka_unit_test(with_a_skew_they_come_by_zipfs_law),
      cmocka_unit_test(a_single_key_is_always_the_same),
      cmocka_unit_test(a_billion_keys_need_no_memory),
      cmocka_unit_test(as_many_digits_as_the_greatest_key_has),
      cmocka_unit_test(equal_seeds_give_equal_keys_and_others_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
