#include "core/decide.h"
#include "core/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define MS INT64_C(1000)
#define S (1000 * MS)
#define HOUR (3600 * S)
#define START (INT64_C(1800000000) * S) /* a whole minute and a whole hour */

static laju_rule rule_of(laju_algorithm algorithm, uint64_t limit, int64_t period_us, uint64_t burst) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "login", 5, algorithm, limit, period_us, burst), 0);
  return rule;
}

/* One key under one rule. */
typedef struct key {
  laju_rule rule;
  laju_state state;
} key;

static key key_of(laju_algorithm algorithm, uint64_t limit, int64_t period_us, uint64_t burst) {
  return (key){.rule = rule_of(algorithm, limit, period_us, burst)};
}

static laju_decision ask(key *k, int64_t now_us, uint32_t cost) {
  laju_decision d;
  laju_decide(&k->rule, &k->state, now_us, cost, &d);
  return d;
}

static const laju_algorithm constant_size[] = {LAJU_TOKEN_BUCKET, LAJU_LEAKY_BUCKET, LAJU_FIXED_WINDOW,
                                               LAJU_SLIDING_WINDOW_COUNTER};

/* ---- token bucket ---- */

static void a_bucket_gives_its_burst_at_once_and_then_one_token_at_a_time(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 5, 60 * S, 10);
  laju_decision first = ask(&k, START, 1);
  assert_true(first.allowed);
  assert_int_equal(first.limit, 10);
  assert_int_equal(first.remaining, 9);
  assert_int_equal(first.reset_after_us, 12 * S);
  assert_int_equal(first.more_after_us, 12 * S);
  for (uint32_t left = 8; left > 0; left--) assert_int_equal(ask(&k, START, 1).remaining, left);
  assert_true(ask(&k, START, 1).allowed);
  laju_decision eleventh = ask(&k, START, 1);
  assert_false(eleventh.allowed);
  assert_int_equal(eleventh.remaining, 0);
  assert_int_equal(eleventh.retry_after_us, 12 * S);
  assert_int_equal(eleventh.reset_after_us, 120 * S);
}

static void a_token_comes_back_at_its_instant_and_not_a_tick_before(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 5, 60 * S, 10);
  assert_int_equal(k.rule.tick_us, 100);
  assert_true(ask(&k, START, 10).allowed);
  assert_false(ask(&k, START + 12 * S - 100, 1).allowed);
  assert_true(ask(&k, START + 12 * S, 1).allowed);
}

static void touching_a_bucket_loses_no_fraction_of_a_token(void **state) {
  (void)state;
  key touched = key_of(LAJU_TOKEN_BUCKET, 7, S, 7);
  assert_true(ask(&touched, START, 7).allowed);
  int64_t got = 0;
  for (int64_t now = START; now < START + 10 * S; now += 997) got += ask(&touched, now, 1).allowed;
  assert_int_equal(got, 69); /* the seventieth comes with the tenth second's end */
  assert_true(ask(&touched, START + 10 * S, 1).allowed);
}

/* ---- leaky bucket ---- */

static void a_leaky_bucket_tells_each_how_long_its_queue_is(void **state) {
  (void)state;
  key k = key_of(LAJU_LEAKY_BUCKET, 10, S, 3);
  assert_int_equal(ask(&k, START, 1).delay_us, 0);
  assert_int_equal(ask(&k, START, 1).delay_us, 100 * MS);
  assert_int_equal(ask(&k, START, 1).delay_us, 200 * MS);
  laju_decision fourth = ask(&k, START, 1);
  assert_false(fourth.allowed);
  assert_int_equal(fourth.delay_us, 0);
  assert_int_equal(fourth.retry_after_us, 100 * MS);
  assert_int_equal(ask(&k, START + 150 * MS, 1).delay_us, 150 * MS);
}

