#include "proto/http_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct world {
  laju_terms terms;
  laju_ruleset *rules;
  laju_batch *batch;
  char *body; /* the last one, which the checks point into */
  laju_problem problem;
  bool is_list;
} world;

static int set_up(void **state) {
  static world w;
  laju_rule rules[2];
  laju_policy policies[2];
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rules[0], "login=5/1m token-bucket burst 10", why), 0);
  assert_int_equal(laju_rule_parse(&rules[1], "dear=10/1m fixed-window cost 4", why), 0);
  w = (world){.batch = laju_batch_new()};
  assert_non_null(w.batch);
  for (size_t i = 0; i < 2; i++) laju_policy_init(&policies[i], &rules[i]);
  assert_int_equal(laju_ruleset_new(&w.rules, policies, 2), 0);
  w.terms.rules = w.rules;
  w.terms.inline_limits = true;
  *state = &w;
  return 0;
}

static int tear_down(void **state) {
  world *w = *state;
  laju_batch_free(w->batch);
  free(w->body);
  laju_ruleset_free(w->rules);
  return 0;
}

static size_t read_body(world *w, const char *text, bool batched) {
  size_t len = strlen(text);
  free(w->body);
  w->body = malloc(len + (len == 0));
  memcpy(w->body, text, len);
  w->problem = (laju_problem){0};
  return batched ? laju_http_read_batch(&w->terms, w->batch, w->body, len, &w->problem)
                 : laju_http_read_check(&w->terms, w->batch, w->body, len, &w->is_list, &w->problem);
}

static size_t read_check(world *w, const char *text) {
  return read_body(w, text, false);
}

static void refuses(world *w, const char *text, bool batched, const char *detail) {
  char written[LAJU_PROBLEM_MAX + 1];
  if (read_body(w, text, batched) != 0) fail_msg("%s is taken", text);
  written[laju_problem_write(&w->problem, written)] = '\0';
  const char *found = strstr(written, "\"detail\":\"");
  assert_non_null(found);
  found += strlen("\"detail\":\"");
  if (strncmp(found, detail, strlen(detail)) != 0)
    fail_msg("%s\nis refused with %s\nnot with    %s", text, found, detail);
  assert_int_equal(w->problem.status, 400);
}

static void a_check_names_rule_key_and_cost(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, "{\"rule\":\"login\",\"key\":\"user:42\",\"cost\":3}"), 1);
  assert_false(w->is_list);
  const laju_check *check = &w->batch->checks[0];
  assert_ptr_equal(check->rule, &laju_ruleset_find(w->rules, "login", 5)->rule);
  assert_int_equal(check->key_len, 7);
  assert_memory_equal(check->key, "user:42", 7);
  assert_int_equal(check->cost, 3);
}

static void members_come_in_any_order(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, "{ \"cost\" : 0 , \"key\" : \"k\" , \"rule\" : \"login\" }"), 1);
  assert_int_equal(w->batch->checks[0].cost, 0);
}

static void names_and_keys_may_be_escaped(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, "{\"r\\u0075le\":\"log\\u0069n\",\"key\":\"a\\n\\u00e9\"}"), 1);
  assert_int_equal(w->batch->checks[0].key_len, 4);
  assert_memory_equal(w->batch->checks[0].key, "a\n\xc3\xa9", 4);
}

static void a_cost_left_out_is_the_rules_own(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, "{\"rule\":\"login\",\"key\":\"k\"}"), 1);
  assert_int_equal(w->batch->checks[0].cost, 1);
  assert_int_equal(read_check(w, "{\"rule\":\"dear\",\"key\":\"k\"}"), 1);
  assert_int_equal(w->batch->checks[0].cost, 4);
}

static void a_check_may_bring_its_limit(void **state) {
  world *w = *state;
  assert_int_equal(
      read_check(w, "{\"limit\":10,\"per\":\"90s\",\"algorithm\":\"leaky-bucket\",\"burst\":20,\"key\":\"k\"}"), 1);
  const laju_rule *rule = w->batch->checks[0].rule;
  assert_ptr_equal(rule, &w->batch->rules[0]);
  assert_string_equal(rule->name, "inline");
  assert_int_equal(rule->algorithm, LAJU_LEAKY_BUCKET);
  assert_int_equal(rule->limit, 10);
  assert_int_equal(rule->capacity, 20);
  assert_int_equal(rule->period * rule->tick_us, 90000000);
  assert_int_equal(w->batch->checks[0].cost, 1);
  assert_int_equal(read_check(w, "{\"limit\":0,\"per\":\"1ms\",\"key\":\"k\"}"), 1);
  assert_int_equal(w->batch->rules[0].algorithm, LAJU_SLIDING_WINDOW_COUNTER);
}

