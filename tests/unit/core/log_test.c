#include "core/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000)
#define S (1000 * MS)
#define START (INT64_C(1800000000) * S)

/* One key under a sliding-window-log rule, and room for its stamps. */
typedef struct key {
  laju_rule rule;
  laju_log log;
  uint64_t stamps[2 * LAJU_LOG_LIMIT_MAX];
} key;

static laju_rule rule_of(uint64_t limit, int64_t period_us) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "login", 5, LAJU_SLIDING_WINDOW_LOG, limit, period_us, 0), 0);
  return rule;
}

static key *key_of(uint64_t limit, int64_t period_us) {
  key *k = calloc(1, sizeof *k);
  assert_non_null(k);
  k->rule = rule_of(limit, period_us);
  return k;
}

static void grow(key *k, uint32_t capacity) {
  uint64_t *old = malloc(sizeof k->stamps);
  assert_non_null(old);
  memcpy(old, k->stamps, sizeof k->stamps);
  if (k->log.capacity > 0) k->log.stamps = old;
  laju_log_move(&k->log, k->stamps, capacity);
  free(old);
}

/* Decides, makes room, admits: what a store does. */
static laju_decision ask(key *k, int64_t now_us, uint32_t cost) {
  laju_decision d;
  laju_log_decide(&k->rule, &k->log, now_us, cost, &d);
  if (d.allowed && cost > 0) {
    uint32_t need = laju_log_need(&k->rule, &k->log, now_us, cost);
    if (need > k->log.capacity) grow(k, need);
    laju_log_admit(&k->rule, &k->log, now_us, cost);
  }
  return d;
}

static void an_admission_counts_for_exactly_one_period(void **state) {
  (void)state;
  key *k = key_of(3, 60 * S);
  assert_int_equal(ask(k, START, 1).remaining, 2);
  assert_int_equal(ask(k, START + 10 * S, 1).remaining, 1);
  assert_int_equal(ask(k, START + 20 * S, 1).remaining, 0);
  laju_decision fourth = ask(k, START + 30 * S, 1);
  assert_false(fourth.allowed);
  assert_int_equal(fourth.retry_after_us, 30 * S);
  assert_int_equal(fourth.more_after_us, 30 * S);
  assert_int_equal(fourth.reset_after_us, 50 * S);
  assert_false(ask(k, START + 60 * S - 100, 1).allowed);
  assert_true(ask(k, START + 60 * S, 1).allowed);
  free(k);
}

static void a_larger_cost_waits_for_as_many_to_expire(void **state) {
  (void)state;
  key *k = key_of(3, 60 * S);
  for (int i = 0; i < 3; i++) assert_true(ask(k, START + i * S, 1).allowed);
  assert_int_equal(ask(k, START + 10 * S, 1).retry_after_us, 50 * S);
  assert_int_equal(ask(k, START + 10 * S, 2).retry_after_us, 51 * S);
  assert_int_equal(ask(k, START + 10 * S, 3).retry_after_us, 52 * S);
  assert_int_equal(ask(k, START + 10 * S, 4).retry_after_us, LAJU_NEVER);
  free(k);
}

static void no_window_ever_holds_more_than_the_limit(void **state) {
  (void)state;
  key *k = key_of(10, S);
  int64_t admitted[2000];
  size_t count = 0;
  uint32_t seed = 7;
  for (int64_t now = START; now < START + 20 * S; now += (seed >> 8) % (40 * MS)) {
    seed = seed * 1664525 + 1013904223;
    if (!ask(k, now, 1).allowed) continue;
    assert_true(count < 2000);
    admitted[count++] = now;
    if (count > 10) assert_true(now - admitted[count - 11] >= S);
  }
  assert_in_range(count, 150, 200);
  free(k);
}

static void a_ring_starts_at_8_and_doubles(void **state) {
  (void)state;
  key *k = key_of(65536, 60 * S);
  assert_int_equal(laju_log_need(&k->rule, &k->log, START, 1), 8);
  assert_int_equal(laju_log_need(&k->rule, &k->log, START, 8), 8);
  assert_int_equal(laju_log_need(&k->rule, &k->log, START, 9), 16);
  assert_int_equal(laju_log_need(&k->rule, &k->log, START, 65536), 65536);
  free(k);
}

static void expired_stamps_make_room_before_the_ring_grows(void **state) {
  (void)state;
  key *k = key_of(8, S);
  for (int i = 0; i < 1000; i++) assert_true(ask(k, START + i * 125 * MS, 1).allowed);
  assert_int_equal(k->log.capacity, 8);
  free(k);
}

static void growing_a_ring_that_has_wrapped_keeps_its_order(void **state) {
  (void)state;
  key *k = key_of(20, S);
  for (int i = 0; i < 13; i++) assert_true(ask(k, START + i * 130 * MS, 1).allowed);
  assert_int_equal(k->log.capacity, 8);
  assert_true(k->log.head > 0);
  laju_decision before, after;
  laju_log_decide(&k->rule, &k->log, START + 1700 * MS, 0, &before);
  grow(k, 32);
  laju_log_decide(&k->rule, &k->log, START + 1700 * MS, 0, &after);
  assert_int_equal(k->log.head, 0);
  assert_int_equal(before.remaining, after.remaining);
  assert_int_equal(before.more_after_us, after.more_after_us);
  assert_int_equal(before.reset_after_us, after.reset_after_us);
  for (uint32_t i = 1; i < k->log.count; i++) assert_true(k->stamps[i] > k->stamps[i - 1]);
  free(k);
}

