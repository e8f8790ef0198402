/* What the tests of a worker's way share: a limiter for a shared store, rules from their text, claims of checks. */
#ifndef TESTS_UNIT_LIMITER_FIXTURE_H
#define TESTS_UNIT_LIMITER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "limiter/way.h"

#define SECOND INT64_C(1000000)
#define NOON INT64_C(1700000000000000)

/* Nothing here asks the store: it is enough that there is one. */
static char somewhere;
static _Atomic uint32_t nodes;
static laju_way node;

static int init(void **unused) {
  (void)unused;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  node = (laju_way){.store = (struct laju_store *)(void *)&somewhere, .deny_cache = true, .nodes = &nodes};
  atomic_store(&nodes, 1);
  return laju_limiter_new_shared(&node.limiter, &options);
}

static int deinit(void **unused) {
  (void)unused;
  laju_limiter_free(node.limiter);
  return 0;
}

static inline laju_rule rule_of(const char *text) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, text, why), 0);
  return rule;
}

static inline laju_rule exact_of(const char *text) {
  laju_rule rule = rule_of(text);
  rule.mode = LAJU_EXACT;
  return rule;
}

static inline laju_rule shadow_of(laju_rule rule) {
  rule.shadow = true;
  return rule;
}

static inline laju_check check_of(const laju_rule *rule, const char *key, uint32_t cost) {
  return (laju_check){.rule = rule, .key = key, .key_len = (uint32_t)strlen(key), .cost = cost};
}

/* What remains of a key in the table, whatever its rule's mode. */
static inline int64_t here(const laju_rule *rule, const char *key) {
  laju_check peek = check_of(rule, key, 0);
  laju_decision decision;
  assert_true(laju_table_decide_all(laju_limiter_table(node.limiter), &peek, 1, NOON, &decision));
  return decision.remaining;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

#endif
