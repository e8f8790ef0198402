#include "proto/admin_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_admin admin;
static laju_terms terms;
static laju_ruleset *rules;
static laju_rule_names *names;
static laju_ledger *ledgers[2];
static laju_top *tops[2];
static laju_buffer out;

static int make(void **state) {
  static const uint64_t hash_key[2] = {1, 2};
  (void)state;
  laju_policy policies[] = {
      made_policy("login=5/90s token-bucket burst 10 cost 2", "ip header:x-key", "a\"b.example", "/x/*"),
      made_policy("api=3/1m", "ip", NULL, NULL)};
  memcpy(policies[0].match.methods[policies[0].match.method_count++], "GET", 4);
  policies[0].group_parts[policies[0].group_count++] = made_part("cookie:team", 11);
  policies[0].missing = LAJU_MISSING_SKIP;
  policies[1].match.none = true;
  policies[1].rule.shadow = true;
  policies[1].rule.mode = LAJU_EXACT;
  policies[1].rule.on_store_error = LAJU_STORE_ERROR_LOCAL;
  made_exempt(&policies[1], "10.0.0.0/8");
  made_exempt(&policies[1], "key:health");
  made_override(&policies[1], "vip", "api=9/1m");
  names = laju_rule_names_new();
  for (size_t i = 0; i < 2; i++) {
    ledgers[i] = laju_ledger_new();
    tops[i] = laju_top_new(hash_key);
    policies[i].rule.number = laju_rule_names_number(names, policies[i].rule.name);
    policies[i].rule.veils = laju_policy_veils(&policies[i]);
  }
  if (laju_ruleset_new(&rules, policies, 2) < 0 || laju_overlay_new(&admin.overlay) < 0) return -1;
  terms = (laju_terms){.rules = rules, .overlay = admin.overlay};
  admin.ledgers = ledgers;
  admin.tops = tops;
  admin.account_count = 2;
  admin.names = names;
  out = (laju_buffer){0};
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_ruleset_free(rules);
  laju_rule_names_free(names);
  laju_overlay_free(admin.overlay);
  for (size_t i = 0; i < 2; i++) {
    laju_ledger_free(ledgers[i]);
    laju_top_free(tops[i]);
  }
  laju_buffer_deinit(&out);
  return 0;
}

static void is(const char *expected) {
  laju_buffer_add(&out, "", 1);
  assert_string_equal(out.data, expected);
  laju_buffer_clear(&out);
}

static void rules_are_told_whole_and_their_counts_added_up(void **state) {
  (void)state;
  laju_ledger_count(ledgers[0], 1, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledgers[1], 1, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledgers[1], 2, LAJU_VERDICT_SHADOW_DENIED);
  laju_ledger_count(ledgers[1], 0, LAJU_VERDICT_DENIED);
  laju_admin_view_rules(&out, &admin, &terms);
  is("{\"rules\":[{\"name\":\"login\",\"algorithm\":\"token-bucket\",\"limit\":5,\"burst\":10,\"per\":\"90s\",\"per_us\":90000000,"
     "\"cost\":2,\"mode\":\"embedded\",\"on_store_error\":\"allow\",\"shadow\":false,\"secret\":false,"
     "\"match\":{\"none\":false,\"hosts\":[\"a\\\"b.example\"],\"paths\":[\"/x/*\"],\"methods\":[\"GET\"]},"
     "\"key\":[\"ip\",\"header:x-key\"],\"group\":[\"cookie:team\"],\"missing\":\"skip\",\"overrides\":0,\"exempt\":0,"
     "\"counts\":{\"allowed\":2,\"denied\":0,\"shadow_denied\":0,\"error\":0}},"
     "{\"name\":\"api\",\"algorithm\":\"sliding-window-counter\",\"limit\":3,\"burst\":null,\"per\":\"1m\",\"per_us\":60000000,"
     "\"cost\":1,\"mode\":\"exact\",\"on_store_error\":\"local\",\"shadow\":true,\"secret\":false,"
     "\"match\":{\"none\":true,\"hosts\":[],\"paths\":[],\"methods\":[]},\"key\":[\"ip\"],\"group\":[],\"missing\":\"ip\","
     "\"overrides\":1,\"exempt\":2,\"counts\":{\"allowed\":0,\"denied\":0,\"shadow_denied\":1,\"error\":0}}],"
     "\"others\":{\"allowed\":0,\"denied\":1,\"shadow_denied\":0,\"error\":0}}");
}

static void who_is_refused_most_is_told_over_all_workers(void **state) {
  (void)state;
  char long_key[100];
  memset(long_key, 'k', sizeof long_key);
  laju_check some = {.rule = &laju_ruleset_at(rules, 1)->rule, .key = "192.0.2.1", .key_len = 9};
  laju_check other = {.rule = &laju_ruleset_at(rules, 1)->rule, .key = long_key, .key_len = sizeof long_key};
  for (int i = 0; i < 3; i++) laju_top_count(tops[i % 2], &some, 5000);
  laju_top_count(tops[0], &other, 7000);
  laju_admin_view_top(&out, &admin, &terms, 20, 8000);
  char expected[512];
  snprintf(
      expected, sizeof expected,
      "{\"half_life_s\":600,\"keys\":[{\"rule\":\"api\",\"key\":\"192.0.2.1\",\"masked\":false,\"cut\":false,\"denied\":3,\"over\":0,"
      "\"last_ms\":5},{\"rule\":\"api\",\"key\":\"%.64s\",\"masked\":false,\"cut\":true,\"denied\":1,\"over\":0,\"last_ms\":7}]}",
      long_key);
  is(expected);
  laju_admin_view_top(&out, &admin, &terms, 1, 8000);
  laju_buffer_add(&out, "", 1);
  assert_null(strstr(out.data, "kkkk"));
}

static void a_rule_s_override_is_told_after_the_rule_is_gone(void **state) {
  (void)state;
  laju_overlay_entry entry = {
      .number = laju_rule_names_number(names, "gone"), .limit = 5, .burst = 5, .key_len = 16, .expires_us = 9000};
  memcpy(entry.key, "0123456789abcdef", 16);
  assert_int_equal(laju_overlay_put(admin.overlay, &entry, 0), 0);
  laju_admin_view_overrides(&out, &admin, &terms, 1);
  laju_buffer_add(&out, "", 1);
  assert_non_null(strstr(out.data, "{\"overrides\":[{\"rule\":\"gone\",\"key\":\"0123…"));
  assert_non_null(strstr(out.data, "\"masked\":true,\"limit\":5,\"burst\":null,\"expires_ms\":9}]}"));
}

static void a_key_s_waits_are_whole_milliseconds_rounded_up(void **state) {
  (void)state;
  laju_check check = {.rule = &laju_ruleset_at(rules, 1)->rule, .key = "a\xff", .key_len = 2};
  laju_decision decision = {
      .allowed = true, .limit = 3, .remaining = 1, .more_after_us = 1, .reset_after_us = 1001, .basis = LAJU_FALLBACK};
  laju_admin_view_key(&out, &admin, &terms, &check, &decision, 1);
  is("{\"rule\":\"api\",\"key\":\"a\\ufffd\",\"masked\":false,\"limit\":3,\"remaining\":1,\"more_after_ms\":1,\"reset_after_ms\":2,"
     "\"delay_ms\":0,\"source\":\"fallback\",\"override\":null}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(rules_are_told_whole_and_their_counts_added_up),
      TEST(who_is_refused_most_is_told_over_all_workers),
      TEST(a_rule_s_override_is_told_after_the_rule_is_gone),
      TEST(a_key_s_waits_are_whole_milliseconds_rounded_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
