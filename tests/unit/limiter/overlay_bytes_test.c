#include "limiter/overlay_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The process that writes, and the one that reads: rules have other numbers there. */
static laju_overlay *before, *after;
static laju_rule_names *names_before, *names_after;
static laju_buffer bytes;

static int make(void **state) {
  (void)state;
  names_before = laju_rule_names_new();
  names_after = laju_rule_names_new();
  bytes = (laju_buffer){0};
  laju_rule_names_number(names_after, "other");
  return names_before != NULL && names_after != NULL && laju_overlay_new(&before) == 0 && laju_overlay_new(&after) == 0
             ? 0
             : -1;
}

static int end(void **state) {
  (void)state;
  laju_overlay_free(before);
  laju_overlay_free(after);
  laju_rule_names_free(names_before);
  laju_rule_names_free(names_after);
  laju_buffer_deinit(&bytes);
  return 0;
}

static void given(const char *rule, const char *key, size_t key_len, uint32_t limit, int64_t expires_us) {
  laju_overlay_entry entry = {.number = laju_rule_names_number(names_before, rule),
                              .limit = limit,
                              .burst = 2 * limit,
                              .key_len = (uint32_t)key_len,
                              .expires_us = expires_us,
                              .veils = 0x0205};
  memcpy(entry.key, key, key_len);
  assert_int_equal(laju_overlay_put(before, &entry, 0), 0);
}

static void over_a_restart_rules_are_known_by_their_names(void **state) {
  (void)state;
  laju_overlay_entry found;
  given("login", "ada\0\xff", 5, 7, 1000);
  given("api", "grace", 5, 0, 2000);
  laju_overlay_save(before, names_before, 500, &bytes);
  assert_int_equal(laju_overlay_load(after, names_after, 500, bytes.data, bytes.len), 0);
  assert_int_equal(laju_overlay_count(after), 2);
  uint32_t login = laju_rule_names_number(names_after, "login");
  assert_int_not_equal(login, laju_rule_names_number(names_before, "login"));
  assert_true(laju_overlay_look(after, login, "ada\0\xff", 5, 500, &found));
  assert_int_equal(found.limit, 7);
  assert_int_equal(found.burst, 14);
  assert_int_equal(found.expires_us, 1000);
  assert_int_equal(found.veils, 0x0205);
}

static void what_has_expired_meanwhile_is_left_out(void **state) {
  (void)state;
  given("login", "ada", 3, 7, 1000);
  given("login", "grace", 5, 7, 2000);
  laju_overlay_save(before, names_before, 500, &bytes);
  assert_int_equal(laju_overlay_load(after, names_after, 1500, bytes.data, bytes.len), 0);
  assert_int_equal(laju_overlay_count(after), 1);
}

static void none_take_no_bytes(void **state) {
  (void)state;
  laju_overlay_save(before, names_before, 500, &bytes);
  assert_int_equal(bytes.len, 0);
  assert_int_equal(laju_overlay_load(after, names_after, 500, bytes.data, bytes.len), 0);
}

static void ten_thousand_of_the_longest_fit_a_snapshot(void **state) {
  (void)state;
  char rule[LAJU_NAME_MAX + 1], key[LAJU_KEY_MAX];
  memset(rule, 'r', LAJU_NAME_MAX);
  rule[LAJU_NAME_MAX] = '\0';
  memset(key, 'k', sizeof key);
  for (unsigned i = 0; i < LAJU_OVERLAY_MAX; i++) {
    memcpy(key, &i, sizeof i);
    given(rule, key, sizeof key, 1, 1000);
  }
  laju_overlay_save(before, names_before, 500, &bytes);
  assert_in_range(bytes.len, 1, 16 << 20);
  assert_int_equal(laju_overlay_load(after, names_after, 500, bytes.data, bytes.len), 0);
  assert_int_equal(laju_overlay_count(after), LAJU_OVERLAY_MAX);
}

static void what_cannot_be_read_puts_nothing_in(void **state) {
  (void)state;
  given("login", "ada", 3, 7, 1000);
  given("login", "grace", 5, 7, 2000);
  laju_overlay_save(before, names_before, 500, &bytes);
  for (size_t len = 1; len < bytes.len; len++) {
    if (len == 4 || len == 4 + 21 + 5 + 3 || len == 4 + 21 + 5 + 5) continue; /* a whole number of them */
    assert_int_equal(laju_overlay_load(after, names_after, 500, bytes.data, len), LAJU_ERR_SNAPSHOT);
  }
  bytes.data[0] = 1;
  assert_int_equal(laju_overlay_load(after, names_after, 500, bytes.data, bytes.len), LAJU_ERR_SNAPSHOT);
  assert_int_equal(laju_overlay_count(after), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(over_a_restart_rules_are_known_by_their_names, make, end),
      cmocka_unit_test_setup_teardown(what_has_expired_meanwhile_is_left_out, make, end),
      cmocka_unit_test_setup_teardown(none_take_no_bytes, make, end),
      cmocka_unit_test_setup_teardown(ten_thousand_of_the_longest_fit_a_snapshot, make, end),
      cmocka_unit_test_setup_teardown(what_cannot_be_read_puts_nothing_in, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