static void an_inline_limit_is_decided_where_the_terms_say(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, "{\"limit\":1,\"per\":\"1s\",\"key\":\"k\"}"), 1);
  assert_int_equal(w->batch->rules[0].mode, LAJU_EMBEDDED);
  w->terms.default_mode = LAJU_EXACT;
  w->terms.exact_algorithms = 1 << LAJU_SLIDING_WINDOW_COUNTER;
  assert_int_equal(read_check(w, "{\"limit\":1,\"per\":\"1s\",\"key\":\"k\"}"), 1);
  assert_int_equal(w->batch->rules[0].mode, LAJU_EXACT);
  refuses(w, "{\"limit\":1,\"per\":\"1s\",\"key\":\"k\",\"algorithm\":\"token-bucket\"}", false,
          "algorithm cannot be decided by the shared store without scripts; allowed: fixed-window or");
}

static void inline_limits_can_be_forbidden(void **state) {
  world *w = *state;
  w->terms.inline_limits = false;
  assert_int_equal(read_check(w, "{\"limit\":10,\"per\":\"90s\",\"key\":\"k\"}"), 0);
  assert_int_equal(w->problem.status, 403);
}

static void a_list_of_checks_is_told_apart(void **state) {
  world *w = *state;
  assert_int_equal(
      read_check(w, "{\"checks\":[{\"rule\":\"login\",\"key\":\"a\"},{\"limit\":1,\"per\":\"1s\",\"key\":\"b\"}]}"), 2);
  assert_true(w->is_list);
  assert_memory_equal(w->batch->checks[1].key, "b", 1);
  assert_ptr_equal(w->batch->checks[1].rule, &w->batch->rules[1]);
  assert_int_equal(read_check(w, "{\"checks\":[{\"rule\":\"login\",\"key\":\"a\"}]}"), 1);
  assert_true(w->is_list);
}

/* `count` checks with `open` before and `close` behind. Static memory, used until the next call. */
static const char *many(size_t count, const char *open, const char *close) {
  static char text[64 * 1100];
  char *at = text + snprintf(text, sizeof text, "%s", open);
  for (size_t i = 0; i < count; i++) {
    const char *one = i > 0 ? ",{\"rule\":\"login\",\"key\":\"k\"}" : "{\"rule\":\"login\",\"key\":\"k\"}";
    memcpy(at, one, strlen(one));
    at += strlen(one);
  }
  memcpy(at, close, strlen(close) + 1);
  return text;
}

static void sixteen_checks_are_taken_and_seventeen_refused(void **state) {
  world *w = *state;
  assert_int_equal(read_check(w, many(16, "{\"checks\":[", "]}")), 16);
  refuses(w, many(17, "{\"checks\":[", "]}"), false, "checks is too long; allowed: a list of 1 to 16 checks");
  refuses(w, "{\"checks\":[]}", false, "checks is empty");
}

static void a_thousand_independent_checks_are_taken_and_no_more(void **state) {
  world *w = *state;
  assert_int_equal(read_body(w, many(1000, "[", "]"), true), 1000);
  refuses(w, many(1001, "[", "]"), true, "body is too long; allowed: a list of 1 to 1000 checks");
  refuses(w, "[]", true, "body is empty");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\"}", true, "body is of the wrong type; allowed: a list");
}

static void refusals_name_the_place(void **state) {
  world *w = *state;
  refuses(w, "[{\"rule\":\"login\",\"key\":\"a\"},{\"rule\":\"login\",\"key\":\"a\",\"cost\":-1}]", true,
          "[1].cost is out of range; allowed: a whole number from 0 to 4294967295");
  refuses(w, "{\"checks\":[{\"rule\":\"login\"}]}", false, "checks[0].key is missing");
  refuses(w, "[{\"rule\":\"login\",\"key\":\"a\"},7]", true, "[1] is of the wrong type; allowed: an object");
  refuses(w, "{\"checks\":{}}", false, "checks is of the wrong type; allowed: a list of 1 to 16 checks");
  refuses(w, "{\"checks\":[{\"rule\":\"login\",\"key\":\"a\"}],\"x\":1}", false, "x does not go with checks");
  refuses(w, "{\"key\":\"a\",\"checks\":[]}", false, "checks is not a member of a check");
}

static void what_is_unknown_missing_or_twice_there_is_refused(void **state) {
  world *w = *state;
  refuses(w, "{}", false, "key is missing");
  refuses(w, "{\"key\":\"k\"}", false,
          "rule is missing; allowed: rule and key, perhaps cost; or instead of rule: limit");
  refuses(w, "{\"rule\":\"login\"}", false, "key is missing");
  refuses(w, "{\"rule\":\"nope\",\"key\":\"k\"}", false, "rule is not known");
  refuses(w, "{\"rule\":\"\",\"key\":\"k\"}", false, "rule is not known");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"cots\":1}", false, "cots is not a member of a check");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"rule\":\"login\"}", false, "rule is there twice");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"limit\":1}", false, "limit does not go with rule");
  refuses(w, "{\"limit\":1,\"key\":\"k\"}", false, "per is missing");
  refuses(w, "{\"per\":\"1m\",\"key\":\"k\"}", false, "limit is missing");
}

