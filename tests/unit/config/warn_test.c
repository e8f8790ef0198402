#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

#define TOLD_MAX (LAJU_CONFIG_WARNINGS_MAX + 1)

static char told[TOLD_MAX][LAJU_WHY_SIZE];
static size_t told_count;

static void tell(void *context, const char *warning) {
  assert_ptr_equal(context, told);
  assert_true(told_count < TOLD_MAX);
  snprintf(told[told_count++], LAJU_WHY_SIZE, "%s", warning);
}

static size_t warnings_of_file(const char *text) {
  laju_config config;
  char why[LAJU_WHY_SIZE] = "";
  laju_config_init(&config);
  told_count = 0;
  laju_config_parse(&config, "laju.yaml", text, strlen(text), why);
  assert_string_equal(why, "");
  size_t count = laju_config_warn(&config, tell, told);
  laju_config_deinit(&config);
  return count;
}

/* Of a rule `a` of 10 a minute with these members more. */
static size_t warnings(const char *members) {
  char text[4096];
  snprintf(text, sizeof text, "rules: [{name: a, limit: 10, per: 1m, %s}]", members);
  return warnings_of_file(text);
}

static void warned(const char *members, const char *warning) {
  assert_int_equal(warnings(members), 1);
  assert_string_equal(told[0], warning);
}

static void an_ordinary_rule_is_not_warned_of(void **unused) {
  (void)unused;
  assert_int_equal(warnings("match: {host: [a.b, '*.a.b'], path: [/, /api/*, /api], method: [GET, POST]}"), 0);
  assert_int_equal(warnings("key: [ip, 'header:a', 'cookie:a', 'query:a', 'query:A', path], missing: deny"), 0);
  assert_int_equal(warnings("exempt: [10.0.0.0/8, 'key:a', 'key:b*']"), 0);
  assert_int_equal(warnings("overrides: [{key: 'a*', limit: 1}, {key: ab, limit: 2}, {key: '*', limit: 3}]"), 0);
  assert_int_equal(warnings("match: none, key: 'header:a'"), 0);
  assert_int_equal(warnings("match: {path: ['/.git*', '/100%', '*.php']}"), 0);
}

static void an_override_behind_one_that_takes_all_of_it_is_warned_of(void **unused) {
  (void)unused;
  warned("overrides: [{key: 'team-*', limit: 1}, {key: other, limit: 2}, {key: 'team-1*', limit: 3}]",
         "rules[0] (a): overrides[2].key: \"team-1*\" is never reached: overrides[0] (\"team-*\") comes first");
  warned("overrides: [{key: k, limit: 1}, {key: k, limit: 2}]",
         "rules[0] (a): overrides[1].key: \"k\" is never reached: overrides[0] (\"k\") comes first");
  warned("overrides: [{key: '*a*', limit: 1}, {key: 'b*ac*', limit: 2}]",
         "rules[0] (a): overrides[1].key: \"b*ac*\" is never reached: overrides[0] (\"*a*\") comes first");
}

static void what_stands_twice_is_warned_of(void **unused) {
  (void)unused;
  warned("match: {host: [a.b, A.B]}", "rules[0] (a): match.host[1]: \"a.b\" adds nothing to \"a.b\"");
  warned("match: {path: [/api/*, /api/x]}", "rules[0] (a): match.path[1]: \"/api/x\" adds nothing to \"/api/*\"");
  warned("match: {method: [GET, POST, GET]}", "rules[0] (a): match.method[2]: \"GET\" stands there twice");
  warned("key: ['header:X-A', ip, 'header:x-a']", "rules[0] (a): key[2]: is the same as key[0]");
  warned("exempt: ['key:a*', 10.0.0.0/8, 'key:ab*']", "rules[0] (a): exempt: \"key:ab*\" adds nothing to \"key:a*\"");
}

static void a_path_that_is_compared_otherwise_is_warned_of(void **unused) {
  (void)unused;
  warned("match: {path: /a//b}",
         "rules[0] (a): match.path[0]: \"/a//b\" can hardly match: paths are compared without empty and dot segments");
  assert_int_equal(warnings("match: {path: [/a/../b, /a/./b, /a/.., /a/.]}"), 4);
  warned("match: {path: '/a?b=*'}",
         "rules[0] (a): match.path[0]: \"/a?b=*\" can hardly match: paths are compared without the query");
  warned("match: {path: '/a%20b'}",
         "rules[0] (a): match.path[0]: \"/a%20b\" can hardly match: paths are compared after percent-decoding");
}

static void methods_in_small_letters_are_warned_of(void **unused) {
  (void)unused;
  warned("match: {method: get}",
         "rules[0] (a): match.method[0]: \"get\" has small letters, and methods are case-sensitive");
}

