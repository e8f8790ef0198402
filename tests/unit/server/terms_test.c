#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/terms.h"

static laju_config config;
static laju_terms *terms;

static void given(const char *text) {
  char why[LAJU_WHY_SIZE] = "";
  laju_config_init(&config);
  laju_config_parse(&config, "laju.yaml", text, strlen(text), why);
  assert_string_equal(why, "");
}

static int deinit(void **unused) {
  (void)unused;
  laju_terms_free(terms);
  laju_config_deinit(&config);
  terms = NULL;
  return 0;
}

static void what_a_reload_may_change_is_in_the_terms(void **unused) {
  (void)unused;
  given(
      "trusted_proxies: [10.0.0.0/8]\n"
      "ip_prefix: {v4: 24, v6: 56}\n"
      "headers: {x_ratelimit: false, ratelimit: false, reset: delta}\n"
      "inline_limits: false\n"
      "resp_password: open sesame\n"
      "resp_admin: true\n");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(terms->trusted_count, 1);
  assert_int_equal(terms->trusted[0].prefix, 104);
  assert_false(terms->trust_unix);
  assert_int_equal(terms->ip_prefix_v4, 24);
  assert_int_equal(terms->ip_prefix_v6, 56);
  assert_false(terms->show_x_ratelimit || terms->show_ratelimit);
  assert_true(terms->reset_is_delta);
  assert_false(terms->inline_limits);
  assert_string_equal(terms->resp_password, "open sesame");
  assert_true(terms->resp_admin);
}

static void limits_of_checks_are_exact_where_there_is_a_store_that_can(void **unused) {
  (void)unused;
  given("");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(terms->default_mode, LAJU_EMBEDDED);
  deinit(NULL);
  given("store: {redis: 'redis://127.0.0.1'}");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(terms->default_mode, LAJU_EXACT);
  assert_int_equal(terms->exact_algorithms, 31);
  deinit(NULL);
  given("store: {redis: 'redis://127.0.0.1', atomicity: transaction}");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(terms->exact_algorithms, 1 << LAJU_FIXED_WINDOW | 1 << LAJU_SLIDING_WINDOW_COUNTER);
}

static void without_a_word_the_machines_own_proxies_are_trusted(void **unused) {
  (void)unused;
  given("");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(terms->trusted_count, 2);
  assert_true(terms->trust_unix && terms->show_x_ratelimit && terms->show_ratelimit && terms->inline_limits);
  assert_null(terms->resp_password);
  assert_int_equal(laju_ruleset_count(terms->rules), 0);
}

static void the_rules_go_over_with_all_that_they_own(void **unused) {
  (void)unused;
  given("rules: [{name: a, limit: 1, per: 1s, match: {path: /a}, exempt: ['key:x'], overrides: [{key: y, limit: 7}]}]");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(config.rule_count, 0);
  assert_null(config.rules);
  laju_config_deinit(&config);
  const laju_policy *a = laju_ruleset_find(terms->rules, "a", 1);
  assert_non_null(a);
  assert_string_equal(a->match.paths[0].text, "/a");
  assert_true(laju_ruleset_exempts_key(terms->rules, a, "x", 1));
  assert_int_equal(laju_ruleset_rule(terms->rules, a, "y", 1)->limit, 7);
}

static void a_config_whose_rules_went_over_takes_new_ones(void **unused) {
  (void)unused;
  char why[LAJU_WHY_SIZE];
  given("rules: [{name: a, limit: 1, per: 1s}]");
  assert_int_equal(laju_terms_new(&terms, &config), 0);
  assert_int_equal(laju_config_add_rule(&config, "a=2/1s", why), 0);
  assert_int_equal(config.rule_count, 1);
}

static void where_they_cannot_go_over_they_stay(void **unused) {
  (void)unused;
  given("rules: [{name: a, limit: 1, per: 1s, match: {path: /a}}, {name: b, limit: 1, per: 1s}]");
  config.rules[1].rule.name[0] = 'a';
  assert_int_equal(laju_terms_new(&terms, &config), LAJU_ERR_NAME);
  assert_null(terms);
  assert_int_equal(config.rule_count, 2);
  assert_string_equal(config.rules[0].match.paths[0].text, "/a");
}

#define TEST(name) cmocka_unit_test_teardown(name, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_a_reload_may_change_is_in_the_terms), TEST(without_a_word_the_machines_own_proxies_are_trusted),
      TEST(the_rules_go_over_with_all_that_they_own), TEST(a_config_whose_rules_went_over_takes_new_ones),
      TEST(where_they_cannot_go_over_they_stay),      TEST(limits_of_checks_are_exact_where_there_is_a_store_that_can),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
