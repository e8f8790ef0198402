#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "limiter/ruleset.h"

static laju_policy policy_named(const char *name) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, name, strlen(name), LAJU_FIXED_WINDOW, 10, 1000000, 0), 0);
  laju_policy policy;
  laju_policy_init(&policy, &rule);
  return policy;
}

static void a_rule_is_found_by_its_exact_name(void **unused) {
  (void)unused;
  laju_policy given[] = {policy_named("login"), policy_named("api"), policy_named("Api")};
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, given, 3), 0);
  assert_ptr_equal(laju_ruleset_find(rules, "api", 3), laju_ruleset_at(rules, 1));
  assert_ptr_equal(laju_ruleset_find(rules, "Api", 3), laju_ruleset_at(rules, 2));
  assert_null(laju_ruleset_find(rules, "ap", 2));
  assert_null(laju_ruleset_find(rules, "apis", 4));
  assert_null(laju_ruleset_find(rules, "", 0));
  laju_ruleset_free(rules);
}

static void a_name_longer_than_any_rule_is_not_read_past_its_end(void **unused) {
  (void)unused;
  laju_policy given = policy_named("a");
  char longest[LAJU_NAME_MAX + 1];
  memset(longest, 'a', sizeof longest);
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, &given, 1), 0);
  assert_null(laju_ruleset_find(rules, longest, LAJU_NAME_MAX));
  assert_null(laju_ruleset_find(rules, longest, LAJU_NAME_MAX + 1));
  laju_ruleset_free(rules);
}

static void two_rules_of_one_name_are_refused(void **unused) {
  (void)unused;
  laju_policy given[] = {policy_named("login"), policy_named("login")};
  laju_ruleset *rules = NULL;
  assert_int_equal(laju_ruleset_new(&rules, given, 2), LAJU_ERR_NAME);
  assert_null(rules);
}

static void no_rules_is_a_ruleset_too(void **unused) {
  (void)unused;
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, NULL, 0), 0);
  assert_int_equal(laju_ruleset_count(rules), 0);
  assert_null(laju_ruleset_find(rules, "default", 7));
  laju_ruleset_free(rules);
}

static void ten_thousand_rules_are_all_found_and_one_more_is_refused(void **unused) {
  (void)unused;
  laju_policy *given = calloc(LAJU_RULES_MAX + 1, sizeof *given);
  assert_non_null(given);
  for (int i = 0; i <= LAJU_RULES_MAX; i++) {
    char name[32];
    snprintf(name, sizeof name, "rule-%d", i);
    given[i] = policy_named(name);
  }
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, given, LAJU_RULES_MAX + 1), LAJU_ERR_MEMORY);
  assert_int_equal(laju_ruleset_new(&rules, given, LAJU_RULES_MAX), 0);
  for (size_t i = 0; i < LAJU_RULES_MAX; i++) {
    assert_ptr_equal(laju_ruleset_find(rules, given[i].rule.name, strlen(given[i].rule.name)),
                     laju_ruleset_at(rules, i));
  }
  laju_ruleset_free(rules);
  free(given);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rule_is_found_by_its_exact_name),
      cmocka_unit_test(a_name_longer_than_any_rule_is_not_read_past_its_end),
      cmocka_unit_test(two_rules_of_one_name_are_refused),
      cmocka_unit_test(no_rules_is_a_ruleset_too),
      cmocka_unit_test(ten_thousand_rules_are_all_found_and_one_more_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
