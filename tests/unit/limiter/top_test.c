#include "limiter/top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t hash_key[2] = {1, 2};
static laju_rule rule;

static void refuse(laju_top *top, const char *key, int64_t now_us) {
  laju_check check = {.rule = &rule, .key = key, .key_len = (uint32_t)strlen(key), .cost = 1};
  laju_top_count(top, &check, now_us);
}

static int make_rule(void **state) {
  (void)state;
  return laju_rule_init(&rule, "login", 5, LAJU_TOKEN_BUCKET, 1, 60000000, 0);
}

static void the_most_refused_come_first(void **state) {
  (void)state;
  laju_top *top = laju_top_new(hash_key);
  for (int i = 0; i < 30; i++) refuse(top, "bot", 5);
  for (int i = 0; i < 20; i++) refuse(top, "scraper", 6);
  refuse(top, "ada", 7);
  laju_top_entry out[2];
  assert_int_equal(laju_top_read(&top, 1, out, 2, 8), 2);
  assert_memory_equal(out[0].key, "bot", 4);
  assert_int_equal(out[0].count, 30);
  assert_int_equal(out[0].over, 0);
  assert_int_equal(out[0].last_us, 5);
  assert_string_equal(out[0].rule, "login");
  assert_memory_equal(out[1].key, "scraper", 8);
  laju_top_free(top);
}

static void a_key_refused_by_several_workers_is_one(void **state) {
  (void)state;
  laju_top *tops[2] = {laju_top_new(hash_key), laju_top_new(hash_key)};
  for (int i = 0; i < 3; i++) refuse(tops[0], "bot", 5);
  for (int i = 0; i < 4; i++) refuse(tops[1], "bot", 9);
  laju_top_entry out[10];
  assert_int_equal(laju_top_read(tops, 2, out, 10, 9), 1);
  assert_int_equal(out[0].count, 7);
  assert_int_equal(out[0].last_us, 9);
  laju_top_free(tops[0]);
  laju_top_free(tops[1]);
}

static void a_flood_of_others_does_not_hide_the_heavy_one(void **state) {
  (void)state;
  laju_top *top = laju_top_new(hash_key);
  char key[32];
  uint64_t heavy = 0;
  for (int i = 0; i < 200000; i++) {
    snprintf(key, sizeof key, "stranger-%d", i);
    refuse(top, key, 5);
    if (i % 50 == 0) refuse(top, "bot", 5), heavy++;
  }
  laju_top_entry out[1];
  assert_int_equal(laju_top_read(&top, 1, out, 1, 5), 1);
  assert_memory_equal(out[0].key, "bot", 4);
  assert_true(out[0].count >= heavy); /* never too low */
  assert_true(out[0].count - out[0].over <= heavy);
  laju_top_free(top);
}

/* Who takes another's place begins with his count, and says how much of it may not be his. */
static void what_may_be_anothers_is_told(void **state) {
  (void)state;
  laju_top *top = laju_top_new(hash_key);
  laju_top_entry out[100];
  char key[32];
  for (int i = 0; i < 20000; i++) {
    snprintf(key, sizeof key, "stranger-%d", i);
    refuse(top, key, 5);
  }
  assert_int_equal(laju_top_read(&top, 1, out, 100, 5), 100);
  for (int i = 0; i < 100; i++) {
    assert_true(out[i].count > 1);
    assert_int_equal(out[i].count - out[i].over, 1);
  }
  laju_top_free(top);
}

static void the_past_fades(void **state) {
  (void)state;
  laju_top *top = laju_top_new(hash_key);
  for (int i = 0; i < 40; i++) refuse(top, "bot", 1000);
  laju_top_entry out[1];
  assert_int_equal(laju_top_read(&top, 1, out, 1, 1000 + LAJU_TOP_HALF_LIFE_US - 1), 1);
  assert_int_equal(out[0].count, 40);
  assert_int_equal(laju_top_read(&top, 1, out, 1, 1000 + 2 * LAJU_TOP_HALF_LIFE_US), 1);
  assert_int_equal(out[0].count, 10);
  assert_int_equal(laju_top_read(&top, 1, out, 1, 1000 + 100 * LAJU_TOP_HALF_LIFE_US), 0);
  laju_top_free(top);
}

static void a_long_key_is_known_whole_and_shown_in_part(void **state) {
  (void)state;
  laju_top *top = laju_top_new(hash_key);
  char a[LAJU_KEY_MAX + 1] = {0}, b[LAJU_KEY_MAX + 1] = {0};
  memset(a, 'x', LAJU_KEY_MAX);
  memset(b, 'x', LAJU_KEY_MAX);
  b[LAJU_KEY_MAX - 1] = 'y';
  refuse(top, a, 5);
  refuse(top, b, 5);
  laju_top_entry out[3];
  assert_int_equal(laju_top_read(&top, 1, out, 3, 5), 2);
  assert_int_equal(out[0].key_len, LAJU_KEY_MAX);
  laju_top_free(top);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_most_refused_come_first),
      cmocka_unit_test(a_key_refused_by_several_workers_is_one),
      cmocka_unit_test(a_flood_of_others_does_not_hide_the_heavy_one),
      cmocka_unit_test(what_may_be_anothers_is_told),
      cmocka_unit_test(the_past_fades),
      cmocka_unit_test(a_long_key_is_known_whole_and_shown_in_part),
  };
  return cmocka_run_group_tests(tests, make_rule, NULL);
}