static void a_peek_at_a_leaky_bucket_waits_for_nothing(void **state) {
  (void)state;
  key k = key_of(LAJU_LEAKY_BUCKET, 10, S, 3);
  assert_true(ask(&k, START, 3).allowed);
  assert_int_equal(ask(&k, START, 0).delay_us, 0);
}

/* ---- fixed window ---- */

static void a_window_ends_at_its_edge_by_the_clock(void **state) {
  (void)state;
  key k = key_of(LAJU_FIXED_WINDOW, 3, 60 * S, 0);
  assert_int_equal(ask(&k, START + 59 * S, 3).remaining, 0);
  laju_decision fourth = ask(&k, START + 59 * S, 1);
  assert_false(fourth.allowed);
  assert_int_equal(fourth.retry_after_us, S);
  assert_int_equal(fourth.reset_after_us, S);
  assert_false(ask(&k, START + 60 * S - 100, 1).allowed);
  assert_int_equal(ask(&k, START + 60 * S, 1).remaining, 2);
}

static void twice_the_limit_can_pass_around_an_edge(void **state) {
  (void)state;
  key k = key_of(LAJU_FIXED_WINDOW, 3, 60 * S, 0);
  assert_true(ask(&k, START + 59 * S, 3).allowed);
  assert_true(ask(&k, START + 60 * S, 3).allowed);
}

/* ---- sliding window counter ---- */

static void the_window_before_counts_by_the_part_of_it_still_seen(void **state) {
  (void)state;
  key k = key_of(LAJU_SLIDING_WINDOW_COUNTER, 100, 60 * S, 0);
  assert_true(ask(&k, START + 30 * S, 80).allowed);
  assert_int_equal(ask(&k, START + 60 * S, 0).remaining, 20);
  assert_int_equal(ask(&k, START + 75 * S, 0).remaining, 40); /* three quarters of 80 */
  assert_int_equal(ask(&k, START + 90 * S, 0).remaining, 60);
  assert_int_equal(ask(&k, START + 120 * S, 0).remaining, 100);
}

static void a_counter_s_refusal_tells_the_exact_wait(void **state) {
  (void)state;
  key k = key_of(LAJU_SLIDING_WINDOW_COUNTER, 100, 60 * S, 0);
  assert_true(ask(&k, START, 100).allowed);
  laju_decision refused = ask(&k, START + 10 * S, 1);
  assert_false(refused.allowed);
  assert_int_equal(refused.retry_after_us, 50 * S + 600 * MS); /* the edge, then a hundredth of the window */
  assert_int_equal(refused.reset_after_us, 110 * S);
  assert_false(ask(&k, START + 60 * S + 600 * MS - 100, 1).allowed);
  assert_true(ask(&k, START + 60 * S + 600 * MS, 1).allowed);
}

/* ---- all of constant size ---- */

static void ten_of_ten_are_admitted_and_the_eleventh_is_not(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, HOUR, 0);
    for (uint32_t left = 10; left-- > 0;) assert_int_equal(ask(&k, START, 1).remaining, left);
    assert_false(ask(&k, START, 1).allowed);
  }
}

static void a_refusal_and_a_peek_write_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, HOUR, 0);
    assert_true(ask(&k, START, 9).allowed);
    laju_state before = k.state;
    for (int j = 0; j < 100; j++) assert_false(ask(&k, START + j * MS, 2).allowed);
    assert_memory_equal(&k.state, &before, sizeof before);
    assert_true(ask(&k, START + S, 0).allowed);
    assert_memory_equal(&k.state, &before, sizeof before);
  }
}

static void a_cost_above_the_capacity_can_never_pass_and_charges_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, HOUR, 0);
    for (uint32_t cost = 11; cost != 0; cost = cost == 11 ? LAJU_TOKENS_MAX : 0) {
      laju_decision d = ask(&k, START, cost);
      assert_false(d.allowed);
      assert_int_equal(d.retry_after_us, LAJU_NEVER);
      assert_int_equal(d.remaining, 10);
      assert_int_equal(d.reset_after_us, 0);
    }
    assert_int_equal(ask(&k, START, 10).remaining, 0);
  }
}

