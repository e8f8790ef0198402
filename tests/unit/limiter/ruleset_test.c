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

static void a_name_with_zeros_behind_it_is_another_name(void **unused) {
  (void)unused;
  laju_policy policy = policy_named("api");
  assert_true(laju_policy_is_named(&policy, "api", 3));
  assert_false(laju_policy_is_named(&policy, "api\0", 4));
  assert_false(laju_policy_is_named(&policy, "api\0\0", 5));
  assert_false(laju_policy_is_named(&policy, "ap", 2));
  assert_false(laju_policy_is_named(&policy, "", 0));
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

/* ---- keys ---- */

static laju_pattern pattern_of(const char *text) {
  char *copy = strdup(text);
  assert_non_null(copy);
  return (laju_pattern){.text = copy, .len = strlen(text), .literal = strchr(text, '*') == NULL};
}

static void add_override(laju_policy *policy, const char *key, uint64_t limit, int64_t period_us) {
  size_t count = policy->override_count++;
  policy->overrides = realloc(policy->overrides, (count + 1) * sizeof *policy->overrides);
  assert_non_null(policy->overrides);
  laju_override *added = &policy->overrides[count];
  const char *name = policy->rule.name;
  added->key = pattern_of(key);
  assert_int_equal(laju_rule_init(&added->rule, name, strlen(name), LAJU_FIXED_WINDOW, limit, period_us, 0), 0);
}

static void add_exempt_key(laju_policy *policy, const char *key) {
  size_t count = policy->exempt_key_count++;
  policy->exempt_keys = realloc(policy->exempt_keys, (count + 1) * sizeof *policy->exempt_keys);
  assert_non_null(policy->exempt_keys);
  policy->exempt_keys[count] = pattern_of(key);
}

static laju_ruleset *set_of(laju_policy *policies, size_t count) {
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, policies, count), 0);
  return rules;
}

static const laju_rule *rule_for(const laju_ruleset *rules, size_t i, const char *key) {
  return laju_ruleset_rule(rules, laju_ruleset_at(rules, i), key, strlen(key));
}

static void an_exact_key_comes_before_any_pattern_and_then_the_first_pattern(void **unused) {
  (void)unused;
  laju_policy api = policy_named("api");
  add_override(&api, "team-*", 20, 1000000);
  add_override(&api, "team-1*", 30, 1000000);
  add_override(&api, "team-12", 40, 1000000);
  add_override(&api, "team-12", 50, 1000000);
  laju_ruleset *rules = set_of(&api, 1);
  assert_int_equal(rule_for(rules, 0, "team-12")->limit, 40);
  assert_int_equal(rule_for(rules, 0, "team-13")->limit, 20);
  assert_int_equal(rule_for(rules, 0, "team-")->limit, 20);
  assert_int_equal(rule_for(rules, 0, "tea")->limit, 10);
  laju_ruleset_free(rules);
}

static void an_override_is_its_own_rules_alone(void **unused) {
  (void)unused;
  laju_policy both[] = {policy_named("a"), policy_named("b"), policy_named("c")};
  add_override(&both[0], "k", 20, 1000000);
  add_override(&both[1], "k", 30, 1000000);
  laju_ruleset *rules = set_of(both, 3);
  assert_int_equal(rule_for(rules, 0, "k")->limit, 20);
  assert_int_equal(rule_for(rules, 1, "k")->limit, 30);
  assert_int_equal(rule_for(rules, 2, "k")->limit, 10);
  laju_ruleset_free(rules);
}

static void another_period_is_another_state_and_another_limit_is_not(void **unused) {
  (void)unused;
  laju_policy api = policy_named("api");
  add_override(&api, "more", 1000, 1000000);
  add_override(&api, "slower", 10, 60000000);
  laju_ruleset *rules = set_of(&api, 1);
  const laju_rule *own = &laju_ruleset_at(rules, 0)->rule;
  assert_memory_equal(rule_for(rules, 0, "more")->id, own->id, sizeof own->id);
  assert_memory_not_equal(rule_for(rules, 0, "slower")->id, own->id, sizeof own->id);
  laju_ruleset_free(rules);
}

static uint32_t cost_of(const laju_ruleset *rules, size_t i, const char *key) {
  uint32_t said = 3, cost;
  laju_ruleset_resolve(rules, laju_ruleset_at(rules, i), key, strlen(key), &said, &cost);
  return cost;
}

