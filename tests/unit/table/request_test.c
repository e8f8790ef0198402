#include "table/fixture.h"

#include "core/decide.h"
#include "table/request.h"

/* ---- all or none ---- */

static void one_refusal_charges_nothing(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 3600 * SECOND);
    decide(table, &rule, "ben", 10, NOON);
    laju_check checks[] = {check_of(&rule, "ann", 3), check_of(&rule, "ben", 1), check_of(&rule, "cat", 2)};
    laju_decision decisions[3];
    assert_false(laju_table_decide_all(table, checks, 3, NOON, decisions));
    assert_true(decisions[0].allowed && !decisions[1].allowed && decisions[2].allowed);
    assert_int_equal(decisions[0].remaining, 7); /* as if it had been charged */
    assert_int_equal(decisions[2].remaining, 8);
    assert_int_equal(decide(table, &rule, "ann", 0, NOON).remaining, 10);
    assert_int_equal(decide(table, &rule, "cat", 0, NOON).remaining, 10);
  }
  assert_int_equal(stats_of(table).keys, LAJU_ALGORITHMS);
  laju_table_free(table);
}

static void a_repeated_key_sees_what_was_charged_before(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of("api", (laju_algorithm)a, 10, 3600 * SECOND);
    laju_check checks[] = {check_of(&rule, "ann", 4), check_of(&rule, "ann", 4), check_of(&rule, "ann", 0),
                           check_of(&rule, "ann", 4)};
    laju_decision decisions[4];
    assert_false(laju_table_decide_all(table, checks, 4, NOON, decisions));
    assert_int_equal(decisions[0].remaining, 6);
    assert_int_equal(decisions[1].remaining, 2);
    assert_int_equal(decisions[2].remaining, 2);
    assert_false(decisions[3].allowed);
    assert_int_equal(decide(table, &rule, "ann", 0, NOON).remaining, 10);
    assert_true(laju_table_decide_all(table, checks, 3, NOON, decisions));
    assert_int_equal(decide(table, &rule, "ann", 0, NOON).remaining, 2);
  }
  laju_table_free(table);
}

static void rules_that_differ_in_limit_alone_share_the_state(void **unused) {
  (void)unused;
  laju_table *table = table_of(4 * MIB);
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule ten = rule_of("inline", (laju_algorithm)a, 10, 3600 * SECOND);
    laju_rule twenty = rule_of("inline", (laju_algorithm)a, 20, 3600 * SECOND);
    laju_check checks[] = {check_of(&ten, "ann", 9), check_of(&twenty, "ann", 9), check_of(&ten, "ann", 1)};
    laju_decision decisions[3];
    assert_true(laju_table_decide_all(table, checks, 2, NOON, decisions));
    assert_int_equal(decisions[0].remaining, 1);
    assert_int_equal(decisions[1].remaining, 2);
    assert_false(laju_table_decide_all(table, checks + 2, 1, NOON, decisions));
  }
  laju_table_free(table);
}

static void sixteen_checks_of_large_logs_are_charged_together(void **unused) {
  (void)unused;
  laju_table *table = table_of(64 * MIB);
  laju_rule log = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, 3600 * SECOND);
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  laju_check checks[16];
  laju_decision decisions[16];
  for (size_t i = 0; i < 16; i++) checks[i] = check_of(&log, names[i / 2], 30000);
  assert_true(laju_table_decide_all(table, checks, 16, NOON, decisions));
  for (size_t i = 0; i < 8; i++) assert_int_equal(decide(table, &log, names[i], 0, NOON).remaining, 65536 - 60000);
  laju_table_free(table);
}

static void of_logs_that_do_not_fit_together_some_are_forgotten_and_counted(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB); /* its slab is one block of the largest size */
  laju_rule log = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, 3600 * SECOND);
  laju_check checks[] = {check_of(&log, "ann", 60000), check_of(&log, "ben", 60000)};
  laju_decision decisions[2];
  assert_true(laju_table_decide_all(table, checks, 2, NOON, decisions));
  assert_int_equal(decide(table, &log, "ann", 0, NOON).remaining, 65536 - 60000);
  assert_int_equal(decide(table, &log, "ben", 0, NOON).remaining, 65536);
  assert_int_equal(stats_of(table).evicted_used, 1);
  assert_int_equal(stats_of(table).keys, 1);
  laju_table_free(table);
}

/* ---- who goes ---- */

/* Puts keys straight into one bucket, as if the hash had sent them all there; fingerprints 1 to 5, in this order. */
typedef struct full_bucket {
  laju_table *table;
  laju_held held;
  uint64_t both[2];
} full_bucket;

