#include "decisions.h"
#include "table/fixture.h"

#include <pthread.h>

#include "core/decide.h"
#include "table/denials.h"

#define MINUTE (60 * SECOND)
#define STORE (NOON + 1234 * SECOND) /* the store's clock at the node's noon */

static _Alignas(64) unsigned char room[4 * sizeof(laju_denials_set)];
static laju_denials denials;
static const laju_slice no_group;

/* All keys in one set, where not said otherwise. */
static int init(void **unused) {
  (void)unused;
  memset(room, 0, sizeof room);
  laju_denials_init(&denials, room, sizeof(laju_denials_set), fixture_hash_key);
  return 0;
}

/* A key of which `used` tokens are used up asks for `cost` and is refused; sent at `sent_us`, decided a second later. */
static laju_denial denial_of(const laju_check *check, uint32_t used, int64_t sent_us) {
  laju_denial denial = {.check = check, .sent_us = sent_us, .store_us = STORE + (sent_us - NOON) + SECOND};
  laju_decide(check->rule, &denial.found, denial.store_us, used, &denial.decision);
  assert_true(denial.decision.allowed);
  laju_state state = denial.found;
  laju_decide(check->rule, &state, denial.store_us, check->cost, &denial.decision);
  assert_false(denial.decision.allowed);
  return denial;
}

static laju_decision refuse(const laju_check *check, uint32_t used, int64_t sent_us) {
  laju_denial denial = denial_of(check, used, sent_us);
  laju_denials_remember(&denials, &denial, sent_us + SECOND);
  return denial.decision;
}

static bool finds(const laju_check *check, int64_t now_us) {
  laju_decision decision;
  return laju_denials_find(&denials, check, no_group, now_us, &decision);
}

static void a_refusal_is_told_again_until_its_wait_is_over(void **unused) {
  (void)unused;
  static const laju_algorithm constant_size[] = {LAJU_TOKEN_BUCKET, LAJU_LEAKY_BUCKET, LAJU_FIXED_WINDOW,
                                                 LAJU_SLIDING_WINDOW_COUNTER};
  for (size_t i = 0; i < 4; i++) {
    laju_rule rule = rule_of("api", constant_size[i], 10, MINUTE);
    laju_check check = check_of(&rule, "ann", 1);
    assert_false(finds(&check, NOON));
    laju_decision told = refuse(&check, 10, NOON), again;
    int64_t over_us = NOON + told.retry_after_us;
    assert_true(told.retry_after_us > 3 * SECOND);
    assert_true(laju_denials_find(&denials, &check, no_group, NOON, &again));
    assert_same_decision(&again, &told);
    assert_true(laju_denials_find(&denials, &check, no_group, NOON + 3 * SECOND, &again));
    assert_int_equal(again.retry_after_us, told.retry_after_us - 3 * SECOND);
    assert_int_equal(again.reset_after_us, told.reset_after_us - 3 * SECOND);
    assert_true(laju_denials_find(&denials, &check, no_group, over_us - 1, &again));
    assert_int_equal(again.retry_after_us, rule.tick_us);
    assert_false(finds(&check, over_us));
  }
}

static void no_answer_is_told_into_the_tick_in_which_the_check_passes(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE); /* a tick of 100 us */
  laju_check check = check_of(&rule, "ann", 1);
  laju_denial denial = denial_of(&check, 10, NOON);
  denial.store_us += 99;
  laju_denials_remember(&denials, &denial, NOON);
  int64_t over_us = NOON + denial.decision.retry_after_us;
  assert_true(finds(&check, over_us - 100));
  assert_false(finds(&check, over_us - 99));
}

static void what_the_law_would_say_a_while_later_is_said(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  laju_check check = check_of(&rule, "ann", 5);
  laju_decision told = refuse(&check, 10, NOON), later;
  assert_int_equal(told.remaining, 0);
  assert_true(laju_denials_find(&denials, &check, no_group, NOON + 15 * SECOND, &later));
  assert_int_equal(later.remaining, 2);
  assert_int_equal(later.retry_after_us, 15 * SECOND);
  assert_int_equal(later.more_after_us, 3 * SECOND);
}

