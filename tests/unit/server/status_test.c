#include "server/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_readings readings;
static laju_service service;
static laju_terms terms;
static laju_ruleset *rules;
static laju_rule_names *names;
static laju_ledger *ledger;
static laju_buffer out;

static int setup_rules(size_t count) {
  static laju_policy policies[300];
  names = laju_rule_names_new();
  ledger = laju_ledger_new();
  if (names == NULL || ledger == NULL) return -1;
  for (size_t i = 0; i < count; i++) {
    char line[64], why[LAJU_TEXT_SIZE];
    laju_rule rule;
    snprintf(line, sizeof line, "rule-%zu=5/1m", i);
    if (laju_rule_parse(&rule, line, why) < 0) return -1;
    rule.number = laju_rule_names_number(names, rule.name);
    laju_policy_init(&policies[i], &rule);
  }
  if (laju_ruleset_new(&rules, policies, count) < 0) return -1;
  terms = (laju_terms){.rules = rules};
  service = (laju_service){.names = names, .stage = LAJU_SERVING};
  atomic_store(&service.terms, &terms);
  memset(&readings, 0, sizeof readings);
  readings.names = names;
  readings.ledgers = &ledger;
  readings.ledger_count = 1;
  readings.workers = 2;
  out = (laju_buffer){0};
  return 0;
}

static int setup(void **state) {
  (void)state;
  return setup_rules(3);
}

static int setup_many(void **state) {
  (void)state;
  return setup_rules(300);
}

static int teardown(void **state) {
  (void)state;
  laju_ruleset_free(rules);
  laju_rule_names_free(names);
  laju_ledger_free(ledger);
  laju_buffer_deinit(&out);
  return 0;
}

static const char *written(const laju_status *status) {
  laju_buffer_clear(&out);
  laju_status_write(status, &out);
  laju_buffer_add(&out, "", 1);
  assert_false(out.failed);
  return out.data;
}

static void holds(const char *text, const char *expected) {
  if (strstr(text, expected) == NULL) fail_msg("%s\ndoes not hold %s", text, expected);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

static void the_busiest_rules_come_first_and_sums_are_of_all(void **state) {
  (void)state;
  laju_ledger_count(ledger, 2, LAJU_VERDICT_DENIED);
  laju_ledger_count(ledger, 2, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledger, 3, LAJU_VERDICT_SHADOW_DENIED);
  laju_ledger_count(ledger, 0, LAJU_VERDICT_ERROR); /* of no rule of ours */
  laju_status status = {.readings = &readings, .service = &service};
  const char *text = written(&status);
  holds(text,
        "\"checks\":{\"allowed\":1,\"denied\":1,\"shadow_denied\":1,\"error\":1},\"rule_count\":3,"
        "\"rules\":[{\"name\":\"rule-1\",\"allowed\":1,\"denied\":1,\"shadow_denied\":0,\"error\":0},"
        "{\"name\":\"rule-2\",\"allowed\":0,\"denied\":0,\"shadow_denied\":1,\"error\":0},"
        "{\"name\":\"rule-0\",\"allowed\":0,\"denied\":0,\"shadow_denied\":0,\"error\":0}]");
  holds(text, "\"stage\":\"serving\"");
  holds(text, "\"store\":null}");
}

static void of_many_rules_a_hundred_are_told(void **state) {
  (void)state;
  for (uint32_t number = 1; number <= 300; number++) {
    for (uint32_t i = 0; i < number; i++) laju_ledger_count(ledger, number, LAJU_VERDICT_ALLOWED);
  }
  laju_status status = {.readings = &readings, .service = &service};
  const char *text = written(&status);
  assert_int_equal(count_of(text, "{\"name\":"), LAJU_STATUS_RULES_MAX);
  holds(text, "\"rule_count\":300,\"rules\":[{\"name\":\"rule-299\",\"allowed\":300,");
  holds(text, "{\"name\":\"rule-200\",");
  assert_null(strstr(text, "{\"name\":\"rule-199\","));
}

static void a_store_is_told_of_by_every_worker(void **state) {
  (void)state;
  readings.has_store = true;
  readings.nodes = 3;
  readings.seen = (laju_nodes_seen){.count = 3, .version_count = 2, .versions = {{"1.0.0", 2}, {"1.1.0", 1}}};
  service.stores = 3;
  atomic_store(&service.stores_up, 2);
  laju_status status = {.readings = &readings,
                        .service = &service,
                        .store_url = "redis://h",
                        .store_why = "it is \"gone\"",
                        .store_refusal = "OOM command not allowed",
                        .store_latency = {.window_us = 5000000, .count = 7, .p50_us = 100, .p99_us = 900}};
  const char *text = written(&status);
  holds(
      text,
      "\"store\":{\"url\":\"redis://h\",\"up\":false,\"why\":\"it is \\\"gone\\\"\",\"last_error\":\"OOM command not allowed\",\"workers\":3,\"workers_up\":2,");
  holds(text,
        "\"latency\":{\"window_s\":5.000,\"count\":7,\"p50_us\":100,\"p99_us\":900},\"nodes\":3,"
        "\"versions\":[{\"version\":\"1.0.0\",\"count\":2},{\"version\":\"1.1.0\",\"count\":1}]}}");
  atomic_store(&service.stores_up, 3);
  holds(written(&status), "\"up\":true,\"why\":\"\",");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_busiest_rules_come_first_and_sums_are_of_all, setup, teardown),
      cmocka_unit_test_setup_teardown(of_many_rules_a_hundred_are_told, setup_many, teardown),
      cmocka_unit_test_setup_teardown(a_store_is_told_of_by_every_worker, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