static void a_part_that_is_always_there_cannot_be_missing(void **unused) {
  (void)unused;
  warned("key: [ip, path], missing: deny", "rules[0] (a): missing: no part of this key is ever missing");
  assert_int_equal(warnings("key: [ip, host], missing: deny"), 0);
}

static void a_shadow_that_should_wait_is_warned_of(void **unused) {
  (void)unused;
  warned("algorithm: leaky-bucket, shadow: true, wait: server",
         "rules[0] (a): wait: a rule in shadow holds no answer back");
}

static void an_overrides_numbers_are_looked_at_as_a_rules_are(void **unused) {
  (void)unused;
  warned("overrides: [{key: x, limit: 3, cost: 4}]",
         "rules[0] (a): overrides[0]: cost: 4 is more than can ever be taken at once (3)");
  assert_int_equal(warnings("cost: 0, overrides: [{key: x, limit: 3}, {key: y, limit: 3}]"), 1);
}

static size_t warnings_of_rules(size_t count, const char *members) {
  char text[4096];
  size_t len = (size_t)snprintf(text, sizeof text, "rules:\n");
  for (size_t i = 0; i < count; i++) {
    len += (size_t)snprintf(text + len, sizeof text - len, "- {name: r%zu, limit: 1, per: 1s%s}\n", i, members);
  }
  return warnings_of_file(text);
}

static void more_rules_for_any_request_than_can_be_decided_are_warned_of(void **unused) {
  (void)unused;
  assert_int_equal(warnings_of_rules(LAJU_CHECKS_MAX, ""), 0);
  assert_int_equal(warnings_of_rules(LAJU_CHECKS_MAX + 1, ""), 1);
  assert_string_equal(told[0],
                      "rules: 17 are for any request, and forward-auth refuses one that more than 16 match; those that "
                      "only checks name want match: none");
  assert_int_equal(warnings_of_rules(LAJU_CHECKS_MAX + 1, ", match: none"), 0);
}

static size_t warnings_of_overrides(size_t count, const char *before, const char *after) {
  char *text = malloc(256 + count * 64);
  assert_non_null(text);
  size_t len = (size_t)snprintf(text, 256, "rules:\n- name: a\n  limit: 1\n  per: 1s\n  overrides:\n");
  for (size_t i = 0; i < count; i++) {
    len += (size_t)snprintf(text + len, 64, "  - {key: '%s%zu%s', limit: 1}\n", before, i, after);
  }
  size_t warned = warnings_of_file(text);
  free(text);
  return warned;
}

static void more_than_a_hundred_patterns_that_are_tried_one_by_one_are_warned_of(void **unused) {
  (void)unused;
  assert_int_equal(warnings_of_overrides(1000, "team-", "-*"), 0);
  assert_int_equal(warnings_of_overrides(1000, "*-", ".com"), 0);
  assert_int_equal(warnings_of_overrides(100, "*[", "]*"), 0);
  assert_int_equal(warnings_of_overrides(101, "*[", "]*"), 1);
  assert_string_equal(
      told[0], "rules[0] (a): overrides: 101 patterns that begin and end alike, or with *, are tried one by one");
}

static void a_hundred_warnings_are_told_and_the_rest_counted(void **unused) {
  (void)unused;
  enum { OVERRIDES = 1000 };
  char *text = malloc(256 + OVERRIDES * 64);
  assert_non_null(text);
  size_t len = (size_t)snprintf(text, 256, "rules:\n- name: a\n  limit: 1\n  per: 1s\n  overrides:\n");
  for (size_t i = 0; i < OVERRIDES; i++)
    len += (size_t)snprintf(text + len, 64, "  - {key: 'k%zu', limit: 1}\n", i / 2);
  assert_int_equal(warnings_of_file(text), OVERRIDES / 2);
  assert_int_equal(told_count, LAJU_CONFIG_WARNINGS_MAX + 1);
  assert_string_equal(told[LAJU_CONFIG_WARNINGS_MAX], "400 more warnings are not shown");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ordinary_rule_is_not_warned_of),
      cmocka_unit_test(an_override_behind_one_that_takes_all_of_it_is_warned_of),
      cmocka_unit_test(what_stands_twice_is_warned_of),
      cmocka_unit_test(a_path_that_is_compared_otherwise_is_warned_of),
      cmocka_unit_test(methods_in_small_letters_are_warned_of),
      cmocka_unit_test(a_part_that_is_always_there_cannot_be_missing),
      cmocka_unit_test(a_shadow_that_should_wait_is_warned_of),
      cmocka_unit_test(an_overrides_numbers_are_looked_at_as_a_rules_are),
      cmocka_unit_test(more_rules_for_any_request_than_can_be_decided_are_warned_of),
      cmocka_unit_test(more_than_a_hundred_patterns_that_are_tried_one_by_one_are_warned_of),
      cmocka_unit_test(a_hundred_warnings_are_told_and_the_rest_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
