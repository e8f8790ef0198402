/* The smallest table's slab is one block of the largest size: 8,192 logs of 8 stamps, or one of 65,536. */
#include "table/fixture.h"

#include "core/log.h"
#include "table/room.h"

#define UNITS 8192

/* That slab, and slots for far more keys. */
static laju_table *roomy_table(void) {
  laju_table *table;
  laju_table_options options = {.memory_bytes = 3 * MIB, .logs_bytes = 1, .hash_key = fixture_hash_key};
  assert_int_equal(laju_table_new(&table, &options), 0);
  return table;
}

static laju_decision decide_numbered(laju_table *table, const laju_rule *rule, unsigned number, uint32_t cost,
                                     int64_t now_us) {
  char key[24];
  snprintf(key, sizeof key, "key:%u", number);
  return decide(table, rule, key, cost, now_us);
}

static void fill_slab(laju_table *table, const laju_rule *rule, uint32_t (*cost_of)(unsigned number)) {
  for (unsigned i = 0; i < UNITS; i++) decide_numbered(table, rule, i, cost_of(i), NOON);
  assert_int_equal(stats_of(table).logs_used_bytes, stats_of(table).logs_bytes);
  assert_int_equal(stats_of(table).evicted_used + stats_of(table).logs_evicted_used, 0);
}

static uint32_t every_other_is_used_up(unsigned number) {
  return number % 2 == 0 ? 8 : 1;
}

static void logs_that_are_used_up_stay_while_others_can_go(void **unused) {
  (void)unused;
  laju_table *table = roomy_table();
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 8, 3600 * SECOND);
  fill_slab(table, &rule, every_other_is_used_up);
  for (unsigned i = 0; i < 3000; i++) decide_numbered(table, &rule, UNITS + i, 1, NOON + 1);
  assert_int_equal(stats_of(table).logs_evicted_used, 3000);
  for (unsigned i = 0; i < UNITS; i += 2) assert_false(decide_numbered(table, &rule, i, 1, NOON + 1).allowed);
  laju_table_free(table);
}

static uint32_t one(unsigned number) {
  (void)number;
  return 1;
}

static void logs_that_are_as_good_as_new_go_first(void **unused) {
  (void)unused;
  laju_table *table = roomy_table();
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 8, 3600 * SECOND);
  fill_slab(table, &rule, one);
  int64_t later_us = NOON + 3600 * SECOND;
  for (unsigned i = 0; i < UNITS; i++) decide_numbered(table, &rule, UNITS + i, 1, later_us);
  assert_int_equal(stats_of(table).logs_evicted_used + stats_of(table).evicted_used, 0);
  assert_int_equal(stats_of(table).logs_evicted_fresh + stats_of(table).evicted_fresh, UNITS);
  laju_table_free(table);
}

static uint32_t number_ten_is_used_up(unsigned number) {
  return number == 10 ? 8 : 1;
}

static void a_large_log_takes_the_region_where_nobody_is_limited(void **unused) {
  (void)unused;
  laju_table *table = roomy_table();
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 8, 3600 * SECOND);
  laju_rule large = rule_of("large", LAJU_SLIDING_WINDOW_LOG, 65536, 3600 * SECOND);
  fill_slab(table, &rule, number_ten_is_used_up);
  assert_int_equal(decide(table, &large, "big", 20000, NOON).remaining, 65536 - 20000); /* needs half of the slab */
  assert_int_equal(stats_of(table).logs_evicted_used, UNITS / 2);
  assert_false(decide_numbered(table, &rule, 10, 1, NOON).allowed);
  assert_int_equal(decide(table, &large, "big", 0, NOON).remaining, 65536 - 20000);
  assert_int_equal(decide(table, &large, "big", 45536, NOON).remaining, 0); /* and now all of it */
  assert_int_equal(stats_of(table).keys, 1);
  assert_int_equal(stats_of(table).logs_used_bytes, stats_of(table).logs_bytes);
  laju_table_free(table);
}

/* A log that fills the slab in the end can only grow where it stands; its ring wraps many times on the way. */
static void a_log_grows_in_place_and_keeps_every_stamp(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, 100 * SECOND);
  laju_log log = {.stamps = malloc(65536 * sizeof(uint64_t)), .capacity = 65536};
  uint64_t random = 4;
  int64_t now_us = NOON;
  for (int step = 0; step < 4000; step++) {
    uint64_t x = random_next(&random);
    uint32_t cost = (uint32_t)(x % (unsigned)(10 + step / 4)); /* slowly more, so that it grows again and again */
    now_us += (int64_t)((x >> 32) % (2 * SECOND));
    laju_decision expected, got = decide(table, &rule, "one", cost, now_us);
    laju_log_decide(&rule, &log, now_us, cost, &expected);
    if (expected.allowed) laju_log_admit(&rule, &log, now_us, cost);
    assert_int_equal(got.allowed, expected.allowed);
    assert_int_equal(got.remaining, expected.remaining);
    assert_int_equal(got.retry_after_us, expected.retry_after_us);
    assert_int_equal(got.more_after_us, expected.more_after_us);
    assert_int_equal(got.reset_after_us, expected.reset_after_us);
  }
  assert_int_equal(stats_of(table).logs_evicted_used + stats_of(table).logs_evicted_fresh, 0);
  assert_int_equal(stats_of(table).logs_used_bytes, stats_of(table).logs_bytes);
  free(log.stamps);
  laju_table_free(table);
}

static void a_bucket_that_another_holds_is_passed_over(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, 3600 * SECOND);
  decide(table, &rule, "ann", 65536, NOON);
  uint64_t bucket = laju_slab_block_at(&table->slab, 0).owner, unit;
  laju_held nothing = {.bucket_count = 0};
  laju_bucket_lock(&table->buckets[bucket]); /* as another thread would */
  assert_int_equal(laju_room_find(table, &nothing, 0, 8, NOON, &unit), LAJU_ROOM_BUSY);
  laju_bucket_unlock(&table->buckets[bucket]);
  laju_held ours = {.buckets = {bucket}, .bucket_count = 1};
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++)
    ours.slots[slot] = (laju_slot){.bucket = bucket, .slot = slot};
  ours.slot_count = LAJU_BUCKET_SLOTS;
  laju_bucket_lock(&table->buckets[bucket]);
  assert_int_equal(laju_room_find(table, &ours, 0, 8, NOON, &unit), LAJU_ROOM_NONE);
  laju_bucket_unlock(&table->buckets[bucket]);
  assert_int_equal(laju_room_find(table, &nothing, 0, 8, NOON, &unit), 0);
  assert_int_equal(stats_of(table).logs_evicted_used, 1);
  laju_table_free(table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logs_that_are_used_up_stay_while_others_can_go),
      cmocka_unit_test(logs_that_are_as_good_as_new_go_first),
      cmocka_unit_test(a_large_log_takes_the_region_where_nobody_is_limited),
      cmocka_unit_test(a_log_grows_in_place_and_keeps_every_stamp),
      cmocka_unit_test(a_bucket_that_another_holds_is_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
