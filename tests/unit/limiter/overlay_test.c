#include "limiter/overlay.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/decide.h"

static laju_overlay *overlay;

static int make(void **state) {
  (void)state;
  return laju_overlay_new(&overlay);
}

static int end(void **state) {
  (void)state;
  laju_overlay_free(overlay);
  return 0;
}

static laju_overlay_entry entry_of(const char *key, uint32_t limit, uint32_t burst, int64_t expires_us) {
  laju_overlay_entry entry = {
      .number = 3, .limit = limit, .burst = burst, .key_len = (uint32_t)strlen(key), .expires_us = expires_us};
  memcpy(entry.key, key, entry.key_len);
  return entry;
}

static void put(const char *key, uint32_t limit, int64_t expires_us) {
  laju_overlay_entry entry = entry_of(key, limit, 2 * limit, expires_us);
  assert_int_equal(laju_overlay_put(overlay, &entry, 0), 0);
}

/* After what has expired by then was dropped. */
static bool has(const char *key, int64_t now_us, uint32_t limit) {
  uint32_t found = 0, burst = 0;
  laju_overlay_expire(overlay, now_us);
  if (!laju_overlay_find(overlay, 3, key, strlen(key), &found, &burst)) return false;
  return found == limit && burst == 2 * limit;
}

static void a_key_has_its_own_numbers_until_they_expire(void **state) {
  (void)state;
  put("ada", 7, 1000);
  assert_true(has("ada", 999, 7));
  assert_false(has("ada", 1000, 7));
  assert_false(has("grace", 1, 7));
  uint32_t limit, burst;
  assert_false(laju_overlay_find(overlay, 4, "ada", 3, &limit, &burst)); /* under another rule */
}

static void what_is_known_of_one_can_be_looked_at(void **state) {
  (void)state;
  laju_overlay_entry found;
  put("ada", 7, 1000);
  assert_true(laju_overlay_look(overlay, 3, "ada", 3, 999, &found));
  assert_int_equal(found.limit, 7);
  assert_int_equal(found.burst, 14);
  assert_int_equal(found.expires_us, 1000);
  assert_false(laju_overlay_look(overlay, 3, "ada", 3, 1000, &found));
  assert_false(laju_overlay_look(overlay, 3, "grace", 5, 1, &found));
}

static void a_later_one_stands_in_the_place_of_an_earlier(void **state) {
  (void)state;
  put("ada", 7, 1000);
  put("ada", 8, 2000);
  assert_true(has("ada", 1, 8));
  assert_int_equal(laju_overlay_count(overlay), 1);
  assert_true(laju_overlay_remove(overlay, 3, "ada", 3, 1));
  assert_false(laju_overlay_remove(overlay, 3, "ada", 3, 1));
  assert_false(has("ada", 1, 8));
  assert_int_equal(laju_overlay_count(overlay), 0);
}

static void a_rule_is_copied_with_the_key_s_numbers(void **state) {
  (void)state;
  laju_rule rule, place;
  assert_int_equal(laju_rule_init(&rule, "login", 5, LAJU_TOKEN_BUCKET, 5, 60000000, 10), 0);
  rule.number = 3;
  put("ada", 7, 1000);
  const laju_rule *applied = laju_overlay_apply(overlay, &rule, "ada", 3, &place);
  assert_ptr_equal(applied, &place);
  assert_int_equal(applied->limit, 7);
  assert_int_equal(applied->capacity, 14);
  assert_ptr_equal(laju_overlay_apply(overlay, &rule, "grace", 5, &place), &rule);
  laju_overlay_entry none = entry_of("ada", 0, 9, 1000);
  assert_int_equal(laju_overlay_put(overlay, &none, 0), 0);
  assert_int_equal(laju_overlay_apply(overlay, &rule, "ada", 3, &place)->capacity, 0);
}