static void the_largest_limit_is_exact(void **state) {
  (void)state;
  key *k = key_of(65536, 60 * S);
  assert_int_equal(ask(k, START, 65535).remaining, 1);
  assert_false(ask(k, START, 2).allowed);
  assert_int_equal(ask(k, START + S, 1).remaining, 0);
  assert_int_equal(ask(k, START + S, 1).retry_after_us, 59 * S);
  assert_int_equal(ask(k, START + S, 65536).retry_after_us, 60 * S);
  assert_int_equal(k->log.capacity, 65536);
  free(k);
}

static void a_limit_of_0_refuses_all_but_peeks(void **state) {
  (void)state;
  key *k = key_of(0, S);
  assert_int_equal(ask(k, START, 1).retry_after_us, LAJU_NEVER);
  assert_true(ask(k, START, 0).allowed);
  free(k);
}

static void pending_tokens_count_as_if_written_now(void **state) {
  (void)state;
  key *k = key_of(10, 60 * S);
  assert_true(ask(k, START, 4).allowed);
  k->log.pending = 5;
  laju_decision d;
  laju_log_decide(&k->rule, &k->log, START + S, 1, &d);
  assert_true(d.allowed);
  assert_int_equal(d.remaining, 0);
  laju_log_decide(&k->rule, &k->log, START + S, 2, &d);
  assert_false(d.allowed);
  assert_int_equal(d.retry_after_us, 59 * S);
  laju_log_decide(&k->rule, &k->log, START + S, 6, &d);
  assert_int_equal(d.retry_after_us, 60 * S); /* five of the pending must go too, and they count from now */
  free(k);
}

static void a_refusal_and_a_peek_change_nothing(void **state) {
  (void)state;
  key *k = key_of(2, 60 * S);
  assert_true(ask(k, START, 2).allowed);
  laju_log before = k->log;
  for (int i = 0; i < 100; i++) assert_false(ask(k, START + i * MS, 1).allowed);
  assert_true(ask(k, START + 200 * S, 0).allowed);
  assert_memory_equal(&k->log, &before, sizeof before);
  free(k);
}

static void a_clock_set_back_mints_nothing_and_waits_count_from_it(void **state) {
  (void)state;
  key *k = key_of(2, 60 * S);
  assert_true(ask(k, START, 1).allowed);
  assert_true(ask(k, START - 5 * S, 1).allowed); /* stands at START, not before it */
  laju_decision d = ask(k, START - 5 * S, 1);
  assert_false(d.allowed);
  assert_int_equal(d.retry_after_us, 65 * S);
  assert_false(ask(k, START + 60 * S - 100, 1).allowed);
  assert_true(ask(k, START + 60 * S, 2).allowed);
  free(k);
}

static void a_clock_that_was_far_ahead_is_taken_for_a_mistake(void **state) {
  (void)state;
  key *k = key_of(2, 60 * S);
  assert_true(ask(k, START + 3600 * S, 2).allowed);
  assert_int_equal(ask(k, START, 1).remaining, 1);
  assert_int_equal(k->log.count, 1);
  free(k);
}

static void over_a_lowered_limit_the_wait_is_exact(void **state) {
  (void)state;
  key *k = key_of(10, 60 * S);
  for (int i = 0; i < 10; i++) assert_true(ask(k, START + i * S, 1).allowed);
  k->rule = rule_of(3, 60 * S);
  laju_decision d = ask(k, START + 10 * S, 1);
  assert_false(d.allowed);
  assert_int_equal(d.limit, 3);
  assert_int_equal(d.remaining, 0);
  assert_int_equal(d.retry_after_us, 57 * S); /* the eighth of ten must expire */
  assert_true(ask(k, START + 10 * S, 0).allowed);
  assert_true(ask(k, START + 67 * S, 1).allowed);
  free(k);
}

static void at_most_n_takes_what_remains(void **state) {
  (void)state;
  key *k = key_of(10, 60 * S);
  assert_true(ask(k, START, 6).allowed);
  laju_decision d;
  assert_int_equal(laju_log_take(&k->rule, &k->log, START, 3, &d), 3);
  assert_int_equal(d.remaining, 1);
  assert_int_equal(laju_log_take(&k->rule, &k->log, START, LAJU_TOKENS_MAX, &d), 4);
  assert_int_equal(d.remaining, 0);
  assert_int_equal(k->log.count, 6); /* nothing is charged by asking */
  free(k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_admission_counts_for_exactly_one_period),
      cmocka_unit_test(a_larger_cost_waits_for_as_many_to_expire),
      cmocka_unit_test(no_window_ever_holds_more_than_the_limit),
      cmocka_unit_test(a_ring_starts_at_8_and_doubles),
      cmocka_unit_test(expired_stamps_make_room_before_the_ring_grows),
      cmocka_unit_test(growing_a_ring_that_has_wrapped_keeps_its_order),
      cmocka_unit_test(the_largest_limit_is_exact),
      cmocka_unit_test(a_limit_of_0_refuses_all_but_peeks),
      cmocka_unit_test(pending_tokens_count_as_if_written_now),
      cmocka_unit_test(a_refusal_and_a_peek_change_nothing),
      cmocka_unit_test(a_clock_set_back_mints_nothing_and_waits_count_from_it),
      cmocka_unit_test(a_clock_that_was_far_ahead_is_taken_for_a_mistake),
      cmocka_unit_test(over_a_lowered_limit_the_wait_is_exact),
      cmocka_unit_test(at_most_n_takes_what_remains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