static void a_limit_of_0_refuses_all_but_peeks(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 0, HOUR, 0);
    laju_decision d = ask(&k, START, 1);
    assert_false(d.allowed);
    assert_int_equal(d.retry_after_us, LAJU_NEVER);
    assert_int_equal(d.limit, 0);
    assert_int_equal(d.remaining, 0);
    assert_true(ask(&k, START, 0).allowed);
  }
}

static void the_largest_numbers_are_exact(void **state) {
  (void)state;
  const uint32_t most = LAJU_TOKENS_MAX;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], most, LAJU_PERIOD_MAX_US, 0);
    assert_int_equal(ask(&k, START, most - 1).remaining, 1);
    assert_false(ask(&k, START, 2).allowed);
    assert_int_equal(ask(&k, START, 1).remaining, 0);
    assert_false(ask(&k, START, 1).allowed);
    assert_int_equal(ask(&k, LAJU_TIME_MAX_US, 0).remaining, most); /* idle for 228 years */
    assert_true(ask(&k, LAJU_TIME_MAX_US, most).allowed);
  }
}

static void a_wait_is_never_told_above_its_bound(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 1, LAJU_PERIOD_MAX_US, LAJU_TOKENS_MAX);
  laju_decision d = ask(&k, START, LAJU_TOKENS_MAX);
  assert_true(d.allowed);
  assert_int_equal(d.reset_after_us, LAJU_WAIT_MAX_US);
  assert_int_equal(d.more_after_us, LAJU_PERIOD_MAX_US);
}

/* ---- clocks ---- */

static void a_clock_set_back_mints_nothing_and_waits_count_from_it(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 10, 60 * S, 0);
  assert_true(ask(&k, START, 10).allowed);
  laju_decision back = ask(&k, START - 5 * S, 1);
  assert_false(back.allowed);
  assert_int_equal(back.retry_after_us, 11 * S); /* 5 s to where it was, 6 s for a token */
  assert_false(ask(&k, START + 6 * S - 100, 1).allowed);
  assert_true(ask(&k, START + 6 * S, 1).allowed);
}

static void times_that_alternate_mint_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, HOUR, 0);
    int admitted = 0;
    for (int j = 0; j < 1000; j++) admitted += ask(&k, j % 2 ? START : START + 30 * S, 1).allowed;
    assert_int_equal(admitted, 10);
  }
}

static void a_window_held_ahead_counts_until_its_own_end(void **state) {
  (void)state;
  key k = key_of(LAJU_FIXED_WINDOW, 2, 60 * S, 0);
  assert_true(ask(&k, START + 60 * S, 2).allowed);
  laju_decision back = ask(&k, START + 55 * S, 1);
  assert_false(back.allowed);
  assert_int_equal(back.retry_after_us, 65 * S);
}

static void a_clock_that_was_far_ahead_is_taken_for_a_mistake(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, 60 * S, 0);
    assert_true(ask(&k, START + 24 * HOUR, 10).allowed);
    laju_decision d = ask(&k, START, 1);
    assert_true(d.allowed);
    assert_int_equal(d.remaining, 9);
  }
}

static void ten_seconds_ahead_is_no_mistake_under_a_short_period(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 1, 100 * MS, 0);
  assert_true(ask(&k, START + 10 * S, 1).allowed);
  laju_decision held = ask(&k, START, 1);
  assert_false(held.allowed);
  assert_int_equal(held.retry_after_us, 10 * S + 100 * MS);
  assert_true(ask(&k, START - 1, 1).allowed); /* 10 s and a tick: a mistake */
}

/* ---- changed limits ---- */

static void a_lowered_limit_keeps_what_was_used(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 100, HOUR, 0);
    assert_true(ask(&k, START, 60).allowed);
    k.rule = rule_of(constant_size[i], 10, HOUR, 0);
    laju_decision peek = ask(&k, START, 0);
    assert_true(peek.allowed);
    assert_int_equal(peek.limit, 10);
    assert_int_equal(peek.remaining, 0);
    assert_false(ask(&k, START, 1).allowed);
    k.rule = rule_of(constant_size[i], 100, HOUR, 0);
    assert_int_equal(ask(&k, START, 0).remaining, 40);
  }
}

