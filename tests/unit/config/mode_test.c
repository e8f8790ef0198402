#include "config/yaml_fixture.h"

#include "config/mode.h"

#define STORE "store: {redis: 'redis://h'}\n"
#define TRANSACTION "store: {redis: 'redis://h', atomicity: transaction}\n"
#define A "name: a, limit: 10, per: 1m"

static char why[LAJU_WHY_SIZE];

static void refused(const char *text, const char *message) {
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, strlen(text), why), -1);
  assert_string_equal(why, message);
}

static void a_rule_is_exact_where_there_is_a_store_and_embedded_where_there_is_none(void **state) {
  (void)state;
  accepted("rules: [{" A "}]\n");
  assert_int_equal(config.rules[0].rule.mode, LAJU_EMBEDDED);
  accepted(STORE "rules: [{" A "}]\n");
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
}

static void the_store_may_stand_behind_the_rules(void **state) {
  (void)state;
  accepted("rules: [{" A
           "}, {name: b, limit: 1, per: 1s, mode: embedded}, {name: c, limit: 1, per: 1s, mode: exact}]\n" STORE);
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
  assert_int_equal(config.rules[1].rule.mode, LAJU_EMBEDDED);
  assert_int_equal(config.rules[2].rule.mode, LAJU_EXACT);
}

static void overrides_are_decided_where_their_rule_is(void **state) {
  (void)state;
  accepted("rules: [{" A ", overrides: [{key: k, limit: 2}], secret: true, group: ip, on_store_error: deny}]\n" STORE);
  const laju_rule *override = &config.rules[0].overrides[0].rule;
  assert_int_equal(override->mode, LAJU_EXACT);
  assert_int_equal(override->on_store_error, LAJU_STORE_ERROR_DENY);
  assert_true(override->secret && override->grouped);
  accepted("rules: [{" A ", overrides: [{key: k, limit: 2}], mode: embedded}]\n" STORE);
  override = &config.rules[0].overrides[0].rule;
  assert_int_equal(override->mode, LAJU_EMBEDDED);
  assert_int_equal(override->on_store_error, LAJU_STORE_ERROR_ALLOW);
  assert_false(override->secret || override->grouped);
}

static void rules_of_the_command_line_have_the_default_too(void **state) {
  (void)state;
  accepted(STORE);
  assert_int_equal(laju_config_add_rule(&config, "login=5/1m", why), 0);
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
}

static void a_store_of_the_command_line_makes_rules_of_the_file_exact(void **state) {
  (void)state;
  accepted("rules: [{" A ", overrides: [{key: k, limit: 2}]}, {name: b, limit: 1, per: 1s, mode: embedded}]\n");
  assert_int_equal(laju_config_add_rule(&config, "login=5/1m", why), 0);
  assert_int_equal(laju_config_set(&config, "store.redis", "redis://h", why), 0);
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
  assert_int_equal(config.rules[0].overrides[0].rule.mode, LAJU_EXACT);
  assert_int_equal(config.rules[1].rule.mode, LAJU_EMBEDDED);
  assert_int_equal(config.rules[2].rule.mode, LAJU_EXACT);
}

static void the_rule_that_is_there_by_default_is_exact_with_a_store(void **state) {
  (void)state;
  accepted(STORE);
  assert_int_equal(laju_config_add_default_rule(&config), 0);
  assert_int_equal(config.rules[0].rule.mode, LAJU_EXACT);
}

static void exact_needs_a_store(void **state) {
  (void)state;
  refused(
      "rules:\n  - {name: b, limit: 1, per: 1s}\n  - {" A ", mode: exact}\n",
      "laju.yaml:3:41: rules[1].mode (a): exact needs a store; allowed: embedded, or exact with store: {redis: URL}");
  accepted(STORE "rules: [{" A ", mode: exact}]\n");
  assert_int_equal(laju_config_set(&config, "store.redis", "off", why), 0);
  assert_int_equal(laju_config_verify(&config, why), -1);
  assert_string_equal(why,
                      "rules[0].mode (a): exact needs a store; allowed: embedded, or exact with store: {redis: URL}");
}

static void transactions_decide_the_two_windows_alone(void **state) {
  (void)state;
  accepted(TRANSACTION "rules: [{" A ", algorithm: fixed-window}, {name: b, limit: 1, per: 1s}]\n");
  accepted(TRANSACTION "rules: [{" A ", algorithm: token-bucket, mode: embedded}]\n");
  refused(TRANSACTION "rules: [{" A ", algorithm: token-bucket}]\n",
          "laju.yaml:2:9: rules[0].mode (a): exact token-bucket cannot be decided with atomicity: transaction; "
          "allowed: embedded, algorithm fixed-window or sliding-window-counter, or atomicity: script");
  refused("rules: [{" A ", algorithm: sliding-window-log, mode: exact}]\n" TRANSACTION,
          "laju.yaml:1:76: rules[0].mode (a): exact sliding-window-log cannot be decided with atomicity: transaction; "
          "allowed: embedded, algorithm fixed-window or sliding-window-counter, or atomicity: script");
}

static void a_store_can_all_five_by_scripts_and_two_by_transactions(void **state) {
  (void)state;
  laju_config_store *store = &config.store;
  assert_false(laju_config_store_can(store, LAJU_FIXED_WINDOW));
  assert_int_equal(laju_config_set(&config, "store.redis", "redis://h", why), 0);
  for (int i = 0; i < LAJU_ALGORITHMS; i++) assert_true(laju_config_store_can(store, (laju_algorithm)i));
  store->transaction = true;
  assert_true(laju_config_store_can(store, LAJU_FIXED_WINDOW));
  assert_true(laju_config_store_can(store, LAJU_SLIDING_WINDOW_COUNTER));
  assert_false(laju_config_store_can(store, LAJU_SLIDING_WINDOW_LOG));
  assert_false(laju_config_store_can(store, LAJU_TOKEN_BUCKET));
  assert_false(laju_config_store_can(store, LAJU_LEAKY_BUCKET));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_rule_is_exact_where_there_is_a_store_and_embedded_where_there_is_none, init,
                                      deinit),
      cmocka_unit_test_setup_teardown(the_store_may_stand_behind_the_rules, init, deinit),
      cmocka_unit_test_setup_teardown(overrides_are_decided_where_their_rule_is, init, deinit),
      cmocka_unit_test_setup_teardown(rules_of_the_command_line_have_the_default_too, init, deinit),
      cmocka_unit_test_setup_teardown(a_store_of_the_command_line_makes_rules_of_the_file_exact, init, deinit),
      cmocka_unit_test_setup_teardown(the_rule_that_is_there_by_default_is_exact_with_a_store, init, deinit),
      cmocka_unit_test_setup_teardown(exact_needs_a_store, init, deinit),
      cmocka_unit_test_setup_teardown(transactions_decide_the_two_windows_alone, init, deinit),
      cmocka_unit_test_setup_teardown(a_store_can_all_five_by_scripts_and_two_by_transactions, init, deinit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
