/* An admission that is taken back: whoever comes after is never admitted more than if it had never been. */
#include "core/decide.h"
#include "core/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decisions.h"
#define S INT64_C(1000000)
#define START (INT64_C(1800000000) * S) /* a whole minute */
#define STAMPS 512                      /* more than any trace here admits */

/* One key under any of the five algorithms. */
typedef struct key {
  laju_rule rule;
  laju_state state;
  laju_log log;
  uint64_t stamps[STAMPS];
} key;

static void init(key *k, laju_algorithm algorithm, uint64_t limit, uint64_t burst) {
  *k = (key){.log = {.capacity = STAMPS}};
  k->log.stamps = k->stamps;
  assert_int_equal(laju_rule_init(&k->rule, "login", 5, algorithm, limit, 60 * S, burst), 0);
}

static laju_decision ask(key *k, int64_t now_us, uint32_t cost) {
  laju_decision d;
  if (k->rule.algorithm != LAJU_SLIDING_WINDOW_LOG) {
    laju_decide(&k->rule, &k->state, now_us, cost, &d);
    return d;
  }
  laju_log_decide(&k->rule, &k->log, now_us, cost, &d);
  if (d.allowed && cost > 0) {
    assert_true(laju_log_need(&k->rule, &k->log, now_us, cost) <= STAMPS);
    laju_log_admit(&k->rule, &k->log, now_us, cost);
  }
  return d;
}

static void give_back(key *k, int64_t charged_us, uint32_t cost) {
  if (k->rule.algorithm == LAJU_SLIDING_WINDOW_LOG) {
    laju_log_give_back(&k->rule, &k->log, charged_us, cost);
  } else {
    laju_give_back(&k->rule, &k->state, charged_us, cost);
  }
}

static key *key_of(laju_algorithm algorithm, uint64_t limit, uint64_t burst) {
  key *k = malloc(sizeof *k);
  assert_non_null(k);
  init(k, algorithm, limit, burst);
  return k;
}

/* ---- each algorithm's own ---- */

static void what_nobody_came_after_is_given_back_whole(void **unused) {
  (void)unused;
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    key *k = key_of((laju_algorithm)a, 10, 0);
    ask(k, START, 3);
    assert_int_equal(ask(k, START + S, 4).remaining, 3);
    laju_decision before = ask(k, START + S, 0);
    ask(k, START + S, 2);
    give_back(k, START + S, 2);
    laju_decision after = ask(k, START + S, 0);
    assert_same_decision(&after, &before);
    free(k);
  }
}

static void a_bucket_that_ran_empty_since_has_nothing_to_give(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_TOKEN_BUCKET, 10, 0); /* a token in 6 s */
  ask(k, START, 2);
  ask(k, START + 12 * S, 3);
  give_back(k, START, 2);
  assert_int_equal(ask(k, START + 12 * S, 0).remaining, 7);
  free(k);
}

static void a_bucket_gives_back_what_cannot_have_drained_by_the_latest_admission(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_LEAKY_BUCKET, 10, 0);
  ask(k, START, 4);
  ask(k, START + 6 * S, 1); /* a token of the four has left */
  give_back(k, START, 4);
  assert_int_equal(ask(k, START + 6 * S, 0).remaining, 9);
  free(k);
}

static void a_window_gives_back_in_the_window_of_the_charge_and_in_the_next(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_SLIDING_WINDOW_COUNTER, 10, 0);
  ask(k, START, 4);
  give_back(k, START, 4);
  assert_int_equal(ask(k, START, 0).remaining, 10);
  ask(k, START, 4);
  ask(k, START + 60 * S, 1);
  give_back(k, START, 4);
  assert_int_equal(ask(k, START + 60 * S, 0).remaining, 9);
  ask(k, START + 120 * S, 2);
  give_back(k, START, 4); /* two windows later: nothing of it counts any more */
  assert_int_equal(ask(k, START + 120 * S, 0).remaining, 7);
  free(k);
}

static void a_fixed_window_gives_nothing_back_from_the_window_before(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_FIXED_WINDOW, 10, 0);
  ask(k, START, 4);
  ask(k, START + 60 * S, 1);
  give_back(k, START, 4);
  assert_int_equal(ask(k, START + 60 * S, 0).remaining, 9);
  free(k);
}

static void a_log_gives_back_its_own_stamps_from_among_others(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_SLIDING_WINDOW_LOG, 10, 0);
  ask(k, START, 1);
  ask(k, START + 10 * S, 3);
  ask(k, START + 20 * S, 2);
  give_back(k, START + 10 * S, 3);
  assert_int_equal(k->log.count, 3);
  assert_int_equal(ask(k, START + 20 * S, 0).remaining, 7);
  assert_int_equal(ask(k, START + 60 * S, 0).remaining, 8); /* the first expires when it would have */
  assert_int_equal(ask(k, START + 80 * S, 0).remaining, 10);
  free(k);
}

