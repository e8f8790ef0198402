#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "replay/replay.h"

#define SECOND INT64_C(1000000)
#define AT (INT64_C(1790000000) * SECOND)

static laju_replay *replay;
static const laju_replay_tally *tally;
static laju_access access;

static void begin_with(const char *yaml, const char *host, bool history) {
  laju_config config;
  char why[LAJU_WHY_SIZE];
  laju_config_init(&config);
  if (laju_config_parse(&config, "test", yaml, strlen(yaml), why) < 0) fail_msg("%s", why);
  assert_int_equal(laju_replay_new(&replay, &config, host, history), 0);
  laju_config_deinit(&config);
  tally = laju_replay_tally_of(replay);
}

static void begin(const char *rules) {
  char yaml[2048];
  int len = snprintf(yaml, sizeof yaml, "memory: 1MiB\nrules:\n%s", rules);
  assert_in_range(len, 1, sizeof yaml - 1);
  begin_with(yaml, NULL, false);
}

static void finish(void) {
  laju_replay_free(replay);
}

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

static void from(const char *address, int64_t time_us, const char *method, const char *target) {
  access = (laju_access){.time_us = time_us, .addressed = true, .method = slice(method), .target = slice(target)};
  access.host = slice("");
  assert_int_equal(laju_ip_parse(address, strlen(address), &access.client), 0);
}

static void header(const char *name, const char *value) {
  access.headers[access.header_count++] = (laju_access_header){slice(name), slice(value)};
}

static void add(void) {
  assert_true(laju_replay_add(replay, &access));
}

static void visits(const char *address, int64_t time_us, const char *target) {
  from(address, time_us, "GET", target);
  add();
}

static void totals(uint64_t requests, uint64_t admitted, uint64_t refused) {
  laju_replay_finish(replay);
  assert_int_equal(tally->requests, requests);
  assert_int_equal(tally->admitted, admitted);
  assert_int_equal(tally->refused, refused);
}

static void rule_is(size_t i, uint64_t checks, uint64_t admitted, uint64_t refused) {
  assert_int_equal(tally->rules[i].checks, checks);
  assert_int_equal(tally->rules[i].admitted, admitted);
  assert_int_equal(tally->rules[i].refused, refused);
}

static void the_third_of_two_is_refused_until_the_period_is_over(void **state) {
  (void)state;
  begin("- {name: r, algorithm: fixed-window, limit: 2, per: 10s}\n");
  for (int i = 0; i < 3; i++) visits("192.0.2.1", AT + i, "/");
  visits("192.0.2.2", AT + 3, "/");
  visits("192.0.2.1", AT + 10 * SECOND, "/");
  totals(5, 4, 1);
  rule_is(0, 5, 4, 1);
  assert_int_equal(tally->rules[0].first_refused_us, AT + 2);
  assert_int_equal(tally->rules[0].keys_refused, 1);
  assert_int_equal(tally->from_us, AT);
  assert_int_equal(tally->to_us, AT + 10 * SECOND);
  assert_memory_equal(tally->refused_keys.entries[0].key, "192.0.2.1", 9);
  finish();
}

static void of_several_rules_all_are_charged_or_none(void **state) {
  (void)state;
  begin(
      "- {name: all, algorithm: fixed-window, limit: 3, per: 1d}\n"
      "- {name: login, match: {path: /login}, algorithm: fixed-window, limit: 1, per: 1d}\n");
  visits("192.0.2.1", AT, "/login");
  visits("192.0.2.1", AT, "/login"); /* refused by login: all is not charged */
  visits("192.0.2.1", AT, "/");
  visits("192.0.2.1", AT, "/");
  visits("192.0.2.1", AT, "/");
  totals(5, 3, 2);
  rule_is(0, 5, 4, 1); /* each by its own decision */
  rule_is(1, 2, 1, 1);
  finish();
}

static void a_shadow_rule_refuses_nothing_and_is_counted(void **state) {
  (void)state;
  begin("- {name: r, limit: 1, per: 1d, shadow: true}\n");
  visits("192.0.2.1", AT, "/");
  visits("192.0.2.1", AT, "/");
  totals(2, 2, 0);
  rule_is(0, 2, 1, 1);
  assert_int_equal(tally->timeline.steps[0].refused, 0);
  finish();
}

