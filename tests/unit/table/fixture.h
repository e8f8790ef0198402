/* What the table's tests share: tables with a known hash key, rules of each algorithm, checks of numbered keys. */
#ifndef TESTS_UNIT_TABLE_FIXTURE_H
#define TESTS_UNIT_TABLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "table/table.h"

#define MIB (UINT64_C(1) << 20)
#define SECOND INT64_C(1000000)
#define NOON (INT64_C(1700000000) * SECOND / (3600 * SECOND) * 3600 * SECOND) /* a full hour, long after the epoch */

static const uint64_t fixture_hash_key[2] = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};

static inline laju_table *table_of(uint64_t memory_bytes) {
  laju_table *table;
  laju_table_options options = {.memory_bytes = memory_bytes, .hash_key = fixture_hash_key};
  assert_int_equal(laju_table_new(&table, &options), 0);
  return table;
}

static inline laju_rule rule_of(const char *name, laju_algorithm algorithm, uint64_t limit, int64_t period_us) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, name, strlen(name), algorithm, limit, period_us, 0), 0);
  return rule;
}

static inline laju_check check_of(const laju_rule *rule, const char *key, uint32_t cost) {
  return (laju_check){.rule = rule, .key = key, .key_len = (uint32_t)strlen(key), .cost = cost};
}

static inline laju_decision decide(laju_table *table, const laju_rule *rule, const char *key, uint32_t cost,
                                   int64_t now_us) {
  laju_check check = check_of(rule, key, cost);
  laju_decision decision;
  laju_table_decide_all(table, &check, 1, now_us, &decision);
  return decision;
}

static inline laju_table_stats stats_of(const laju_table *table) {
  laju_table_stats stats;
  laju_table_stats_read(table, &stats);
  return stats;
}

/* A small generator, the same on every machine. */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

#endif
