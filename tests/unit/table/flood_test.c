/* A flood of keys that nobody asks for again: memory stays where it is, and whoever is limited stays limited. */
#include "table/fixture.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FLOOD 20000 /* unique keys, for each algorithm */
#else
#define FLOOD 200000
#endif
#define LIMITED 20 /* keys that have used up their limit */

static laju_decision decide_numbered(laju_table *table, const laju_rule *rule, const char *kind, unsigned number,
                                     uint32_t cost, int64_t now_us) {
  char key[32];
  snprintf(key, sizeof key, "%s:%u", kind, number);
  return decide(table, rule, key, cost, now_us);
}

static void a_flood_frees_nobody(laju_algorithm algorithm) {
  laju_table *table = table_of(MIB);
  laju_rule rule = rule_of("api", algorithm, 10, 3600 * SECOND);
  for (unsigned i = 0; i < LIMITED; i++) decide_numbered(table, &rule, "limited", i, 10, NOON);
  for (unsigned i = 0; i < FLOOD; i++) {
    assert_true(decide_numbered(table, &rule, "flood", i, 1, NOON + i).allowed);
    if (i % 1000 == 0) assert_false(decide_numbered(table, &rule, "limited", i / 1000 % LIMITED, 1, NOON + i).allowed);
  }
  for (unsigned i = 0; i < LIMITED; i++) {
    assert_false(decide_numbered(table, &rule, "limited", i, 1, NOON + FLOOD).allowed);
  }
  laju_table_stats stats = stats_of(table);
  assert_true(stats.keys <= stats.slots);
  assert_true(stats.logs_used_bytes <= stats.logs_bytes);
  assert_int_equal(stats.keys + stats.evicted_used + stats.logs_evicted_used, FLOOD + LIMITED);
  assert_int_equal(stats.evicted_fresh + stats.logs_evicted_fresh, 0);
  laju_table_free(table);
}

static void of_token_buckets(void **unused) {
  (void)unused;
  a_flood_frees_nobody(LAJU_TOKEN_BUCKET);
}

static void of_leaky_buckets(void **unused) {
  (void)unused;
  a_flood_frees_nobody(LAJU_LEAKY_BUCKET);
}

static void of_fixed_windows(void **unused) {
  (void)unused;
  a_flood_frees_nobody(LAJU_FIXED_WINDOW);
}

static void of_sliding_window_counters(void **unused) {
  (void)unused;
  a_flood_frees_nobody(LAJU_SLIDING_WINDOW_COUNTER);
}

static void of_sliding_window_logs(void **unused) {
  (void)unused;
  a_flood_frees_nobody(LAJU_SLIDING_WINDOW_LOG);
}

static void of_keys_that_use_up_their_limit_at_once(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  laju_rule rule = rule_of("one", LAJU_SLIDING_WINDOW_LOG, 1, 3600 * SECOND);
  for (unsigned i = 0; i < FLOOD; i++) {
    assert_true(decide_numbered(table, &rule, "flood", i, 1, NOON + i).allowed);
    assert_false(
        decide_numbered(table, &rule, "flood", i, 1, NOON + i).allowed); /* at least the newest is remembered */
  }
  laju_table_free(table);
}

static void what_is_as_good_as_new_makes_room_first(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  laju_rule second = rule_of("second", LAJU_FIXED_WINDOW, 10, SECOND);
  laju_rule hour = rule_of("hour", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  unsigned slots = (unsigned)stats_of(table).slots;
  for (unsigned i = 0; i < 4 * slots; i++) decide_numbered(table, &second, "short", i, 10, NOON);
  uint64_t used = stats_of(table).evicted_used;
  for (unsigned i = 0; i < slots / 4; i++) decide_numbered(table, &hour, "long", i, 1, NOON + SECOND);
  assert_int_equal(stats_of(table).evicted_used, used);
  assert_true(stats_of(table).evicted_fresh > slots / 4);
  for (unsigned i = 0; i < slots / 4; i++) {
    assert_int_equal(decide_numbered(table, &hour, "long", i, 0, NOON + SECOND).remaining, 9);
  }
  laju_table_free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_token_buckets),
      cmocka_unit_test(of_leaky_buckets),
      cmocka_unit_test(of_fixed_windows),
      cmocka_unit_test(of_sliding_window_counters),
      cmocka_unit_test(of_sliding_window_logs),
      cmocka_unit_test(of_keys_that_use_up_their_limit_at_once),
      cmocka_unit_test(what_is_as_good_as_new_makes_room_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