static void a_greater_cost_is_refused_too_and_a_lesser_one_is_not_known(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_FIXED_WINDOW, 10, MINUTE);
  laju_check four = check_of(&rule, "ann", 4), three = check_of(&rule, "ann", 3), nine = check_of(&rule, "ann", 9);
  laju_check eleven = check_of(&rule, "ann", 11), peek = check_of(&rule, "ann", 0);
  laju_decision decision;
  refuse(&four, 7, NOON);
  assert_true(finds(&nine, NOON));
  assert_false(finds(&three, NOON));
  assert_false(finds(&peek, NOON));
  assert_true(laju_denials_find(&denials, &eleven, no_group, NOON, &decision));
  assert_int_equal(decision.retry_after_us, LAJU_NEVER);
  assert_int_equal(decision.remaining, 3);
}

static void the_refusal_of_the_lesser_cost_stays(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  laju_check one = check_of(&rule, "ann", 1), five = check_of(&rule, "ann", 5);
  refuse(&one, 10, NOON);
  refuse(&five, 10, NOON + 1);
  assert_true(finds(&one, NOON + 2 * SECOND));
  refuse(&five, 10, NOON + 6 * SECOND); /* the one token has come back: now it says more */
  assert_false(finds(&one, NOON + 6 * SECOND));
  assert_true(finds(&five, NOON + 20 * SECOND));
  refuse(&one, 10, NOON + 7 * SECOND);
  assert_true(finds(&one, NOON + 7 * SECOND));
  assert_false(finds(&five, NOON + 20 * SECOND)); /* one entry for all costs */
}

static void another_limit_burst_rule_key_or_group_is_another(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE), more = rule_of("api", LAJU_TOKEN_BUCKET, 11, MINUTE);
  laju_rule other = rule_of("web", LAJU_TOKEN_BUCKET, 10, MINUTE), longer, period;
  assert_int_equal(laju_rule_init(&longer, "api", 3, LAJU_TOKEN_BUCKET, 10, MINUTE, 20), 0);
  period = rule_of("api", LAJU_TOKEN_BUCKET, 10, 2 * MINUTE);
  laju_check check = check_of(&rule, "ann", 1);
  refuse(&check, 10, NOON);
  const laju_check others[] = {check_of(&more, "ann", 1), check_of(&longer, "ann", 1), check_of(&other, "ann", 1),
                               check_of(&period, "ann", 1), check_of(&rule, "ben", 1)};
  for (size_t i = 0; i < 5; i++) assert_false(finds(&others[i], NOON));
  laju_decision decision;
  assert_false(laju_denials_find(&denials, &check, (laju_slice){"team", 4}, NOON, &decision));
  assert_true(finds(&check, NOON));

  laju_denial denial = denial_of(&others[0], 11, NOON);
  denial.group = (laju_slice){"team", 4};
  laju_denials_remember(&denials, &denial, NOON);
  assert_true(laju_denials_find(&denials, &others[0], (laju_slice){"team", 4}, NOON, &decision));
  assert_false(laju_denials_find(&denials, &others[0], (laju_slice){"crew", 4}, NOON, &decision));
  assert_false(finds(&others[0], NOON));
}

