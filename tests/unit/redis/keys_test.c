#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redis/keys.h"

#define MINUTE INT64_C(60000000)

static laju_rule rule_of(const char *name, laju_algorithm algorithm, int64_t period_us) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, name, strlen(name), algorithm, 10, period_us, 0), 0);
  return rule;
}

static laju_keys keys_of(const char *prefix) {
  laju_keys keys;
  assert_int_equal(laju_keys_init(&keys, prefix, strlen(prefix)), 0);
  return keys;
}

static const char *name_in(laju_keys *keys, const laju_rule *rule, laju_keys_subject subject) {
  static char name[LAJU_KEYS_NAME_MAX + 1];
  int len = laju_keys_name(keys, rule, &subject, name);
  assert_in_range(len, 1, LAJU_KEYS_NAME_MAX);
  name[len] = '\0';
  return name;
}

static laju_keys_subject subject_of(const char *key) {
  return (laju_keys_subject){.key = key, .key_len = strlen(key)};
}

static laju_keys_subject grouped(const char *group, const char *key) {
  return (laju_keys_subject){.key = key, .key_len = strlen(key), .group = group, .group_len = strlen(group)};
}

static laju_keys_subject secret(const char *key) {
  return (laju_keys_subject){.key = key, .key_len = strlen(key), .secret = true};
}

static void a_plain_key_stands_as_it_is(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  laju_rule login = rule_of("login", LAJU_TOKEN_BUCKET, MINUTE);
  assert_string_equal(name_in(&keys, &login, subject_of("user:42")), "laju:{user:42}:login:token-bucket:60000000");
  assert_string_equal(name_in(&keys, &login, subject_of("a@B-c_d.e")), "laju:{a@B-c_d.e}:login:token-bucket:60000000");
  laju_keys_deinit(&keys);
}

/* The digests are those that sha256sum prints: their first 20 bytes in base64url. */
static void any_other_key_is_hashed(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  laju_rule api = rule_of("api", LAJU_FIXED_WINDOW, MINUTE);
  assert_string_equal(name_in(&keys, &api, subject_of("hello world")),
                      "laju:{#uU0nuZNNPgilLlLX2n2r-sSE7-M}:api:fixed-window:60000000");
  assert_string_equal(name_in(&keys, &api, subject_of("a{b}c")),
                      "laju:{#DIHQgu_7_CAPUphwxLqnYPuz6gc}:api:fixed-window:60000000");
  laju_keys_subject zero = {.key = "a\0b", .key_len = 3};
  assert_string_equal(name_in(&keys, &api, zero), "laju:{#WbJxrhu8sdMdQZKYF_Sxb7Q5608}:api:fixed-window:60000000");
  laju_keys_deinit(&keys);
}

static void sixty_four_characters_are_plain_and_sixty_five_are_not(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  laju_rule api = rule_of("api", LAJU_FIXED_WINDOW, MINUTE);
  char text[66];
  memset(text, 'x', sizeof text);
  laju_keys_subject subject = {.key = text, .key_len = 64};
  assert_memory_equal(name_in(&keys, &api, subject), "laju:{xxxxxxxx", 14);
  subject.key_len = 65;
  assert_memory_equal(name_in(&keys, &api, subject), "laju:{#", 7);
  laju_keys_deinit(&keys);
}

static void a_secret_rule_hashes_every_key(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  laju_rule api = rule_of("api", LAJU_FIXED_WINDOW, MINUTE);
  assert_string_equal(name_in(&keys, &api, secret("user:42")),
                      "laju:{#6j_UO-HlfWLhY9rhn8dAvW1mDuw}:api:fixed-window:60000000");
  laju_keys_deinit(&keys);
}

