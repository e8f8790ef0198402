#include "proto/shown.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_terms terms;
static laju_ruleset *rules;
static char text[LAJU_SHOWN_MAX + 1];
static bool masked;

static int make(void **state) {
  (void)state;
  laju_policy policies[] = {made_policy("plain=5/1m", "ip query:q", NULL, NULL),
                            made_policy("token=5/1m", "header:authorization", NULL, NULL),
                            made_policy("both=5/1m", "ip cookie:sid path", NULL, NULL),
                            made_policy("vault=5/1m", "ip", NULL, NULL)};
  policies[3].secret = policies[3].rule.secret = true;
  terms = (laju_terms){.admin_reveal = false};
  if (laju_ruleset_new(&rules, policies, 4) < 0) return -1;
  terms.rules = rules;
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_ruleset_free(rules);
  return 0;
}

static const char *shown_of(const char *rule, const char *key, size_t len, bool cut, uint32_t number) {
  static const uint64_t id[2] = {UINT64_C(0x0badcafe12345678), 1};
  laju_shown_key k = {.rule = rule, .number = number, .key = {key, len}, .cut = cut, .id = id};
  text[laju_key_show(text, &terms, &k, &masked)] = '\0';
  return text;
}

static const char *shown(const char *rule, const char *key) {
  return shown_of(rule, key, strlen(key), false, 1);
}

static void keys_without_secrets_are_shown_as_they_are(void **state) {
  (void)state;
  assert_string_equal(shown("plain", "192.0.2.1:whatever"), "192.0.2.1:whatever");
  assert_false(masked);
  assert_string_equal(shown_of("inline", "whoever", 7, false, 0), "whoever");
  assert_false(masked);
}

static void headers_and_cookies_are_four_characters_and_digits(void **state) {
  (void)state;
  assert_string_equal(shown("token", "Bearer abcdefghijkl"), "Bear…0badcafe");
  assert_true(masked);
  assert_string_equal(shown("both", "192.0.2.1:0123456789abcdef:/x%3Ay"), "192.0.2.1:0123…0badcafe:/x%3Ay");
  assert_true(masked);
}

static void of_short_ones_no_more_than_a_quarter_is_shown(void **state) {
  (void)state;
  assert_string_equal(shown("token", "abc"), "…0badcafe");
  assert_string_equal(shown("token", "abcdefg"), "a…0badcafe");
  assert_string_equal(shown("token", "éèêëéèêë"), "éè…0badcafe");
}

static void what_stands_for_a_missing_part_is_shown(void **state) {
  (void)state;
  assert_string_equal(shown("both", "192.0.2.1:%shared:/"), "192.0.2.1:%shared:/");
  assert_string_equal(shown("token", "%ip=192.0.2.1"), "%ip=192.0.2.1");
  assert_string_equal(shown("vault", "%ip=192.0.2.1"), "%ip…0badcafe"); /* where all is a secret, that is, too */
}

static void a_key_that_has_other_parts_than_its_rule_is_hidden_whole(void **state) {
  (void)state;
  assert_string_equal(shown("both", "sid-of-somebody"), "sid…0badcafe");
  assert_string_equal(shown("both", "a:b:c:d:e:f:g"), "a:b…0badcafe");
  assert_string_equal(shown("both", "%sha256=0123456789012345678901234567890123456789012"), "%sha…0badcafe");
}

static void of_a_key_that_is_cut_the_beginning_is_told_apart(void **state) {
  (void)state;
  assert_string_equal(shown_of("both", "192.0.2.1:0123456789abcdef", 26, true, 1), "192.0.2.1:0123…0badcafe");
  assert_string_equal(shown_of("both", "192.0.2.1:0123456789abcdef", 26, false, 1), "192.…0badcafe");
}

static void secret_rules_and_rules_that_are_gone_hide_all(void **state) {
  (void)state;
  assert_string_equal(shown("vault", "192.0.2.1-0123456"), "192.…0badcafe");
  assert_string_equal(shown("gone", "192.0.2.1-0123456"), "192.…0badcafe");
}

static void a_key_that_was_met_under_other_parts_is_hidden_whole(void **state) {
  (void)state;
  static const uint64_t id[2] = {UINT64_C(0x0badcafe12345678), 1};
  const char *rules_now[] = {"plain", "both"};
  for (size_t i = 0; i < 2; i++) { /* [header, ip, path] then */
    laju_shown_key k = {
        .rule = rules_now[i], .number = 1, .veils = 3 << 8 | 1, .key = {"0123456789abcdef:x:y", 20}, .id = id};
    text[laju_key_show(text, &terms, &k, &masked)] = '\0';
    assert_string_equal(text, "0123…0badcafe");
    assert_true(masked);
  }
}

static void all_is_shown_where_the_operator_wants_it(void **state) {
  (void)state;
  terms.admin_reveal = true;
  assert_string_equal(shown("vault", "hunter2"), "hunter2");
  assert_string_equal(shown("token", "Bearer x"), "Bearer x");
  assert_false(masked);
}

static void the_longest_of_keys_fits(void **state) {
  (void)state;
  char key[LAJU_KEY_MAX];
  for (size_t i = 0; i < sizeof key; i++) key[i] = i % 128 == 127 ? ':' : '\xff';
  shown_of("both", key, sizeof key, false, 1);
  memset(key, 'k', sizeof key);
  assert_int_equal(strlen(shown_of("plain", key, sizeof key, false, 1)), LAJU_KEY_MAX);
  key[0] = key[2] = ':';
  shown_of("both", key, sizeof key, false, 1);
  assert_true(masked);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(keys_without_secrets_are_shown_as_they_are),
      TEST(headers_and_cookies_are_four_characters_and_digits),
      TEST(of_short_ones_no_more_than_a_quarter_is_shown),
      TEST(what_stands_for_a_missing_part_is_shown),
      TEST(a_key_that_has_other_parts_than_its_rule_is_hidden_whole),
      TEST(of_a_key_that_is_cut_the_beginning_is_told_apart),
      TEST(secret_rules_and_rules_that_are_gone_hide_all),
      TEST(a_key_that_was_met_under_other_parts_is_hidden_whole),
      TEST(all_is_shown_where_the_operator_wants_it),
      TEST(the_longest_of_keys_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
