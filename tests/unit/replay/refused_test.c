#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "replay/refused.h"

static laju_refused refused;

static int begin(void **state) {
  (void)state;
  return laju_refused_init(&refused);
}

static int finish(void **state) {
  (void)state;
  laju_refused_deinit(&refused);
  return 0;
}

static void add(uint32_t rule, const char *key, int64_t now_us) {
  laju_refused_add(&refused, rule, key, strlen(key), now_us);
}

static void is(size_t i, uint32_t rule, const char *key, uint64_t count, int64_t first_us) {
  const laju_refused_entry *entry = &refused.entries[i];
  assert_int_equal(entry->rule, rule);
  assert_int_equal(entry->key_len, strlen(key));
  assert_memory_equal(entry->key, key, strlen(key));
  assert_int_equal(entry->count, count);
  assert_int_equal(entry->first_us, first_us);
}

static void most_refused_come_first_then_the_first_refused(void **state) {
  (void)state;
  add(0, "a", 1);
  add(0, "b", 2);
  add(1, "b", 3);
  add(0, "b", 4);
  add(0, "c", 3);
  laju_refused_sort(&refused);
  assert_int_equal(refused.count, 4);
  is(0, 0, "b", 2, 2);
  is(1, 0, "a", 1, 1);
  is(2, 1, "b", 1, 3);
  is(3, 0, "c", 1, 3);
  assert_int_equal(refused.missed, 0);
}

static void of_a_long_key_96_bytes_are_kept_and_all_count(void **state) {
  (void)state;
  char key[200];
  memset(key, 'x', sizeof key);
  laju_refused_add(&refused, 0, key, sizeof key, 1);
  key[199] = 'y';
  laju_refused_add(&refused, 0, key, sizeof key, 1);
  assert_int_equal(refused.count, 2);
  assert_int_equal(refused.entries[0].key_len, 200);
}

static void exact_while_there_is_room(void **state) {
  (void)state;
  char key[16];
  for (int i = 0; i < LAJU_REFUSED_MAX; i++) {
    snprintf(key, sizeof key, "k%d", i);
    for (int n = 0; n <= i % 3; n++) add(0, key, i);
  }
  assert_int_equal(refused.count, LAJU_REFUSED_MAX);
  assert_int_equal(refused.missed, 0);
  laju_refused_sort(&refused);
  is(0, 0, "k2", 3, 2);
  is(LAJU_REFUSED_MAX - 1, 0, "k65535", 1, 65535);
}

/* 300,000 keys that are refused once or twice, among them three heavy ones. */
static void beyond_that_the_heavy_stay_and_no_count_is_off_by_more_than_is_told(void **state) {
  (void)state;
  char key[16];
  for (int i = 0; i < 300000; i++) {
    snprintf(key, sizeof key, "k%d", i);
    add(0, key, i);
    if (i % 2 == 0) add(0, key, i);
    if (i % 10 == 0) add(0, "heavy", i);
    if (i % 20 == 0) add(1, "heavy", i);
    if (i % 40 == 0) add(0, "third", i);
  }
  assert_true(refused.count <= LAJU_REFUSED_MAX);
  assert_true(refused.missed > 0 && refused.missed < 100);
  add(0, "newcomer", 300000);
  assert_true(refused.entries[refused.count - 1].late);
  laju_refused_sort(&refused);
  static const uint64_t counts[] = {30000, 15000, 7500};
  for (size_t i = 0; i < 3; i++) {
    assert_true(refused.entries[i].count <= counts[i]);
    assert_true(refused.entries[i].count + refused.missed >= counts[i]);
    assert_int_equal(refused.entries[i].first_us, 0);
    assert_false(refused.entries[i].late);
  }
  assert_memory_equal(refused.entries[2].key, "third", 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(most_refused_come_first_then_the_first_refused, begin, finish),
      cmocka_unit_test_setup_teardown(of_a_long_key_96_bytes_are_kept_and_all_count, begin, finish),
      cmocka_unit_test_setup_teardown(exact_while_there_is_room, begin, finish),
      cmocka_unit_test_setup_teardown(beyond_that_the_heavy_stay_and_no_count_is_off_by_more_than_is_told, begin,
                                      finish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