static void a_request_under_no_rule_is_admitted(void **state) {
  (void)state;
  begin("- {name: r, match: {path: /api/*}, limit: 0, per: 1d}\n");
  visits("192.0.2.1", AT, "/other");
  visits("192.0.2.1", AT, "/x/../%61pi//y"); /* is /api/y */
  totals(2, 1, 1);
  assert_int_equal(tally->unmatched, 1);
  finish();
}

static void hosts_and_methods_match_as_at_the_door(void **state) {
  (void)state;
  begin_with("memory: 1MiB\nrules:\n- {name: r, match: {host: api.example.com, method: POST}, limit: 0, per: 1d}\n",
             "API.example.com:443", false);
  from("192.0.2.1", AT, "POST", "/");
  add(); /* no host: it is --host's */
  access.host = slice("api.example.com.:80");
  add();
  access.host = slice("other.example.com");
  add();
  access.target = slice("http://api.example.com/x"); /* its own host goes before */
  add();
  access.method = slice("post");
  add();
  totals(5, 2, 3);
  finish();
}

static void overrides_exemptions_and_costs_count(void **state) {
  (void)state;
  begin(
      "- {name: r, algorithm: token-bucket, limit: 10, per: 1d, cost: 5, exempt: [192.0.2.9],\n"
      "   overrides: [{key: 192.0.2.2, limit: 5}]}\n");
  for (int i = 0; i < 3; i++) visits("192.0.2.1", AT, "/"); /* two pass */
  for (int i = 0; i < 2; i++) visits("192.0.2.2", AT, "/"); /* one does */
  for (int i = 0; i < 9; i++) visits("192.0.2.9", AT, "/");
  totals(14, 12, 2);
  rule_is(0, 14, 12, 2);
  assert_int_equal(tally->rules[0].keys_refused, 2);
  finish();
}

static void headers_of_the_log_make_keys(void **state) {
  (void)state;
  begin("- {name: r, key: [header:X-Key, cookie:s], missing: skip, algorithm: fixed-window, limit: 1, per: 1d}\n");
  for (int i = 0; i < 2; i++) {
    from("192.0.2.1", AT, "GET", "/");
    header("x-key", "k");
    header("Cookie", "a=b; s=1");
    add();
  }
  visits("192.0.2.1", AT, "/"); /* has neither: the rule does not apply */
  totals(3, 2, 1);
  assert_int_equal(tally->unmatched, 1);
  assert_memory_equal(tally->refused_keys.entries[0].key, "k:1", 3);
  finish();
}

static void what_is_missing_may_be_denied(void **state) {
  (void)state;
  begin("- {name: r, key: header:x-key, missing: deny, limit: 5, per: 1d}\n");
  visits("192.0.2.1", AT, "/");
  totals(1, 0, 1);
  rule_is(0, 0, 0, 0);
  assert_int_equal(tally->rules[0].missing, 1);
  finish();
}

static void a_trusted_proxys_forwarding_header_tells_the_client(void **state) {
  (void)state;
  begin_with("memory: 1MiB\ntrusted_proxies: [10.0.0.0/8]\nrules: [{name: r, limit: 0, per: 1d}]\n", NULL, false);
  from("10.1.2.3", AT, "GET", "/");
  header("x-forwarded-for", "203.0.113.9, 198.51.100.7, 10.0.0.1");
  add();
  from("192.0.2.1", AT, "GET", "/");
  header("x-forwarded-for", "203.0.113.9");
  add();
  laju_replay_finish(replay);
  const laju_refused *refused = &tally->refused_keys;
  assert_int_equal(refused->count, 2);
  assert_memory_equal(refused->entries[0].key, "192.0.2.1", 9);
  assert_memory_equal(refused->entries[1].key, "198.51.100.7", 12);
  finish();
}

static void a_client_of_a_unix_socket_has_no_address(void **state) {
  (void)state;
  begin("- {name: r, limit: 0, per: 1d}\n");
  from("192.0.2.1", AT, "GET", "/");
  access.addressed = false;
  add();
  laju_replay_finish(replay);
  assert_memory_equal(tally->refused_keys.entries[0].key, "unix", 4);
  finish();
}

