#include "config/yaml_fixture.h"

#include "core/rule.h"

/* Refused with a message that begins so, and nothing is changed. */
static void refused(const char *text, const char *beginning) {
  char why[LAJU_WHY_SIZE] = "";
  size_t before = config.rule_count;
  assert_int_equal(laju_config_parse(&config, "laju.yaml", text, strlen(text), why), -1);
  assert_null(strchr(why, '\n'));
  if (strncmp(why, beginning, strlen(beginning)) != 0) assert_string_equal(why, beginning);
  assert_int_equal(config.rule_count, before);
}

static void every_member_is_read(void **unused) {
  (void)unused;
  accepted(
      "rules:\n"
      "- name: api\n"
      "  match: {host: api.example.com, path: /api/*, method: [GET, POST]}\n"
      "  key: [header:X-User-Id, ip]\n"
      "  missing: shared\n"
      "  secret: true\n"
      "  algorithm: leaky-bucket\n"
      "  limit: 100\n"
      "  per: 1m\n"
      "  shadow: true\n"
      "  wait: server\n"
      "  mode: embedded\n"
      "  on_store_error: local\n"
      "  group: [host, header:X-Tenant]\n"
      "  exempt: [10.0.0.0/8, 'key:health']\n"
      "  overrides: [{key: partner-7, limit: 1000}, {key: team-*, limit: 500, per: 10s, burst: 50, cost: 2}]\n");
  const laju_policy *api = &config.rules[0];
  assert_false(api->match.none);
  assert_string_equal(api->match.hosts[0].text, "api.example.com");
  assert_string_equal(api->match.paths[0].text, "/api/*");
  assert_int_equal(api->match.method_count, 2);
  assert_int_equal(api->part_count, 2);
  assert_string_equal(api->parts[0].name, "x-user-id");
  assert_int_equal(api->missing, LAJU_MISSING_SHARED);
  assert_true(api->secret && api->wait_server && api->rule.shadow);
  assert_true(api->mode_given && api->on_store_error_given);
  assert_int_equal(api->rule.mode, LAJU_EMBEDDED);
  assert_int_equal(api->rule.on_store_error, LAJU_STORE_ERROR_LOCAL);
  assert_true(api->rule.secret && api->rule.grouped);
  assert_int_equal(api->group_count, 2);
  assert_int_equal(api->group_parts[0].kind, LAJU_PART_HOST);
  assert_string_equal(api->group_parts[1].name, "x-tenant");
  assert_int_equal(api->exempt_network_count, 1);
  assert_int_equal(api->exempt_key_count, 1);
  assert_int_equal(api->override_count, 2);
}

static void what_is_left_out_has_its_default(void **unused) {
  (void)unused;
  accepted("rules: [{name: a, limit: 5, per: 1m}]");
  const laju_policy *a = &config.rules[0];
  assert_false(a->match.none);
  assert_int_equal(a->match.host_count + a->match.path_count + a->match.method_count, 0);
  assert_int_equal(a->part_count, 1);
  assert_int_equal(a->parts[0].kind, LAJU_PART_IP);
  assert_int_equal(a->missing, LAJU_MISSING_IP);
  assert_false(a->secret || a->wait_server || a->rule.shadow);
  assert_false(a->mode_given || a->on_store_error_given || a->rule.secret || a->rule.grouped);
  assert_int_equal(a->rule.on_store_error, LAJU_STORE_ERROR_ALLOW);
  assert_int_equal(a->group_count, 0);
  assert_int_equal(a->exempt_network_count + a->exempt_key_count + a->override_count, 0);
}

static void a_list_of_one_may_be_written_as_one(void **unused) {
  (void)unused;
  accepted("rules: [{name: a, limit: 5, per: 1m, match: {host: [b], method: PUT}, key: path, exempt: 192.0.2.1}]");
  const laju_policy *a = &config.rules[0];
  assert_int_equal(a->match.host_count, 1);
  assert_string_equal(a->match.methods[0], "PUT");
  assert_int_equal(a->part_count, 1);
  assert_int_equal(a->parts[0].kind, LAJU_PART_PATH);
  assert_int_equal(a->exempt_network_count, 1);
}

