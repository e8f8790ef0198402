#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "replay/history.h"

static laju_history history;

static int begin(void **state) {
  (void)state;
  return laju_history_init(&history);
}

static int finish(void **state) {
  (void)state;
  laju_history_deinit(&history);
  return 0;
}

static void add(uint32_t rule, const char *key, int64_t now_us) {
  laju_history_add(&history, rule, key, strlen(key), now_us);
}

static void checks_come_back_in_their_order_with_their_times(void **state) {
  (void)state;
  static const int64_t late = INT64_C(1791640536123456);
  laju_history_cursor cursor = {0};
  uint32_t keys[4];
  int64_t times[4];
  add(3, "a", 0);
  add(3, "b", late);
  add(4, "a", late);
  add(3, "a", late + 1);
  for (int i = 0; i < 4; i++) {
    assert_true(laju_history_next(&history, &cursor, &keys[i]));
    times[i] = cursor.now_us;
  }
  uint32_t key;
  assert_false(laju_history_next(&history, &cursor, &key));
  assert_int_equal(history.key_count, 3);
  assert_int_equal(keys[0], keys[3]);
  assert_int_not_equal(keys[0], keys[2]);
  assert_int_equal(history.rules[keys[2]], 4);
  assert_int_equal(times[0], 0);
  assert_int_equal(times[1], late);
  assert_int_equal(times[2], late);
  assert_int_equal(times[3], late + 1);
}

static void a_check_at_the_same_time_takes_four_bytes(void **state) {
  (void)state;
  for (int i = 0; i < 1000; i++) add(0, "a", 77);
  assert_int_equal(history.word_count, 1003);
}

static void keys_beyond_the_bound_are_left_out_and_counted(void **state) {
  (void)state;
  char key[16];
  for (uint32_t i = 0; i < LAJU_HISTORY_KEYS_MAX; i++) {
    snprintf(key, sizeof key, "%u", i);
    add(0, key, 1);
  }
  assert_int_equal(history.key_count, LAJU_HISTORY_KEYS_MAX);
  assert_int_equal(history.left_out, 0);
  add(0, "one too many", 1);
  add(0, "one too many", 1);
  add(0, "17", 1);
  assert_int_equal(history.left_out, 2);
  assert_int_equal(history.word_count, 3 + LAJU_HISTORY_KEYS_MAX + 1);
}

static void checks_beyond_the_bound_are_left_out_and_counted(void **state) {
  (void)state;
  history.word_count = LAJU_HISTORY_WORDS_MAX - 4; /* as if so many had come */
  add(0, "a", 1);
  assert_int_equal(history.word_count, LAJU_HISTORY_WORDS_MAX);
  add(0, "a", 2);
  add(0, "a", 1);
  assert_int_equal(history.left_out, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(checks_come_back_in_their_order_with_their_times, begin, finish),
      cmocka_unit_test_setup_teardown(a_check_at_the_same_time_takes_four_bytes, begin, finish),
      cmocka_unit_test_setup_teardown(keys_beyond_the_bound_are_left_out_and_counted, begin, finish),
      cmocka_unit_test_setup_teardown(checks_beyond_the_bound_are_left_out_and_counted, begin, finish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
