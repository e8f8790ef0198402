#include "proto/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "proto/made.h"

typedef struct fixture {
  laju_ruleset *rules;
  laju_terms terms;
  laju_batch *batch;
  laju_origin origin;
  laju_fields fields;
  laju_matched matched;
} fixture;

static int open_batch(void **state) {
  static fixture f;
  f = (fixture){.terms = {.ip_prefix_v4 = 32, .ip_prefix_v6 = 64}};
  f.batch = laju_batch_new();
  assert_non_null(f.batch);
  f.origin = (laju_origin){.method = made_slice("GET"),
                           .path = made_slice("/api/x"),
                           .host = made_slice("api.example.com"),
                           .addressed = true};
  assert_int_equal(laju_ip_parse("192.0.2.1", 9, &f.origin.client), 0);
  *state = &f;
  return 0;
}

static int shut_batch(void **state) {
  fixture *f = *state;
  laju_ruleset_free(f->rules);
  laju_batch_free(f->batch);
  return 0;
}

static void put_in_force(fixture *f, const laju_policy *policies, size_t count) {
  assert_int_equal(laju_ruleset_new(&f->rules, policies, count), 0);
  f->terms.rules = f->rules;
}

static int match(fixture *f, const laju_policy *const *named, size_t named_count) {
  laju_asker asker = {.origin = &f->origin, .fields = &f->fields, .prefix_v4 = 32, .prefix_v6 = 64};
  return laju_match_request(&f->matched, &f->terms, &asker, named, named_count, f->batch);
}

/* The i-th check is this rule's, of this key and cost. */
static void check_is(const fixture *f, size_t i, const char *rule, const char *key, uint32_t cost) {
  const laju_check *check = &f->batch->checks[f->batch->check_count + i];
  assert_true(i < f->matched.count);
  assert_string_equal(check->rule->name, rule);
  assert_int_equal(check->key_len, strlen(key));
  assert_memory_equal(check->key, key, check->key_len);
  assert_int_equal(check->cost, cost);
}

static void rules_that_match_apply_in_the_order_of_the_file(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {
      made_policy("everyone=1/1m cost 3", "ip", NULL, NULL),
      made_policy("other=1/1m", "ip", "other.example", NULL),
      made_policy("path=1/1m", "path", NULL, "/api/*"),
      made_policy("host=1/1m", "host", "*.example.com", NULL),
  };
  put_in_force(f, policies, 4);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 3);
  check_is(f, 0, "everyone", "192.0.2.1", 3);
  check_is(f, 1, "path", "/api/x", 1);
  check_is(f, 2, "host", "api.example.com", 1);
  assert_int_equal(f->matched.key_len, strlen("192.0.2.1/api/xapi.example.com"));
  assert_int_equal(f->matched.waits, 0);
}

/* More of them than are asked one by one: the index finds them in another order. */
static void the_order_is_the_files_also_among_many(void **state) {
  fixture *f = *state;
  laju_policy policies[20];
  for (size_t i = 0; i < 20; i++) {
    char line[32];
    snprintf(line, sizeof line, "r%zu=1/1m", i);
    policies[i] = i % 4 == 0   ? made_policy(line, "ip", "api.example.com", NULL)
                  : i % 4 == 1 ? made_policy(line, "ip", NULL, "/api/*")
                  : i % 4 == 2 ? made_policy(line, "ip", NULL, NULL)
                               : made_policy(line, "ip", "other", NULL);
  }
  put_in_force(f, policies, 20);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 15);
  for (size_t i = 1; i < f->matched.count; i++) {
    assert_true(f->batch->checks[i - 1].rule < f->batch->checks[i].rule);
  }
}

static void where_none_matches_there_is_no_check(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("other=1/1m", "ip", NULL, "/other"),
                            made_policy("named=1/1m", "ip", NULL, NULL)};
  policies[1].match.none = true;
  put_in_force(f, policies, 2);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 0);
}