static void match_none_leaves_a_rule_to_those_who_name_it(void **unused) {
  (void)unused;
  accepted("rules: [{name: a, limit: 5, per: 1m, match: none}]");
  assert_true(config.rules[0].match.none);
  refused("rules: [{name: a, limit: 5, per: 1m, match: nothing}]",
          "laju.yaml:1:45: rules[0].match: \"nothing\" is not a match;");
  refused(
      "rules: [{name: a, limit: 5, per: 1m, match: None}]",
      "laju.yaml:1:45: rules[0].match: \"None\" is not a match; did you mean \"none\"? allowed: none, or a mapping");
  refused("rules: [{name: a, limit: 5, per: 1m, match: [a]}]",
          "laju.yaml:1:45: rules[0].match: is not a mapping; allowed: none, or a mapping of host, path and method");
  refused("rules: [{name: a, limit: 5, per: 1m, match: }]", "laju.yaml:1:45: rules[0].match: \"\" is not a match;");
}

static void each_fault_is_named_with_its_place(void **unused) {
  (void)unused;
  refused("rules:\n- name: a\n  match:\n    host: [a, 'b:1']\n",
          "laju.yaml:4:15: rules[0].match.host[1]: \"b:1\" has a port; did you mean \"b\"?");
  refused("rules: [{name: a, match: {pth: x}}]",
          "laju.yaml:1:27: rules[0].match.pth: unknown key; did you mean \"path\"? allowed: host, path, method");
  refused("rules: [{name: a, match: {path: x, path: y}}]", "laju.yaml:1:33: rules[0].match.path: \"x\" does not begin");
  refused("rules: [{name: a, match: {path: /x, path: /y}}]",
          "laju.yaml:1:37: rules[0].match.path: is given twice; the first is in line 1");
  refused("rules: [{name: a, key: [ip, [ip]]}]", "laju.yaml:1:29: rules[0].key[1]: is a list; allowed: one value");
  refused("rules: [{name: a, key: {ip: x}}]", "laju.yaml:1:24: rules[0].key: is a mapping; allowed: one value");
  refused("rules: [{name: a, key: [header: x]}]", "laju.yaml:1:25: rules[0].key[0]: is a mapping; allowed: one value");
  refused("rules: [{name: a, missing: no}]", "laju.yaml:1:28: rules[0].missing: \"no\" is not known here;");
  refused("rules: [{name: a, secret: 'true'}]", "laju.yaml:1:27: rules[0].secret: \"true\" is text; write it without");
  refused("rules: [{name: a, shadow: yes}]",
          "laju.yaml:1:27: rules[0].shadow: \"yes\" is neither; did you mean \"true\"? allowed: true or false");
  refused("rules: [{name: a, wait: client}]", "laju.yaml:1:25: rules[0].wait: \"client\" is not known here; allowed: ");
  refused(
      "rules: [{name: a, mode: exactly}]",
      "laju.yaml:1:25: rules[0].mode: \"exactly\" is not known here; did you mean \"exact\"? allowed: embedded, exact");
  refused(
      "rules: [{name: a, on_store_error: open}]",
      "laju.yaml:1:35: rules[0].on_store_error: \"open\" is not known here; did you mean \"allow\"? allowed: allow, deny, local");
  refused("rules: [{name: a, group: [ip, tenant]}]", "laju.yaml:1:31: rules[0].group[1]: \"tenant\" is not a part");
  refused("rules: [{name: a, group: []}]", "laju.yaml:1:26: rules[0].group: is an empty list; leave it out");
  refused("rules: [{name: a, exempt: [1.1.1.1, 1.2.3]}]",
          "laju.yaml:1:37: rules[0].exempt[1]: \"1.2.3\" is not an address");
  refused("rules: [{name: a, exempt: *a}]", "laju.yaml:1:27: anchors (&) and aliases (*) are not taken;");
}