static void a_check_that_says_no_cost_has_its_overrides(void **unused) {
  (void)unused;
  laju_policy api = policy_named("api");
  api.rule.cost = 2;
  add_override(&api, "dear", 10, 1000000);
  api.overrides[0].rule.cost = 5;
  laju_ruleset *rules = set_of(&api, 1);
  const laju_policy *policy = laju_ruleset_at(rules, 0);
  uint32_t cost;
  laju_ruleset_resolve(rules, policy, "dear", 4, NULL, &cost);
  assert_int_equal(cost, 5);
  laju_ruleset_resolve(rules, policy, "others", 6, NULL, &cost);
  assert_int_equal(cost, 2);
  assert_int_equal(cost_of(rules, 0, "dear"), 3);
  laju_ruleset_free(rules);
}

static void an_exempt_key_is_only_looked_at(void **unused) {
  (void)unused;
  laju_policy both[] = {policy_named("a"), policy_named("b")};
  add_exempt_key(&both[0], "health");
  add_exempt_key(&both[0], "probe-*");
  laju_ruleset *rules = set_of(both, 2);
  assert_int_equal(cost_of(rules, 0, "health"), 0);
  assert_int_equal(cost_of(rules, 0, "probe-7"), 0);
  assert_int_equal(cost_of(rules, 0, "healthy"), 3);
  assert_int_equal(cost_of(rules, 1, "health"), 3);
  laju_ruleset_free(rules);
}

static bool exempts(const laju_policy *policy, const char *address) {
  laju_ip ip;
  assert_int_equal(laju_ip_parse(address, strlen(address), &ip), 0);
  return laju_policy_exempts_address(policy, &ip);
}

static void an_address_in_an_exempt_network_is_exempt_in_either_form(void **unused) {
  (void)unused;
  laju_network networks[2];
  assert_int_equal(laju_network_parse("10.0.0.0/8", 10, &networks[0]), 0);
  assert_int_equal(laju_network_parse("2001:db8::/32", 13, &networks[1]), 0);
  laju_policy api = policy_named("api");
  api.exempt_networks = networks;
  api.exempt_network_count = 2;
  assert_true(exempts(&api, "10.1.2.3"));
  assert_true(exempts(&api, "::ffff:10.1.2.3"));
  assert_true(exempts(&api, "2001:db8::1"));
  assert_false(exempts(&api, "11.0.0.1"));
  assert_false(exempts(&api, "2001:db9::1"));
}

static void ten_thousand_overrides_are_all_found(void **unused) {
  (void)unused;
  laju_policy api = policy_named("api");
  api.overrides = calloc(LAJU_OVERRIDES_MAX, sizeof *api.overrides);
  assert_non_null(api.overrides);
  for (size_t i = 0; i < LAJU_OVERRIDES_MAX; i++) {
    char key[32];
    snprintf(key, sizeof key, i % 2 == 0 ? "user-%zu" : "team-%zu-*", i);
    api.overrides[i].key = pattern_of(key);
    api.overrides[i].rule = api.rule;
    api.overrides[i].rule.limit = (uint32_t)i;
  }
  api.override_count = LAJU_OVERRIDES_MAX;
  laju_ruleset *rules = set_of(&api, 1);
  for (size_t i = 0; i < LAJU_OVERRIDES_MAX; i++) {
    char key[32];
    snprintf(key, sizeof key, i % 2 == 0 ? "user-%zu" : "team-%zu-x", i);
    assert_int_equal(rule_for(rules, 0, key)->limit, i);
  }
  laju_ruleset_free(rules);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rule_is_found_by_its_exact_name),
      cmocka_unit_test(a_name_longer_than_any_rule_is_not_read_past_its_end),
      cmocka_unit_test(a_name_with_zeros_behind_it_is_another_name),
      cmocka_unit_test(two_rules_of_one_name_are_refused),
      cmocka_unit_test(no_rules_is_a_ruleset_too),
      cmocka_unit_test(ten_thousand_rules_are_all_found_and_one_more_is_refused),
      cmocka_unit_test(an_exact_key_comes_before_any_pattern_and_then_the_first_pattern),
      cmocka_unit_test(an_override_is_its_own_rules_alone),
      cmocka_unit_test(another_period_is_another_state_and_another_limit_is_not),
      cmocka_unit_test(a_check_that_says_no_cost_has_its_overrides),
      cmocka_unit_test(an_exempt_key_is_only_looked_at),
      cmocka_unit_test(an_address_in_an_exempt_network_is_exempt_in_either_form),
      cmocka_unit_test(ten_thousand_overrides_are_all_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