static void what_is_of_another_type_or_out_of_range_is_refused(void **state) {
  world *w = *state;
  refuses(w, "{\"rule\":1,\"key\":\"k\"}", false, "rule is of the wrong type");
  refuses(w, "{\"rule\":\"login\",\"key\":null}", false, "key is of the wrong type");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"cost\":1.0}", false, "cost is of the wrong type");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"cost\":\"1\"}", false, "cost is of the wrong type");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"cost\":[[]]}", false, "cost is of the wrong type");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\",\"cost\":4294967296}", false, "cost is out of range");
  refuses(w, "{\"limit\":4294967296,\"per\":\"1m\",\"key\":\"k\"}", false, "limit is out of range");
  refuses(w, "{\"limit\":65537,\"per\":\"1m\",\"algorithm\":\"sliding-window-log\",\"key\":\"k\"}", false,
          "limit is out");
  refuses(w, "{\"limit\":1,\"per\":\"367d\",\"key\":\"k\"}", false, "per is out of range");
  refuses(w, "{\"limit\":1,\"per\":\"1 m\",\"key\":\"k\"}", false, "per cannot be read");
  refuses(w, "{\"limit\":1,\"per\":60,\"key\":\"k\"}", false, "per is of the wrong type");
  refuses(w, "{\"limit\":1,\"per\":\"100000003us\",\"key\":\"k\"}", false,
          "per cannot be held exactly; allowed: a period that a tick divides; the nearest is 100s");
  refuses(w, "{\"limit\":1,\"per\":\"1m\",\"algorithm\":\"gcra\",\"key\":\"k\"}", false, "algorithm is not known");
  refuses(w, "{\"limit\":5,\"per\":\"1m\",\"algorithm\":\"token-bucket\",\"burst\":0,\"key\":\"k\"}", false,
          "burst is out");
  refuses(w, "{\"limit\":5,\"per\":\"1m\",\"algorithm\":\"fixed-window\",\"burst\":6,\"key\":\"k\"}", false,
          "burst is out");
}

static void a_key_is_1_to_1024_bytes_after_unescaping(void **state) {
  world *w = *state;
  char text[7000], key[6200];
  for (size_t i = 0; i < 1024; i++) memcpy(key + 6 * i, "\\u0041", 6);
  key[6 * 1024] = '\0';
  snprintf(text, sizeof text, "{\"rule\":\"login\",\"key\":\"%s\"}", key);
  assert_int_equal(read_check(w, text), 1);
  assert_int_equal(w->batch->checks[0].key_len, 1024);
  snprintf(text, sizeof text, "{\"rule\":\"login\",\"key\":\"a%s\"}", key);
  refuses(w, text, false, "key is too long; allowed: a string of 1 to 1024 bytes");
  refuses(w, "{\"rule\":\"login\",\"key\":\"\"}", false, "key is empty");
}

static void what_is_no_json_is_refused_with_its_place(void **state) {
  world *w = *state;
  refuses(w, "", false, "body cannot be read: the text ends too early at byte 1; allowed: JSON");
  refuses(w, "{\"rule\":\"login\",\"key\":\"k\"} x", false,
          "body cannot be read: something follows the document at byte 28");
  refuses(w, "[{\"rule\":\"login\",\"key\":\"k\"}", true, "body cannot be read: the text ends too early at byte 28");
  refuses(w, "{\"rule\":\"login\" \"key\"}", false, "body cannot be read: a comma or the end is missing at byte 17");
  refuses(w, "rule=login", false, "body cannot be read: an object or an array is missing at byte 1");
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CLAIM(a_check_names_rule_key_and_cost),
      CLAIM(members_come_in_any_order),
      CLAIM(names_and_keys_may_be_escaped),
      CLAIM(a_cost_left_out_is_the_rules_own),
      CLAIM(a_check_may_bring_its_limit),
      CLAIM(an_inline_limit_is_decided_where_the_terms_say),
      CLAIM(inline_limits_can_be_forbidden),
      CLAIM(a_list_of_checks_is_told_apart),
      CLAIM(sixteen_checks_are_taken_and_seventeen_refused),
      CLAIM(a_thousand_independent_checks_are_taken_and_no_more),
      CLAIM(refusals_name_the_place),
      CLAIM(what_is_unknown_missing_or_twice_there_is_refused),
      CLAIM(what_is_of_another_type_or_out_of_range_is_refused),
      CLAIM(a_key_is_1_to_1024_bytes_after_unescaping),
      CLAIM(what_is_no_json_is_refused_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