static void an_empty_list_says_nothing_and_is_refused_where_it_would_mean_all(void **unused) {
  (void)unused;
  refused("rules: [{name: a, key: []}]",
          "laju.yaml:1:24: rules[0].key: is an empty list; leave it out for its default");
  refused("rules: [{name: a, match: {path: []}}]", "laju.yaml:1:33: rules[0].match.path: is an empty list;");
  accepted("rules: [{name: a, limit: 1, per: 1s, exempt: [], overrides: [], match: {}}]");
}

static void answers_are_held_back_by_a_queue_alone_and_not_for_long(void **unused) {
  (void)unused;
  refused("rules: [{name: a, limit: 1, per: 1s, wait: server}]",
          "laju.yaml:1:44: rules[0].wait: is not for sliding-window-counter; allowed: with leaky-bucket only");
  refused("rules: [{wait: server, name: a, limit: 1, per: 1s, algorithm: leaky-bucket, burst: 61}]",
          "laju.yaml:1:16: rules[0].wait: a full queue would take longer than an answer is held back");
  refused(
      "rules:\n- {name: a, limit: 1, per: 1s, algorithm: leaky-bucket, wait: server,\n   overrides: [{key: b, limit: 61, per: 1m, "
      "burst: 62}]}",
      "laju.yaml:3:32: rules[0].overrides[0].limit: a full queue would take longer");
}

/* ---- overrides ---- */

static const laju_override *override_at(size_t j) {
  return &config.rules[0].overrides[j];
}

static void an_override_differs_in_what_it_says_alone(void **unused) {
  (void)unused;
  accepted(
      "rules:\n"
      "- overrides: [{key: a, limit: 7}, {limit: 8, key: 'b*', per: 1h}, {key: c, limit: 9, burst: 3, cost: 4}]\n"
      "  name: api\n"
      "  algorithm: token-bucket\n"
      "  limit: 5\n"
      "  per: 1m\n"
      "  burst: 10\n"
      "  cost: 2\n"
      "  shadow: true\n");
  const laju_rule *own = &config.rules[0].rule, *a = &override_at(0)->rule, *b = &override_at(1)->rule,
                  *c = &override_at(2)->rule;
  assert_string_equal(override_at(0)->key.text, "a");
  assert_string_equal(a->name, "api");
  assert_int_equal(a->algorithm, LAJU_TOKEN_BUCKET);
  assert_int_equal(a->limit, 7);
  assert_int_equal(a->capacity, 7); /* the override's limit, not the rule's burst */
  assert_int_equal(a->cost, 2);
  assert_true(a->shadow);
  assert_memory_equal(a->id, own->id, sizeof own->id);
  assert_int_equal(laju_rule_period_us(b), INT64_C(3600000000));
  assert_memory_not_equal(b->id, own->id, sizeof own->id);
  assert_int_equal(c->capacity, 3);
  assert_int_equal(c->cost, 4);
}

static void an_override_needs_a_key_and_a_limit(void **unused) {
  (void)unused;
  refused("rules: [{name: a, overrides: [{limit: 1}]}]",
          "laju.yaml:1:31: rules[0].overrides[0].key: is missing; allowed: a key, or a pattern");
  refused("rules: [{name: a, overrides: [{key: x, limit: 1}, {key: a}]}]",
          "laju.yaml:1:51: rules[0].overrides[1].limit: is missing; allowed: 0 to 4294967295");
  refused("rules: [{name: a, overrides: [{key: , limit: 1}]}]", "laju.yaml:1:37: rules[0].overrides[0].key: is empty;");
}