static void a_log_s_decision_is_counted_down(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 10, MINUTE);
  laju_check four = check_of(&rule, "ann", 4), six = check_of(&rule, "ann", 6), eleven = check_of(&rule, "ann", 11);
  laju_decision told = {.limit = 10, .remaining = 2, .retry_after_us = 20 * SECOND, .more_after_us = 5 * SECOND};
  told.reset_after_us = 50 * SECOND;
  laju_denial denial = {.check = &four, .decision = told, .sent_us = NOON, .store_us = STORE};
  laju_denials_remember(&denials, &denial, NOON);
  laju_decision found;
  assert_true(laju_denials_find(&denials, &four, no_group, NOON + 4 * SECOND, &found));
  assert_int_equal(found.retry_after_us, 16 * SECOND);
  assert_int_equal(found.more_after_us, SECOND);
  assert_int_equal(found.reset_after_us, 46 * SECOND);
  assert_int_equal(found.remaining, 2);
  assert_int_equal(found.limit, 10);
  assert_false(found.allowed);
  assert_true(laju_denials_find(&denials, &four, no_group, NOON + 6 * SECOND, &found));
  assert_int_equal(found.remaining, 2);
  assert_int_equal(found.more_after_us, 14 * SECOND); /* when it surely is more */
  assert_true(laju_denials_find(&denials, &six, no_group, NOON + 6 * SECOND, &found));
  assert_int_equal(found.retry_after_us, 14 * SECOND);
  assert_true(laju_denials_find(&denials, &eleven, no_group, NOON + 6 * SECOND, &found));
  assert_int_equal(found.retry_after_us, LAJU_NEVER);
  assert_false(finds(&four, NOON + 20 * SECOND));
}

static void a_cost_above_the_capacity_is_remembered_for_a_second(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_FIXED_WINDOW, 10, MINUTE);
  laju_check eleven = check_of(&rule, "ann", 11), ten = check_of(&rule, "ann", 10);
  assert_int_equal(refuse(&eleven, 3, NOON).retry_after_us, LAJU_NEVER);
  assert_false(finds(&eleven, NOON)); /* the answer took a second */
  laju_denial denial = denial_of(&eleven, 3, NOON);
  laju_denials_remember(&denials, &denial, NOON + 10);
  laju_decision found;
  assert_true(laju_denials_find(&denials, &eleven, no_group, NOON + SECOND - 1, &found));
  assert_int_equal(found.retry_after_us, LAJU_NEVER);
  assert_int_equal(found.remaining, 7);
  assert_false(finds(&ten, NOON + 10));
  assert_false(finds(&eleven, NOON + SECOND));
}

static void under_a_log_it_is_remembered_no_longer_than_its_numbers_hold(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 10, MINUTE);
  laju_check eleven = check_of(&rule, "ann", 11);
  laju_denial denial = {.check = &eleven, .sent_us = NOON, .store_us = STORE};
  denial.decision = (laju_decision){.limit = 10, .remaining = 2, .retry_after_us = LAJU_NEVER, .more_after_us = 900};
  denial.decision.reset_after_us = 50 * SECOND;
  laju_denials_remember(&denials, &denial, NOON);
  assert_true(finds(&eleven, NOON + 899));
  assert_false(finds(&eleven, NOON + 900));
}

static void what_is_over_when_the_answer_comes_is_not_remembered(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, SECOND);
  laju_check check = check_of(&rule, "ann", 1);
  refuse(&check, 10, NOON);
  for (int64_t now_us = NOON - SECOND; now_us < NOON + SECOND; now_us += 10000) assert_false(finds(&check, now_us));
}

static void a_clock_read_before_the_question_counts_as_its_time(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  laju_check check = check_of(&rule, "ann", 1);
  laju_decision told = refuse(&check, 10, NOON), found;
  assert_true(laju_denials_find(&denials, &check, no_group, NOON - 500, &found));
  assert_int_equal(found.retry_after_us, told.retry_after_us);
}

/* ---- forgetting ---- */

static void a_reset_forgets_the_key_under_every_limit(void **unused) {
  (void)unused;
  laju_rule ten = rule_of("inline", LAJU_TOKEN_BUCKET, 10, MINUTE),
            two = rule_of("inline", LAJU_TOKEN_BUCKET, 2, MINUTE);
  laju_check a = check_of(&ten, "ann", 1), b = check_of(&two, "ann", 1), other = check_of(&ten, "ben", 1);
  refuse(&a, 10, NOON);
  refuse(&b, 2, NOON);
  refuse(&other, 10, NOON);
  laju_denials_forget(&denials, &a, no_group, NOON + SECOND);
  assert_false(finds(&a, NOON + SECOND));
  assert_false(finds(&b, NOON + SECOND));
  assert_true(finds(&other, NOON + SECOND));
}

