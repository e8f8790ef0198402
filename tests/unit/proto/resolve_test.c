#include "proto/resolve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_overlay *overlay;
static laju_terms terms;
static laju_rule rule, place;

static int make(void **state) {
  (void)state;
  rule = made_rule("login=5/1m token-bucket burst 10");
  rule.number = 3;
  if (laju_overlay_new(&overlay) < 0) return -1;
  terms = (laju_terms){.overlay = overlay};
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_overlay_free(overlay);
  return 0;
}

static void given(const char *key) {
  laju_overlay_entry entry = {.number = 3, .limit = 50, .burst = 70, .expires_us = 1000};
  entry.key_len = (uint32_t)laju_override_name(&rule, key, strlen(key), entry.key);
  assert_int_equal(laju_overlay_put(overlay, &entry, 0), 0);
}

static const laju_rule *resolved(const char *key) {
  return laju_terms_override(&terms, &rule, key, strlen(key), &place);
}

static void a_key_with_an_override_is_decided_by_its_numbers(void **state) {
  (void)state;
  given("ada");
  assert_ptr_equal(resolved("ada"), &place);
  assert_int_equal(place.limit, 50);
  assert_int_equal(place.capacity, 70);
  assert_memory_equal(place.id, rule.id, sizeof rule.id); /* the same state goes on */
  assert_ptr_equal(resolved("grace"), &rule);
}

static void where_there_is_none_the_rule_stands(void **state) {
  (void)state;
  assert_ptr_equal(resolved("ada"), &rule);
  terms.overlay = NULL;
  assert_ptr_equal(resolved("ada"), &rule);
}

static void a_rule_without_a_number_cannot_be_overridden(void **state) {
  (void)state;
  given("ada");
  rule.number = 0;
  assert_ptr_equal(resolved("ada"), &rule);
}

static void of_a_secret_rule_the_key_is_known_by_its_hash(void **state) {
  (void)state;
  char name[LAJU_KEY_MAX], again[LAJU_KEY_MAX];
  rule.secret = true;
  given("hunter2");
  assert_ptr_equal(resolved("hunter2"), &place);
  size_t len = laju_override_name(&rule, "hunter2", 7, name);
  assert_int_equal(len, 51);
  assert_memory_equal(name, "%sha256=", 8);
  /* as forward-auth has made it already */
  assert_int_equal(laju_override_name(&rule, name, len, again), len);
  assert_memory_equal(again, name, len);
  assert_ptr_equal(laju_terms_override(&terms, &rule, name, len, &place), &place);
}

static void what_is_known_of_it_can_be_looked_at(void **state) {
  (void)state;
  laju_overlay_entry found;
  given("ada");
  assert_true(laju_terms_look_override(&terms, &rule, "ada", 3, 999, &found));
  assert_int_equal(found.expires_us, 1000);
  assert_false(laju_terms_look_override(&terms, &rule, "ada", 3, 1000, &found));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_key_with_an_override_is_decided_by_its_numbers),
      TEST(where_there_is_none_the_rule_stands),
      TEST(a_rule_without_a_number_cannot_be_overridden),
      TEST(of_a_secret_rule_the_key_is_known_by_its_hash),
      TEST(what_is_known_of_it_can_be_looked_at),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