static void more_than_16_rules_are_an_error_as_at_the_door(void **state) {
  (void)state;
  char rules[2048] = "", line[64];
  for (int i = 0; i < 17; i++) {
    snprintf(line, sizeof line, "- {name: r%d, limit: 1, per: 1d}\n", i);
    strncat(rules, line, sizeof rules - strlen(rules) - 1);
  }
  begin(rules);
  visits("192.0.2.1", AT, "/");
  totals(1, 0, 1);
  assert_int_equal(tally->crowded, 1);
  finish();
}

static void a_late_line_is_decided_at_the_latest_time(void **state) {
  (void)state;
  begin("- {name: r, algorithm: fixed-window, limit: 1, per: 1s}\n");
  visits("192.0.2.1", AT + 5 * SECOND, "/");
  visits("192.0.2.1", AT + 3 * SECOND, "/"); /* within the second of the one before */
  visits("192.0.2.1", AT + 6 * SECOND, "/");
  totals(3, 2, 1);
  assert_int_equal(tally->late, 1);
  assert_int_equal(tally->late_max_us, 2 * SECOND);
  finish();
}

static void a_line_of_more_than_an_hour_before_is_not_replayed(void **state) {
  (void)state;
  begin("- {name: r, limit: 1, per: 1s}\n");
  visits("192.0.2.1", AT, "/");
  visits("192.0.2.2", AT - 3600 * SECOND, "/");
  from("192.0.2.3", AT - 3600 * SECOND - 1, "GET", "/");
  assert_false(laju_replay_add(replay, &access));
  totals(2, 2, 0);
  finish();
}

static void a_thousand_at_one_time_are_all_decided(void **state) {
  (void)state;
  begin("- {name: r, algorithm: fixed-window, limit: 300, per: 1d}\n");
  for (int i = 0; i < 1000; i++) visits("192.0.2.1", AT, "/");
  totals(1000, 300, 700);
  assert_int_equal(tally->timeline.worst.refused, 700);
  finish();
}

static void history_has_what_the_rules_numbers_decided(void **state) {
  (void)state;
  begin_with(
      "memory: 1MiB\nrules:\n- {name: r, limit: 10, per: 1d, exempt: [192.0.2.9],\n"
      "   overrides: [{key: 192.0.2.2, limit: 5}]}\n",
      NULL, true);
  visits("192.0.2.1", AT, "/");
  visits("192.0.2.2", AT, "/");
  visits("192.0.2.9", AT, "/");
  visits("192.0.2.1", AT + 1, "/");
  laju_replay_finish(replay);
  assert_int_equal(laju_replay_history(replay)->key_count, 1);
  assert_int_equal(laju_replay_history(replay)->word_count, 8);
  finish();
}

static void a_table_that_is_too_small_tells_whom_it_forgot(void **state) {
  (void)state;
  char address[32];
  begin("- {name: r, limit: 1, per: 1d}\n");
  for (int i = 0; i < 200000; i++) {
    snprintf(address, sizeof address, "10.%d.%d.%d", i >> 16, i >> 8 & 255, i & 255);
    visits(address, AT, "/");
  }
  totals(200000, 200000, 0);
  assert_true(tally->table.evicted_used > 100000);
  finish();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_third_of_two_is_refused_until_the_period_is_over),
      cmocka_unit_test(of_several_rules_all_are_charged_or_none),
      cmocka_unit_test(a_shadow_rule_refuses_nothing_and_is_counted),
      cmocka_unit_test(a_request_under_no_rule_is_admitted),
      cmocka_unit_test(hosts_and_methods_match_as_at_the_door),
      cmocka_unit_test(overrides_exemptions_and_costs_count),
      cmocka_unit_test(headers_of_the_log_make_keys),
      cmocka_unit_test(what_is_missing_may_be_denied),
      cmocka_unit_test(a_trusted_proxys_forwarding_header_tells_the_client),
      cmocka_unit_test(a_client_of_a_unix_socket_has_no_address),
      cmocka_unit_test(more_than_16_rules_are_an_error_as_at_the_door),
      cmocka_unit_test(a_late_line_is_decided_at_the_latest_time),
      cmocka_unit_test(a_line_of_more_than_an_hour_before_is_not_replayed),
      cmocka_unit_test(a_thousand_at_one_time_are_all_decided),
      cmocka_unit_test(history_has_what_the_rules_numbers_decided),
      cmocka_unit_test(a_table_that_is_too_small_tells_whom_it_forgot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