static void what_was_sent_before_a_reset_is_not_remembered_after_it(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  laju_check check = check_of(&rule, "ann", 1);
  laju_denials_forget(&denials, &check, no_group, NOON);
  refuse(&check, 10, NOON - 1);
  refuse(&check, 10, NOON);
  assert_false(finds(&check, NOON + SECOND));
  laju_denials_forget(&denials, &check, no_group, NOON - SECOND); /* by a slower clock: the later time stays */
  refuse(&check, 10, NOON);
  assert_false(finds(&check, NOON + SECOND));
  refuse(&check, 10, NOON + 1);
  assert_true(finds(&check, NOON + SECOND));
}

/* ---- a full set ---- */

static void what_ends_soonest_makes_room_and_is_counted(void **unused) {
  (void)unused;
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 60, MINUTE); /* a token a second */
  laju_check checks[8];
  for (uint32_t i = 0; i < 8; i++) checks[i] = check_of(&rule, names[i], 10 + i);
  static const uint32_t waits[] = {5, 3, 8, 4, 9, 6};
  for (uint32_t i = 0; i < LAJU_DENIALS_WAYS; i++)
    refuse(&checks[i], 50 + waits[i] - i, NOON); /* for so many seconds */
  assert_int_equal(denials.displaced, 0);
  refuse(&checks[6], 60, NOON + SECOND);
  assert_int_equal(denials.displaced, 1);
  for (size_t i = 0; i < 7; i++) assert_int_equal(finds(&checks[i], NOON + 2 * SECOND), i != 1);
  refuse(&checks[7], 60, NOON + 4 * SECOND); /* in the place of one that is over: the fourth */
  assert_int_equal(denials.displaced, 1);
  assert_true(finds(&checks[0], NOON + 4 * SECOND) && finds(&checks[7], NOON + 5 * SECOND));
}

static void sets_share_the_keys_between_them(void **unused) {
  (void)unused;
  laju_denials_init(&denials, room, sizeof room, fixture_hash_key);
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  char names[24][8];
  size_t found = 0;
  for (size_t i = 0; i < 24; i++) {
    snprintf(names[i], sizeof names[i], "key:%zu", i);
    laju_check check = check_of(&rule, names[i], 1);
    refuse(&check, 10, NOON);
  }
  for (size_t i = 0; i < 24; i++) {
    laju_check check = check_of(&rule, names[i], 1);
    found += finds(&check, NOON + SECOND);
  }
  assert_true(found > LAJU_DENIALS_WAYS); /* more than one set can hold */
  assert_int_equal(found + denials.displaced, 24);
}

/* ---- threads ---- */

#define THREADS 4
#define ROUNDS 20000

/* Entries whose numbers are all one and the same: a torn one would show. */
static void *hammer(void *argument) {
  uint64_t random = *(const uint64_t *)argument;
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, MINUTE);
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (int i = 0; i < ROUNDS; i++) {
    uint64_t x = random_next(&random);
    laju_check check = check_of(&rule, names[x % 8], 65536);
    int64_t wait_us = 1 + (int64_t)(x >> 40);
    laju_decision d = {.limit = 65536, .remaining = (uint32_t)wait_us % 65536, .retry_after_us = wait_us};
    d.more_after_us = d.reset_after_us = wait_us;
    laju_denial denial = {.check = &check, .decision = d, .sent_us = NOON};
    if (x % 16 == 0) laju_denials_remember(&denials, &denial, NOON);
    if (x % 512 == 1) laju_denials_forget(&denials, &check, no_group, NOON - 1);
    if (!laju_denials_find(&denials, &check, no_group, NOON, &d)) continue;
    assert_true(d.retry_after_us == d.more_after_us && d.retry_after_us == d.reset_after_us);
    assert_int_equal(d.remaining, d.retry_after_us % 65536);
  }
  return NULL;
}