static void an_overrides_faults_are_named_with_their_place(void **unused) {
  (void)unused;
  refused("rules: [{name: a, overrides: [{key: a, limt: 1}]}]",
          "laju.yaml:1:40: rules[0].overrides[0].limt: unknown key; did you mean \"limit\"? allowed: key, limit, per, "
          "burst, cost");
  refused("rules: [{name: a, overrides: [{key: a, limit: 1, algorithm: token-bucket}]}]",
          "laju.yaml:1:50: rules[0].overrides[0].algorithm: unknown key;");
  refused("rules: [{name: a, overrides: {key: a}}]",
          "laju.yaml:1:30: rules[0].overrides: is not a list; allowed: [{key");
  refused("rules: [{name: a, overrides: [a]}]",
          "laju.yaml:1:31: rules[0].overrides[0]: is not a mapping; allowed: {key: partner-7, limit: 1000}");
  refused("rules: [{name: a, overrides: [{key: a, limit: '1'}]}]",
          "laju.yaml:1:47: rules[0].overrides[0].limit: \"1\" is text; write it without quotes");
  refused("rules: [{name: a, overrides: [{key: a, limit: 1, per: 10}]}]",
          "laju.yaml:1:55: rules[0].overrides[0].per: \"10\" has no unit; did you mean \"10s\"?");
  refused("rules: [{name: a, overrides: [{key: a, limit: 1, per: 2000001us}], limit: 1, per: 1s}]",
          "laju.yaml:1:55: rules[0].overrides[0].per: \"2000001us\" is divided by no tick");
  refused("rules: [{name: a, overrides: [{key: a, limit: 1, burst: 2}], limit: 1, per: 1s}]",
          "laju.yaml:1:57: rules[0].overrides[0].burst: is not for sliding-window-counter;");
  refused("rules: [{name: a, algorithm: sliding-window-log, overrides: [{key: a, limit: 65537}], limit: 1, per: 1s}]",
          "laju.yaml:1:78: rules[0].overrides[0].limit: \"65537\" is too many for a sliding-window-log;");
}

static void an_overrides_limit_of_0_refuses_all(void **unused) {
  (void)unused;
  accepted("rules: [{name: a, algorithm: token-bucket, limit: 5, per: 1m, burst: 9, overrides: [{key: b, limit: 0}]}]");
  assert_int_equal(override_at(0)->rule.capacity, 0);
}

static char *overrides_of(size_t count) {
  char *text = malloc(128 + count * 40);
  assert_non_null(text);
  size_t len = (size_t)snprintf(text, 128, "rules:\n- name: a\n  limit: 1\n  per: 1s\n  overrides:\n");
  for (size_t i = 0; i < count; i++) len += (size_t)snprintf(text + len, 40, "  - {key: k%zu, limit: %zu}\n", i, i);
  return text;
}

static void ten_thousand_overrides_are_taken_and_one_more_is_refused(void **unused) {
  (void)unused;
  char *text = overrides_of(LAJU_OVERRIDES_MAX);
  accepted(text);
  assert_int_equal(config.rules[0].override_count, 10000);
  assert_int_equal(override_at(9999)->rule.limit, 9999);
  assert_string_equal(override_at(9999)->key.text, "k9999");
  free(text);
  text = overrides_of(LAJU_OVERRIDES_MAX + 1);
  refused(text, "laju.yaml:10006:5: rules[0].overrides[10000]: too many; allowed: at most 10000");
  free(text);
}

static void a_rule_that_is_refused_late_leaves_nothing_behind(void **unused) {
  (void)unused;
  refused(
      "rules:\n"
      "- {name: a, limit: 1, per: 1s, match: {host: h}, exempt: ['key:x'], overrides: [{key: y, limit: 1}]}\n"
      "- {name: a, limit: 1, per: 1s, match: {host: h}, exempt: ['key:x'], overrides: [{key: y, limit: 1}]}\n",
      "laju.yaml:3:10: rules[1].name: \"a\" is the name of rules[0] already;");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_member_is_read),
      TEST(what_is_left_out_has_its_default),
      TEST(a_list_of_one_may_be_written_as_one),
      TEST(match_none_leaves_a_rule_to_those_who_name_it),
      TEST(each_fault_is_named_with_its_place),
      TEST(an_empty_list_says_nothing_and_is_refused_where_it_would_mean_all),
      TEST(answers_are_held_back_by_a_queue_alone_and_not_for_long),
      TEST(an_override_differs_in_what_it_says_alone),
      TEST(an_override_needs_a_key_and_a_limit),
      TEST(an_overrides_faults_are_named_with_their_place),
      TEST(an_overrides_limit_of_0_refuses_all),
      TEST(ten_thousand_overrides_are_taken_and_one_more_is_refused),
      TEST(a_rule_that_is_refused_late_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
