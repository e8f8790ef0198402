#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/policy.h"

static bool takes(const char *pattern, const char *text) {
  char copy[128];
  size_t len = strlen(pattern);
  assert_true(len < sizeof copy);
  memcpy(copy, pattern, len + 1);
  laju_pattern p = {.text = copy, .len = len, .literal = strchr(pattern, '*') == NULL};
  return laju_pattern_takes(&p, text, strlen(text));
}

static void a_pattern_without_a_star_takes_itself_alone(void **unused) {
  (void)unused;
  assert_true(takes("/api", "/api"));
  assert_false(takes("/api", "/api/"));
  assert_false(takes("/api", "/ap"));
  assert_true(takes("", ""));
  assert_false(takes("", "a"));
}

static void a_star_takes_any_run_the_empty_one_too(void **unused) {
  (void)unused;
  assert_true(takes("/api/*", "/api/"));
  assert_true(takes("/api/*", "/api/a/b/c"));
  assert_false(takes("/api/*", "/api"));
  assert_true(takes("*.example.com", "a.b.example.com"));
  assert_false(takes("*.example.com", "example.com"));
  assert_true(takes("*", ""));
  assert_true(takes("**", "anything"));
}

static void several_stars_find_every_way(void **unused) {
  (void)unused;
  assert_true(takes("a*b*c", "abbc"));
  assert_true(takes("*ab*", "aab"));
  assert_true(takes("a*ba", "abababa"));
  assert_false(takes("a*b*c", "acb"));
  assert_true(takes("/v*/users/*/keys", "/v2/users/a/keys/b/keys"));
}

static void what_stands_before_and_after_the_stars_is_not_used_twice(void **unused) {
  (void)unused;
  assert_false(takes("ab*ba", "aba"));
  assert_true(takes("ab*ba", "abba"));
  assert_false(takes("a*bc*cd", "abcd"));
  assert_true(takes("a*bc*cd", "abccd"));
  assert_false(takes("*ab*ab*", "xabx"));
  assert_true(takes("*ab*ab*", "abab"));
  assert_true(takes("a***b", "ab"));
}

static void no_other_byte_is_special(void **unused) {
  (void)unused;
  assert_true(takes("a?[b]\\.+", "a?[b]\\.+"));
  assert_false(takes("a?", "ab"));
  assert_false(takes("[a-z]", "b"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pattern_without_a_star_takes_itself_alone),
      cmocka_unit_test(a_star_takes_any_run_the_empty_one_too),
      cmocka_unit_test(several_stars_find_every_way),
      cmocka_unit_test(what_stands_before_and_after_the_stars_is_not_used_twice),
      cmocka_unit_test(no_other_byte_is_special),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