static void a_rule_that_has_become_one_of_another_algorithm_is_still_one_that_the_law_can_decide_by(void **state) {
  (void)state;
  laju_overlay_entry entry = entry_of("ada", LAJU_TOKENS_MAX, 100, 1000);
  assert_int_equal(laju_overlay_put(overlay, &entry, 0), 0);
  for (int algorithm = 0; algorithm < LAJU_ALGORITHMS; algorithm++) {
    laju_rule rule, place, made;
    laju_state fresh = {0};
    laju_decision decision;
    assert_int_equal(laju_rule_init(&rule, "r", 1, (laju_algorithm)algorithm, 10, 60000000, 0), 0);
    rule.number = 3;
    laju_overlay_apply(overlay, &rule, "ada", 3, &place);
    assert_int_equal(laju_rule_init(&made, "r", 1, (laju_algorithm)algorithm, place.limit, 60000000, place.capacity),
                     0);
    if (algorithm == LAJU_SLIDING_WINDOW_LOG) continue; /* has its own way of deciding */
    laju_decide(&place, &fresh, 1, 0, &decision);
    assert_int_equal(decision.remaining, place.capacity);
  }
}

static void there_is_an_end_and_the_expired_make_room(void **state) {
  (void)state;
  char key[32];
  for (int i = 0; i < LAJU_OVERLAY_MAX; i++) {
    snprintf(key, sizeof key, "key-%d", i);
    put(key, 1, i == 5 ? 100 : 1000);
  }
  laju_overlay_entry more = entry_of("one-too-many", 1, 1, 1000);
  assert_int_equal(laju_overlay_put(overlay, &more, 99), LAJU_ERR_MEMORY);
  assert_int_equal(laju_overlay_put(overlay, &more, 100), 0);
  put("key-7", 9, 1000); /* changing one takes no room */
  assert_true(has("key-7", 1, 9));
}

static void add_limit(void *context, const laju_overlay_entry *entry) {
  *(uint64_t *)context += entry->limit;
}

static void replacing_leaves_what_is_named_and_no_other(void **state) {
  (void)state;
  put("ada", 7, 1000);
  put("grace", 8, 1000);
  laju_overlay_entry next[] = {entry_of("grace", 20, 40, 1000), entry_of("mary", 300, 600, 1000)};
  laju_overlay_replace(overlay, next, 2, 1);
  assert_false(has("ada", 1, 7));
  assert_true(has("grace", 1, 20));
  uint64_t sum = 0;
  assert_int_equal(laju_overlay_each(overlay, 1, add_limit, &sum), 2);
  assert_int_equal(sum, 320);
}

static void *flip(void *unused) {
  (void)unused;
  for (uint32_t i = 1; i <= 20000; i++) put("ada", i, 1000);
  return NULL;
}

static void a_reader_never_sees_half_of_a_change(void **state) {
  (void)state;
  put("ada", 1, 1000);
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, flip, NULL), 0);
  uint32_t limit = 0, burst = 0;
  while (limit < 20000) {
    assert_true(laju_overlay_find(overlay, 3, "ada", 3, &limit, &burst));
    assert_int_equal(burst, 2 * limit);
  }
  pthread_join(writer, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_key_has_its_own_numbers_until_they_expire, make, end),
      cmocka_unit_test_setup_teardown(what_is_known_of_one_can_be_looked_at, make, end),
      cmocka_unit_test_setup_teardown(a_later_one_stands_in_the_place_of_an_earlier, make, end),
      cmocka_unit_test_setup_teardown(a_rule_is_copied_with_the_key_s_numbers, make, end),
      cmocka_unit_test_setup_teardown(
          a_rule_that_has_become_one_of_another_algorithm_is_still_one_that_the_law_can_decide_by, make, end),
      cmocka_unit_test_setup_teardown(there_is_an_end_and_the_expired_make_room, make, end),
      cmocka_unit_test_setup_teardown(replacing_leaves_what_is_named_and_no_other, make, end),
      cmocka_unit_test_setup_teardown(a_reader_never_sees_half_of_a_change, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