static void over_a_lowered_limit_the_wait_is_still_exact(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 100, HOUR, 0);
    assert_true(ask(&k, START, 60).allowed);
    k.rule = rule_of(constant_size[i], 10, HOUR, 0);
    laju_decision d = ask(&k, START, 1);
    key early = k, then = k;
    assert_false(ask(&early, START + d.retry_after_us - k.rule.tick_us, 1).allowed);
    assert_true(ask(&then, START + d.retry_after_us, 1).allowed);
  }
}

/* ---- taking what there is ---- */

static void at_most_n_takes_n_or_what_remains(void **state) {
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    key k = key_of(constant_size[i], 10, HOUR, 0);
    laju_decision d;
    assert_int_equal(laju_take(&k.rule, &k.state, START, 7, &d), 7);
    assert_int_equal(d.remaining, 3);
    assert_int_equal(laju_take(&k.rule, &k.state, START, 7, &d), 3);
    assert_int_equal(d.remaining, 0);
    laju_state before = k.state;
    assert_int_equal(laju_take(&k.rule, &k.state, START, 7, &d), 0);
    assert_true(d.allowed);
    assert_memory_equal(&k.state, &before, sizeof before);
    assert_int_equal(laju_take(&k.rule, &k.state, START, 0, &d), 0);
  }
}

static void at_most_everything_takes_the_capacity(void **state) {
  (void)state;
  key k = key_of(LAJU_TOKEN_BUCKET, 5, S, 12);
  laju_decision d;
  assert_int_equal(laju_take(&k.rule, &k.state, START, LAJU_TOKENS_MAX, &d), 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bucket_gives_its_burst_at_once_and_then_one_token_at_a_time),
      cmocka_unit_test(a_token_comes_back_at_its_instant_and_not_a_tick_before),
      cmocka_unit_test(touching_a_bucket_loses_no_fraction_of_a_token),
      cmocka_unit_test(a_leaky_bucket_tells_each_how_long_its_queue_is),
      cmocka_unit_test(a_peek_at_a_leaky_bucket_waits_for_nothing),
      cmocka_unit_test(a_window_ends_at_its_edge_by_the_clock),
      cmocka_unit_test(twice_the_limit_can_pass_around_an_edge),
      cmocka_unit_test(the_window_before_counts_by_the_part_of_it_still_seen),
      cmocka_unit_test(a_counter_s_refusal_tells_the_exact_wait),
      cmocka_unit_test(ten_of_ten_are_admitted_and_the_eleventh_is_not),
      cmocka_unit_test(a_refusal_and_a_peek_write_nothing),
      cmocka_unit_test(a_cost_above_the_capacity_can_never_pass_and_charges_nothing),
      cmocka_unit_test(a_limit_of_0_refuses_all_but_peeks),
      cmocka_unit_test(the_largest_numbers_are_exact),
      cmocka_unit_test(a_wait_is_never_told_above_its_bound),
      cmocka_unit_test(a_clock_set_back_mints_nothing_and_waits_count_from_it),
      cmocka_unit_test(times_that_alternate_mint_nothing),
      cmocka_unit_test(a_window_held_ahead_counts_until_its_own_end),
      cmocka_unit_test(a_clock_that_was_far_ahead_is_taken_for_a_mistake),
      cmocka_unit_test(ten_seconds_ahead_is_no_mistake_under_a_short_period),
      cmocka_unit_test(a_lowered_limit_keeps_what_was_used),
      cmocka_unit_test(over_a_lowered_limit_the_wait_is_still_exact),
      cmocka_unit_test(at_most_n_takes_n_or_what_remains),
      cmocka_unit_test(at_most_everything_takes_the_capacity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