static void a_group_takes_the_braces(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  laju_rule api = rule_of("api", LAJU_FIXED_WINDOW, MINUTE);
  assert_string_equal(name_in(&keys, &api, grouped("tenant:7", "user:42")),
                      "laju:{tenant:7}:user:42:api:fixed-window:60000000");
  laju_keys_subject both = grouped("tenant:7", "user:42");
  both.secret = true;
  const char *name = name_in(&keys, &api, both);
  assert_memory_equal(name, "laju:{#", 7);
  assert_null(strstr(name, "tenant"));
  assert_null(strstr(name, "user"));
  laju_keys_deinit(&keys);
}

/* Every pair of these differs in rule, key or group; texts are chosen to look alike once they are joined. */
static void no_two_pairs_of_rule_and_key_meet(void **unused) {
  (void)unused;
  laju_keys keys = keys_of("laju");
  static const char *const texts[] = {"a",           "b",  "a:b",  "b:a", "a:b:a",
                                      ":",           "::", ":a",   "a:",  "a:a:fixed-window:1000",
                                      "a}",          "{a", "a}:b", "#",   "#uU0nuZNNPgilLlLX2n2r-sSE7-M",
                                      "hello world", "A"};
  enum { TEXTS = sizeof texts / sizeof *texts };
  laju_rule rules[] = {rule_of("a", LAJU_FIXED_WINDOW, MINUTE),          rule_of("b", LAJU_FIXED_WINDOW, MINUTE),
                       rule_of("a", LAJU_SLIDING_WINDOW_LOG, MINUTE),    rule_of("a", LAJU_FIXED_WINDOW, 1000),
                       rule_of("fixed-window", LAJU_FIXED_WINDOW, 1000), rule_of("1000", LAJU_FIXED_WINDOW, 1000)};
  enum { RULES = sizeof rules / sizeof *rules, NAMES = RULES * TEXTS * (TEXTS + 1) };
  char **names = calloc(NAMES, sizeof *names);
  assert_non_null(names);
  size_t count = 0;
  for (size_t r = 0; r < RULES; r++) {
    for (size_t k = 0; k < TEXTS; k++) {
      names[count++] = strdup(name_in(&keys, &rules[r], subject_of(texts[k])));
      for (size_t g = 0; g < TEXTS; g++)
        names[count++] = strdup(name_in(&keys, &rules[r], grouped(texts[g], texts[k])));
    }
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t j = i + 1; j < count; j++) assert_string_not_equal(names[i], names[j]);
  }
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
  laju_keys_deinit(&keys);
}

static void the_longest_name_fits(void **unused) {
  (void)unused;
  char text[65];
  memset(text, 'x', 64);
  text[64] = '\0';
  laju_keys keys = keys_of(text);
  laju_rule rule = rule_of(text, LAJU_SLIDING_WINDOW_COUNTER, LAJU_PERIOD_MAX_US);
  assert_int_equal(strlen(name_in(&keys, &rule, grouped(text, text))), 4 * 64 + 7 + 22 + 14);
  laju_keys_deinit(&keys);
}

static void a_prefix_with_a_brace_is_refused(void **unused) {
  (void)unused;
  laju_keys keys;
  assert_int_equal(laju_keys_init(&keys, "a{b}", 4), LAJU_ERR_NAME);
  assert_int_equal(laju_keys_init(&keys, "", 0), LAJU_ERR_NAME);
  assert_int_equal(laju_keys_init(&keys, "a b", 3), LAJU_ERR_NAME);
  char text[65];
  memset(text, 'x', sizeof text);
  assert_int_equal(laju_keys_init(&keys, text, 65), LAJU_ERR_NAME);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_key_stands_as_it_is),
      cmocka_unit_test(any_other_key_is_hashed),
      cmocka_unit_test(sixty_four_characters_are_plain_and_sixty_five_are_not),
      cmocka_unit_test(a_secret_rule_hashes_every_key),
      cmocka_unit_test(a_group_takes_the_braces),
      cmocka_unit_test(no_two_pairs_of_rule_and_key_meet),
      cmocka_unit_test(the_longest_name_fits),
      cmocka_unit_test(a_prefix_with_a_brace_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