static void named_rules_apply_whatever_they_match(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("a=1/1m", "ip", NULL, NULL), made_policy("b=1/1m", "ip", NULL, "/other"),
                            made_policy("c=1/1m", "method", NULL, NULL)};
  policies[2].match.none = true;
  put_in_force(f, policies, 3);
  const laju_policy *named[] = {laju_ruleset_at(f->rules, 2), laju_ruleset_at(f->rules, 1)};
  assert_int_equal(match(f, named, 2), 0);
  assert_int_equal(f->matched.count, 2);
  check_is(f, 0, "b", "192.0.2.1", 1);
  check_is(f, 1, "c", "GET", 1);
}

static void a_rule_that_skips_does_not_apply_and_one_that_denies_refuses(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("a=1/1m", "header:a", NULL, NULL), made_policy("b=1/1m", "ip", NULL, NULL),
                            made_policy("c=1/1m", "cookie:c", NULL, "/api/secret")};
  policies[0].missing = LAJU_MISSING_SKIP;
  policies[2].missing = LAJU_MISSING_DENY;
  put_in_force(f, policies, 3);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 1);
  check_is(f, 0, "b", "192.0.2.1", 1);
  f->origin.path = made_slice("/api/secret");
  assert_int_equal(match(f, NULL, 0), LAJU_MATCH_DENIED);
  assert_ptr_equal(f->matched.policy, laju_ruleset_at(f->rules, 2));
  assert_string_equal(f->matched.missing->name, "c");
}

static void the_exempt_are_only_looked_at(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("a=1/1m", "ip", NULL, NULL), made_policy("b=1/1m", "path", NULL, NULL),
                            made_policy("c=1/1m", "ip", NULL, NULL)};
  made_exempt(&policies[0], "192.0.2.0/24");
  made_exempt(&policies[1], "key:/api/*");
  made_exempt(&policies[2], "198.51.100.0/24");
  put_in_force(f, policies, 3);
  assert_int_equal(match(f, NULL, 0), 0);
  check_is(f, 0, "a", "192.0.2.1", 0);
  check_is(f, 1, "b", "/api/x", 0);
  check_is(f, 2, "c", "192.0.2.1", 1);
  f->origin.addressed = false;
  assert_int_equal(match(f, NULL, 0), 0);
  check_is(f, 0, "a", "unix", 1);
}

static void an_override_is_found_by_the_key_before_it_is_hashed(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("a=1/1m", "path", NULL, NULL)};
  policies[0].secret = true;
  made_override(&policies[0], "/api/*", "a=9/1m");
  put_in_force(f, policies, 1);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 1);
  assert_int_equal(f->batch->checks[0].rule->limit, 9);
  assert_int_equal(f->batch->checks[0].key_len, 51);
  assert_memory_equal(f->batch->checks[0].key, "%sha256=", 8);
}

static void only_what_can_delay_is_waited_for(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {
      made_policy("a=1/1m", "ip", NULL, NULL),
      made_policy("b=1/1m leaky-bucket", "ip", NULL, NULL),
      made_policy("c=1/1m leaky-bucket", "ip", NULL, NULL),
      made_policy("d=1/1m leaky-bucket", "ip", NULL, NULL),
      made_policy("e=1/1m leaky-bucket", "ip", NULL, NULL),
  };
  for (size_t i = 1; i < 4; i++) policies[i].wait_server = true;
  policies[1].rule.shadow = true;
  made_exempt(&policies[2], "192.0.2.1");
  put_in_force(f, policies, 5);
  assert_int_equal(match(f, NULL, 0), 0);
  assert_int_equal(f->matched.count, 5);
  assert_int_equal(f->matched.waits, 1 << 3);
}

/* `count` rules that all match, of which the first skip. */
static int match_many(fixture *f, size_t count, size_t skipping) {
  laju_policy policies[40];
  for (size_t i = 0; i < count; i++) {
    char line[32];
    snprintf(line, sizeof line, "r%zu=1/1m", i);
    policies[i] = made_policy(line, i < skipping ? "header:a" : "ip", NULL, "/api/*");
    policies[i].missing = LAJU_MISSING_SKIP;
  }
  laju_ruleset_free(f->rules);
  put_in_force(f, policies, count);
  return match(f, NULL, 0);
}

static void sixteen_rules_may_apply_and_no_more(void **state) {
  fixture *f = *state;
  assert_int_equal(match_many(f, 16, 0), 0);
  assert_int_equal(f->matched.count, 16);
  assert_int_equal(match_many(f, 17, 0), LAJU_MATCH_MANY);
  assert_int_equal(match_many(f, 40, 24), 0);
  assert_int_equal(f->matched.count, 16);
}