static void no_answer_is_put_together_from_two(void **unused) {
  (void)unused;
  pthread_t threads[THREADS];
  uint64_t seeds[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    seeds[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, hammer, &seeds[i]), 0);
  }
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- in the table's memory ---- */

static void a_table_has_one_where_its_options_say_so(void **unused) {
  (void)unused;
  laju_table *table = table_of(MIB);
  assert_null(laju_table_denials(table));
  assert_int_equal(stats_of(table).denials, 0);
  laju_table_free(table);

  laju_table_options options = {.memory_bytes = MIB, .denials_bytes = MIB / 16, .hash_key = fixture_hash_key};
  assert_int_equal(laju_table_new(&table, &options), 0);
  assert_int_equal(stats_of(table).denials, 65536 / sizeof(laju_denials_set) * LAJU_DENIALS_WAYS);
  laju_rule rule = rule_of("api", LAJU_TOKEN_BUCKET, 10, MINUTE);
  laju_check check = check_of(&rule, "ann", 1);
  laju_denial denial = denial_of(&check, 10, NOON);
  laju_denials_remember(laju_table_denials(table), &denial, NOON);
  laju_decision decision;
  assert_true(laju_denials_find(laju_table_denials(table), &check, no_group, NOON, &decision));
  laju_table_free(table);
}

static void its_share_leaves_the_table_room(void **unused) {
  (void)unused;
  laju_table *table;
  laju_table_options most = {.memory_bytes = 8 * MIB, .denials_bytes = 8 * MIB};
  laju_table_options more = {.memory_bytes = 8 * MIB, .denials_bytes = 9 * MIB};
  laju_table_options tiny = {.memory_bytes = 8 * MIB, .denials_bytes = 1000};
  assert_int_equal(laju_table_new(&table, &most), LAJU_ERR_MEMORY);
  assert_int_equal(laju_table_new(&table, &more), LAJU_ERR_MEMORY);
  assert_int_equal(laju_table_new(&table, &tiny), LAJU_ERR_MEMORY);
  for (uint64_t memory = MIB; memory < 20 * MIB; memory += 123457) { /* the largest share that logs may be given */
    laju_table_options logs = {.memory_bytes = memory, .logs_bytes = memory / 5 * 4, .denials_bytes = memory / 16};
    assert_int_equal(laju_table_new(&table, &logs), 0);
    laju_table_free(table);
  }
}

#define TEST(name) cmocka_unit_test_setup(name, init)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_refusal_is_told_again_until_its_wait_is_over),
      TEST(no_answer_is_told_into_the_tick_in_which_the_check_passes),
      TEST(what_the_law_would_say_a_while_later_is_said),
      TEST(a_greater_cost_is_refused_too_and_a_lesser_one_is_not_known),
      TEST(the_refusal_of_the_lesser_cost_stays),
      TEST(another_limit_burst_rule_key_or_group_is_another),
      TEST(a_log_s_decision_is_counted_down),
      TEST(a_cost_above_the_capacity_is_remembered_for_a_second),
      TEST(under_a_log_it_is_remembered_no_longer_than_its_numbers_hold),
      TEST(what_is_over_when_the_answer_comes_is_not_remembered),
      TEST(a_clock_read_before_the_question_counts_as_its_time),
      TEST(a_reset_forgets_the_key_under_every_limit),
      TEST(what_was_sent_before_a_reset_is_not_remembered_after_it),
      TEST(what_ends_soonest_makes_room_and_is_counted),
      TEST(sets_share_the_keys_between_them),
      TEST(no_answer_is_put_together_from_two),
      TEST(a_table_has_one_where_its_options_say_so),
      TEST(its_share_leaves_the_table_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