static full_bucket fill_bucket(const laju_rule *rules, const uint32_t *costs, const int64_t *times_us) {
  full_bucket full = {.table = table_of(MIB), .both = {17, 17}};
  for (unsigned i = 0; i < LAJU_BUCKET_SLOTS; i++) {
    laju_state state = {.words = {0, 0}};
    laju_decision decision;
    laju_slot at;
    laju_decide(&rules[i], &state, times_us[i], costs[i], &decision);
    assert_true(laju_request_find_slot(full.table, &full.held, full.both, NOON, NULL, &at));
    unsigned shape = laju_shape_id(&full.table->shapes, laju_shape_of(&rules[i]), NOON);
    laju_store_put(full.table, at.bucket, at.slot, shape, i + 1, state);
  }
  return full;
}

/* Makes room for one more; tells whose place it is, by order of arrival from 0. */
static unsigned who_goes(full_bucket *full) {
  laju_slot at;
  assert_true(laju_request_find_slot(full->table, &full->held, full->both, NOON, NULL, &at));
  for (unsigned print = 1; print <= LAJU_BUCKET_SLOTS; print++) {
    if (laju_bucket_find(&full->table->buckets[17], print, false) < 0) return print - 1;
  }
  return LAJU_BUCKET_SLOTS;
}

static void the_least_used_of_a_full_bucket_goes(void **unused) {
  (void)unused;
  laju_rule ten = rule_of("ten", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  laju_rule hundred = rule_of("hundred", LAJU_FIXED_WINDOW, 100, 3600 * SECOND);
  const laju_rule rules[] = {ten, hundred, ten, hundred, ten};
  const int64_t times[] = {NOON, NOON, NOON, NOON, NOON};
  full_bucket full = fill_bucket(rules, (const uint32_t[]){10, 21, 3, 100, 4}, times);
  assert_int_equal(who_goes(&full), 1); /* 79 of 100 remain: more than 7 of 10 */
  assert_int_equal(stats_of(full.table).evicted_used, 1);
  laju_table_free(full.table);
}

static void among_equals_the_one_that_is_fresh_soonest_goes(void **unused) {
  (void)unused;
  laju_rule hour = rule_of("hour", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  laju_rule minute = rule_of("minute", LAJU_FIXED_WINDOW, 10, 60 * SECOND);
  laju_rule day = rule_of("day", LAJU_FIXED_WINDOW, 10, 86400 * SECOND);
  const laju_rule rules[] = {hour, day, hour, minute, day};
  const int64_t times[] = {NOON, NOON, NOON, NOON, NOON};
  full_bucket full = fill_bucket(rules, (const uint32_t[]){5, 5, 5, 5, 5}, times);
  assert_int_equal(who_goes(&full), 3);
  laju_table_free(full.table);
}

static void what_is_as_good_as_new_goes_before_all(void **unused) {
  (void)unused;
  laju_rule hour = rule_of("hour", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  const laju_rule rules[] = {hour, hour, hour, hour, hour};
  const int64_t times[] = {NOON, NOON, NOON - 3600 * SECOND, NOON, NOON};
  full_bucket full = fill_bucket(rules, (const uint32_t[]){1, 1, 10, 1, 1}, times);
  assert_int_equal(who_goes(&full), 2);
  assert_int_equal(stats_of(full.table).evicted_fresh, 1);
  assert_int_equal(stats_of(full.table).evicted_used, 0);
  laju_table_free(full.table);
}

static void what_the_request_holds_stays(void **unused) {
  (void)unused;
  laju_rule hour = rule_of("hour", LAJU_FIXED_WINDOW, 10, 3600 * SECOND);
  const laju_rule rules[] = {hour, hour, hour, hour, hour};
  const int64_t times[] = {NOON, NOON, NOON, NOON, NOON};
  full_bucket full = fill_bucket(rules, (const uint32_t[]){1, 2, 3, 4, 5}, times);
  full.held.slot_count = 2;
  full.held.slots[0] = (laju_slot){.bucket = 17, .slot = 0};
  full.held.slots[1] = (laju_slot){.bucket = 17, .slot = 1};
  assert_int_equal(who_goes(&full), 2);
  laju_slot at;
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++)
    full.held.slots[slot] = (laju_slot){.bucket = 17, .slot = slot};
  full.held.slot_count = LAJU_BUCKET_SLOTS;
  laju_store_put(full.table, 17, 2, 1, 99, (laju_state){.words = {0, 0}});
  assert_false(laju_request_find_slot(full.table, &full.held, full.both, NOON, NULL, &at));
  laju_table_free(full.table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_refusal_charges_nothing),
      cmocka_unit_test(a_repeated_key_sees_what_was_charged_before),
      cmocka_unit_test(rules_that_differ_in_limit_alone_share_the_state),
      cmocka_unit_test(sixteen_checks_of_large_logs_are_charged_together),
      cmocka_unit_test(of_logs_that_do_not_fit_together_some_are_forgotten_and_counted),
      cmocka_unit_test(the_least_used_of_a_full_bucket_goes),
      cmocka_unit_test(among_equals_the_one_that_is_fresh_soonest_goes),
      cmocka_unit_test(what_is_as_good_as_new_goes_before_all),
      cmocka_unit_test(what_the_request_holds_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