static void a_log_gives_back_across_the_end_of_its_ring(void **unused) {
  (void)unused;
  key *k = key_of(LAJU_SLIDING_WINDOW_LOG, 10, 0);
  k->log.head = STAMPS - 3;
  ask(k, START, 2);
  ask(k, START + S, 2);
  ask(k, START + 2 * S, 2);
  give_back(k, START + S, 2);
  assert_int_equal(k->log.count, 4);
  assert_int_equal(ask(k, START + 61 * S, 0).remaining, 8);
  assert_int_equal(ask(k, START + 62 * S, 0).remaining, 10);
  free(k);
}

static void of_several_at_one_instant_only_as_many_go_as_were_charged(void **unused) {
  (void)unused;
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    key *k = key_of((laju_algorithm)a, 10, 0);
    ask(k, START, 5);
    ask(k, START, 3);
    give_back(k, START, 3);
    assert_int_equal(ask(k, START, 0).remaining, 5);
    give_back(k, START, 5);
    assert_int_equal(ask(k, START, 0).remaining, 10);
    give_back(k, START, 5); /* nothing stands any more */
    assert_int_equal(ask(k, START, 0).remaining, 10);
    free(k);
  }
}

static void a_state_that_is_older_than_the_charge_is_another_and_stays(void **unused) {
  (void)unused;
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    key *k = key_of((laju_algorithm)a, 10, 0);
    ask(k, START, 5);
    give_back(k, START + 120 * S, 5);
    assert_int_equal(ask(k, START, 0).remaining, 5);
    free(k);
  }
}

static void a_limit_of_0_has_nothing_to_give(void **unused) {
  (void)unused;
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) {
    key *k = key_of((laju_algorithm)a, 0, 0);
    give_back(k, START, 1);
    assert_int_equal(ask(k, START, 0).remaining, 0);
    free(k);
  }
}

/* ---- never looser ---- */

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

#define LENT 4 /* admissions that wait to be taken back */

typedef struct lent {
  int64_t charged_us;
  uint32_t cost; /* 0: none */
} lent;

/* With what was lent and in part taken back, a key must not be let more, nor sooner, than without. */
static void assert_no_looser(key *with, key *without, int64_t now_us) {
  laju_decision w = ask(with, now_us, 0), o = ask(without, now_us, 0);
  assert_true(w.remaining <= o.remaining);
  assert_true(w.reset_after_us >= o.reset_after_us);
  for (uint32_t cost = o.remaining + 1; cost <= with->rule.capacity; cost++) {
    key copy_with = *with, copy_without = *without;
    copy_with.log.stamps = copy_with.stamps;
    copy_without.log.stamps = copy_without.stamps;
    assert_true(ask(&copy_with, now_us, cost).retry_after_us >= ask(&copy_without, now_us, cost).retry_after_us);
  }
}

/* `with` lends and takes back between the admissions of others; `without` sees those others alone. Times stand still at times,
 * and never go back. */
static void one_trace(uint64_t *seed, laju_algorithm algorithm) {
  static key with, without;
  uint64_t limit = 1 + random_next(seed) % 20;
  uint64_t burst = algorithm > LAJU_LEAKY_BUCKET || random_next(seed) % 2 ? 0 : 1 + random_next(seed) % 40;
  init(&with, algorithm, limit, burst);
  init(&without, algorithm, limit, burst);
  lent out[LENT] = {{0}};
  int64_t now_us = START + (int64_t)(random_next(seed) % 60) * S;
  for (int i = 0; i < 60; i++) {
    if (random_next(seed) % 2) now_us += (int64_t)(random_next(seed) % (random_next(seed) % 8 == 0 ? 90 : 5)) * S / 3;
    uint32_t cost = 1 + (uint32_t)(random_next(seed) % 5);
    lent *at = &out[random_next(seed) % LENT];
    if (at->cost > 0) {
      give_back(&with, at->charged_us, at->cost);
      at->cost = 0;
    } else if (random_next(seed) % 2) {
      if (ask(&with, now_us, cost).allowed) *at = (lent){.charged_us = now_us, .cost = cost};
    } else if (ask(&with, now_us, cost).allowed) {
      assert_true(ask(&without, now_us, cost).allowed);
    }
    assert_no_looser(&with, &without, now_us);
  }
}

static void what_others_are_admitted_would_have_been_admitted_without(void **unused) {
  (void)unused;
  uint64_t seed = 7;
  for (int i = 0; i < 2000; i++) one_trace(&seed, (laju_algorithm)(i % LAJU_ALGORITHMS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_nobody_came_after_is_given_back_whole),
      cmocka_unit_test(a_bucket_that_ran_empty_since_has_nothing_to_give),
      cmocka_unit_test(a_bucket_gives_back_what_cannot_have_drained_by_the_latest_admission),
      cmocka_unit_test(a_window_gives_back_in_the_window_of_the_charge_and_in_the_next),
      cmocka_unit_test(a_fixed_window_gives_nothing_back_from_the_window_before),
      cmocka_unit_test(a_log_gives_back_its_own_stamps_from_among_others),
      cmocka_unit_test(a_log_gives_back_across_the_end_of_its_ring),
      cmocka_unit_test(of_several_at_one_instant_only_as_many_go_as_were_charged),
      cmocka_unit_test(a_state_that_is_older_than_the_charge_is_another_and_stays),
      cmocka_unit_test(a_limit_of_0_has_nothing_to_give),
      cmocka_unit_test(what_others_are_admitted_would_have_been_admitted_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