static void what_is_in_the_batch_already_stays(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {made_policy("a=1/1m", "ip", NULL, NULL)};
  put_in_force(f, policies, 1);
  f->batch->check_count = 3;
  f->batch->key_len = 5;
  memcpy(f->batch->keys, "other", 5);
  assert_int_equal(match(f, NULL, 0), 0);
  check_is(f, 0, "a", "192.0.2.1", 1);
  assert_int_equal(f->batch->check_count, 3);
  assert_int_equal(f->batch->key_len, 5);
  assert_memory_equal(f->batch->keys, "other192.0.2.1", 14);
}

static laju_policy grouped_policy(const char *line, const char *parts, const char *group) {
  laju_policy policy = made_policy(line, parts, NULL, NULL);
  policy.group_parts[policy.group_count++] = made_part(group, strlen(group));
  policy.rule.grouped = true;
  return policy;
}

static void group_is(const fixture *f, size_t i, const char *group) {
  laju_slice found = f->batch->groups[f->batch->check_count + i];
  assert_int_equal(found.len, strlen(group));
  assert_memory_equal(found.at, group, found.len);
}

static void a_rule_s_group_is_made_as_its_key_is(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {grouped_policy("a=1/1m", "ip", "host"), made_policy("b=1/1m", "ip", NULL, NULL),
                            grouped_policy("c=1/1m", "path", "method"), grouped_policy("d=1/1m", "host", "ip")};
  policies[3].secret = true;
  const laju_policy *named[4];
  put_in_force(f, policies, 4);
  for (size_t i = 0; i < 4; i++) named[3 - i] = laju_ruleset_at(f->rules, i);
  assert_int_equal(match(f, named, 4), 0);
  check_is(f, 0, "a", "192.0.2.1", 1);
  group_is(f, 0, "api.example.com");
  check_is(f, 2, "c", "/api/x", 1);
  group_is(f, 2, "GET");
  assert_int_equal(f->batch->groups[3].len, 51);
  assert_memory_equal(f->batch->groups[3].at, "%sha256=", 8);
}

static void a_group_that_cannot_be_made_counts_as_a_key_that_cannot(void **state) {
  fixture *f = *state;
  laju_policy policies[] = {grouped_policy("a=1/1m", "ip", "header:a"), grouped_policy("b=1/1m", "ip", "header:b"),
                            grouped_policy("c=1/1m", "ip", "header:c")};
  policies[0].missing = LAJU_MISSING_SKIP;
  policies[1].missing = LAJU_MISSING_SHARED;
  policies[2].missing = LAJU_MISSING_DENY;
  put_in_force(f, policies, 3);
  const laju_policy *named[] = {laju_ruleset_at(f->rules, 0), laju_ruleset_at(f->rules, 1)};
  assert_int_equal(match(f, named, 2), 0);
  assert_int_equal(f->matched.count, 1);
  check_is(f, 0, "b", "192.0.2.1", 1);
  group_is(f, 0, "%shared");
  assert_int_equal(f->matched.key_len, strlen("192.0.2.1%shared"));
  assert_int_equal(match(f, NULL, 0), LAJU_MATCH_DENIED);
  assert_string_equal(f->matched.missing->name, "c");
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, open_batch, shut_batch)
  const struct CMUnitTest tests[] = {
      CLAIM(rules_that_match_apply_in_the_order_of_the_file),
      CLAIM(the_order_is_the_files_also_among_many),
      CLAIM(where_none_matches_there_is_no_check),
      CLAIM(named_rules_apply_whatever_they_match),
      CLAIM(a_rule_that_skips_does_not_apply_and_one_that_denies_refuses),
      CLAIM(the_exempt_are_only_looked_at),
      CLAIM(an_override_is_found_by_the_key_before_it_is_hashed),
      CLAIM(only_what_can_delay_is_waited_for),
      CLAIM(sixteen_rules_may_apply_and_no_more),
      CLAIM(what_is_in_the_batch_already_stays),
      CLAIM(a_rule_s_group_is_made_as_its_key_is),
      CLAIM(a_group_that_cannot_be_made_counts_as_a_key_that_cannot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
