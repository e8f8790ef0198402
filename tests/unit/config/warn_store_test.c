#include "config/yaml_fixture.h"

static char told[LAJU_CONFIG_WARNINGS_MAX + 1][LAJU_WHY_SIZE];
static size_t told_count;

static void tell(void *context, const char *warning) {
  (void)context;
  snprintf(told[told_count++], LAJU_WHY_SIZE, "%s", warning);
}

static size_t warnings(const char *text) {
  accepted(text);
  told_count = 0;
  return laju_config_warn(&config, tell, NULL);
}

static void silent(const char *text) {
  if (warnings(text) != 0) assert_string_equal(told[0], "");
}

static void warned(const char *text, const char *warning) {
  assert_int_equal(warnings(text), 1);
  assert_string_equal(told[0], warning);
}

static void an_ordinary_store_is_not_warned_of(void **state) {
  (void)state;
  silent(
      "store: {redis: 'redis://10.0.0.7', timeout: 1s, nodes: 30}\n"
      "rules: [{name: a, limit: 30, per: 1m, on_store_error: local, secret: true}]");
  silent("store: {redis: 'rediss://:p@10.0.0.7'}");
  silent("store: {redis: 'unix:/run/r.sock'}");
}

static void a_long_timeout_is_warned_of(void **state) {
  (void)state;
  warned("store: {redis: 'redis://h', timeout: 2s}",
         "store.timeout: while the store does not answer, checks wait for 2s");
}

static void a_password_in_the_open_is_warned_of(void **state) {
  (void)state;
  silent("store: {redis: 'redis://:p@localhost'}");
  silent("store: {redis: 'redis+cluster://:p@127.0.0.1:7000,[::1]:7001'}");
  warned("store: {redis: 'redis://:p@10.0.0.7'}",
         "store.redis: the password goes to 10.0.0.7 as plain text; rediss:// would encrypt it");
  warned("store: {redis: 'redis+sentinel://:p@127.0.0.1,redis.example.com/main'}",
         "store.redis: the password goes to redis.example.com as plain text; rediss:// would encrypt it");
}

static void a_store_without_its_url_is_warned_of(void **state) {
  (void)state;
  const char *warning = "store: has no redis: URL, so nothing is shared";
  warned("store: {timeout: 20ms}", warning);
  warned("store: {prefix: a}", warning);
  warned("store: {nodes: 2}", warning);
  warned("store: {tls_ca: /c}", warning);
  silent("store: {redis: 'off'}");
}

static void a_limit_that_cannot_be_shared_out_is_warned_of(void **state) {
  (void)state;
  warned(
      "store: {redis: 'redis://h', nodes: 30}\n"
      "rules: [{name: a, limit: 29, per: 1m, on_store_error: local}]",
      "rules[0] (a): limit: 29 is less than the 30 nodes, so that under on_store_error: local they admit up to 30 "
      "together");
  warned(
      "store: {redis: 'redis://h', nodes: 30}\n"
      "rules: [{name: a, limit: 30, per: 1m, on_store_error: local, overrides: [{key: b, limit: 2}]}]",
      "rules[0] (a): overrides[0].limit: 2 is less than the 30 nodes, so that under on_store_error: local they admit "
      "up to 30 together");
  silent(
      "store: {redis: 'redis://h', nodes: 30}\n"
      "rules: [{name: a, limit: 0, per: 1m, on_store_error: local}, {name: b, limit: 2, per: 1m, on_store_error: deny}]");
}

static void what_an_embedded_rule_does_not_use_is_warned_of(void **state) {
  (void)state;
  warned("rules: [{name: a, limit: 1, per: 1m, on_store_error: allow}]",
         "rules[0] (a): on_store_error: is for exact rules, and this one is embedded");
  warned("store: {redis: 'redis+cluster://h'}\nrules: [{name: a, limit: 1, per: 1m, mode: embedded, group: ip}]",
         "rules[0] (a): group: is for exact rules, and this one is embedded");
}

static void a_group_without_a_cluster_is_warned_of(void **state) {
  (void)state;
  warned("store: {redis: 'redis://h'}\nrules: [{name: a, limit: 1, per: 1m, group: ip}]",
         "rules[0] (a): group: is for a cluster, and the store is none");
}

static void rules_that_a_cluster_cannot_take_together_are_warned_of(void **state) {
  (void)state;
  const char *cluster = "store: {redis: 'redis+cluster://h'}\n";
  char text[1024];
  snprintf(text, sizeof text,
           "%srules: [{name: a, limit: 1, per: 1m}, {name: b, limit: 1, per: 1s}, {name: c, limit: 1, per: 1m, key: "
           "'header:x'}]",
           cluster);
  warned(text,
         "rules[2] (c): key: differs from that of rules[0] (a): a request that both match is refused in a cluster, "
         "unless they have one group");
  snprintf(text, sizeof text,
           "%srules: [{name: a, limit: 1, per: 1m, group: host}, {name: b, limit: 1, per: 1m, key: 'header:x', group: "
           "host},"
           " {name: c, limit: 1, per: 1m, key: path, mode: embedded}, {name: d, limit: 1, per: 1m, key: path, match: "
           "none},"
           " {name: e, limit: 1, per: 1m, key: path, shadow: true}]",
           cluster);
  silent(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_ordinary_store_is_not_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(a_long_timeout_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(a_password_in_the_open_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(a_store_without_its_url_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(a_limit_that_cannot_be_shared_out_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(what_an_embedded_rule_does_not_use_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(a_group_without_a_cluster_is_warned_of, init, deinit),
      cmocka_unit_test_setup_teardown(rules_that_a_cluster_cannot_take_together_are_warned_of, init, deinit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
