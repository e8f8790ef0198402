/* Several threads at one table: no admission is lost, none is made twice, nobody waits for ever. */
#include "table/fixture.h"

#include <pthread.h>

#include "core/decide.h"
#include "core/log.h"

#define THREADS 4

typedef struct crowd {
  laju_table *table;
  const laju_rule *rules;
  size_t rule_count;
  int64_t now_us;
  void (*work)(struct crowd *crowd, unsigned thread, uint64_t *random);
  uint64_t admitted[64]; /* tokens by key, added up when a thread ends */
  pthread_mutex_t lock;
} crowd;

typedef struct member {
  crowd *crowd;
  unsigned thread;
} member;

static void *run_member(void *argument) {
  member *m = argument;
  uint64_t random = m->thread * 1000 + 1;
  m->crowd->work(m->crowd, m->thread, &random);
  return NULL;
}

static void run_crowd(crowd *c) {
  pthread_t threads[THREADS];
  member members[THREADS];
  pthread_mutex_init(&c->lock, NULL);
  for (unsigned i = 0; i < THREADS; i++) {
    members[i] = (member){.crowd = c, .thread = i};
    assert_int_equal(pthread_create(&threads[i], NULL, run_member, &members[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_mutex_destroy(&c->lock);
}

static void add_up(crowd *c, const uint64_t *admitted, size_t keys) {
  pthread_mutex_lock(&c->lock);
  for (size_t k = 0; k < keys; k++) c->admitted[k] += admitted[k];
  pthread_mutex_unlock(&c->lock);
}

static void name_key(char key[24], size_t k) {
  snprintf(key, 24, "key:%zu", k);
}

/* ---- one key ---- */

#define ATTEMPTS 3000 /* of each thread, all at the same instant */

static void hit_one_key(crowd *c, unsigned thread, uint64_t *random) {
  uint64_t admitted = 0;
  laju_check checks[5];
  laju_decision decisions[5];
  for (size_t i = 0; i < 5; i++) checks[i] = check_of(&c->rules[0], "one", 1);
  for (int i = 0; i < ATTEMPTS; i += 5) {
    size_t way = (random_next(random) + thread) % 3; /* by ones, in a batch, several in one request */
    if (way == 0) {
      for (size_t j = 0; j < 5; j++) admitted += decide(c->table, &c->rules[0], "one", 1, c->now_us).allowed;
    } else if (way == 1) {
      laju_table_decide_each(c->table, checks, 5, c->now_us, decisions);
      for (size_t j = 0; j < 5; j++) admitted += decisions[j].allowed;
    } else if (laju_table_decide_all(c->table, checks, 5, c->now_us, decisions)) {
      admitted += 5;
    }
  }
  for (int i = 0; i < 10; i++) admitted += decide(c->table, &c->rules[0], "one", 1, c->now_us).allowed;
  add_up(c, &admitted, 1);
}

/* What the law admits, by ones, until it refuses. */
static uint64_t law_admits(const laju_rule *rule, laju_state *state, laju_log *log, int64_t now_us) {
  laju_decision decision;
  for (uint64_t admitted = 0;; admitted++) {
    if (rule->algorithm == LAJU_SLIDING_WINDOW_LOG) {
      laju_log_decide(rule, log, now_us, 1, &decision);
      if (decision.allowed) laju_log_admit(rule, log, now_us, 1);
    } else {
      laju_decide(rule, state, now_us, 1, &decision);
    }
    if (!decision.allowed) return admitted;
  }
}

static void threads_on_one_key_admit_what_the_law_admits(laju_algorithm algorithm) {
  laju_rule rule = rule_of("api", algorithm, 1000, 100 * SECOND);
  laju_state state = {.words = {0, 0}};
  uint64_t *stamps = malloc(1024 * sizeof *stamps);
  laju_log log = {.stamps = stamps, .capacity = 1024};
  crowd c = {.table = table_of(4 * MIB), .rules = &rule, .rule_count = 1, .work = hit_one_key, .now_us = NOON};
  uint64_t expected = 0;
  for (int round = 0; round < 4; round++, c.now_us += 37 * SECOND) {
    run_crowd(&c);
    expected += law_admits(&rule, &state, &log, c.now_us);
    assert_int_equal(c.admitted[0], expected);
  }
  assert_true(expected > 1000);
  free(stamps);
  laju_table_free(c.table);
}

static void one_token_bucket(void **unused) {
  (void)unused;
  threads_on_one_key_admit_what_the_law_admits(LAJU_TOKEN_BUCKET);
}

static void one_leaky_bucket(void **unused) {
  (void)unused;
  threads_on_one_key_admit_what_the_law_admits(LAJU_LEAKY_BUCKET);
}

static void one_fixed_window(void **unused) {
  (void)unused;
  threads_on_one_key_admit_what_the_law_admits(LAJU_FIXED_WINDOW);
}

static void one_sliding_window_counter(void **unused) {
  (void)unused;
  threads_on_one_key_admit_what_the_law_admits(LAJU_SLIDING_WINDOW_COUNTER);
}

static void one_sliding_window_log(void **unused) {
  (void)unused;
  threads_on_one_key_admit_what_the_law_admits(LAJU_SLIDING_WINDOW_LOG);
}

/* ---- several keys, all or none ---- */

#define KEYS 20
#define REQUESTS 5000

/* Requests of 1 to 16 checks over 20 keys in any order, repeats included: threads take the same locks in opposite orders
 * unless the table sorts them. */
static void request_many_keys(crowd *c, unsigned thread, uint64_t *random) {
  char names[KEYS][24];
  uint64_t admitted[KEYS] = {0};
  for (size_t k = 0; k < KEYS; k++) name_key(names[k], k);
  for (size_t i = 0; i < REQUESTS; i++) {
    laju_check checks[LAJU_CHECKS_MAX];
    laju_decision decisions[LAJU_CHECKS_MAX];
    size_t keys[LAJU_CHECKS_MAX], count = 1 + random_next(random) % LAJU_CHECKS_MAX;
    for (size_t j = 0; j < count; j++) {
      keys[j] = thread % 2 == 0 ? (i + j) % KEYS : (i + KEYS - j) % KEYS;
      if (random_next(random) % 8 == 0) keys[j] = random_next(random) % KEYS;
      checks[j] = check_of(&c->rules[keys[j] % c->rule_count], names[keys[j]], (uint32_t)(random_next(random) % 3));
    }
    bool allowed = laju_table_decide_all(c->table, checks, count, c->now_us, decisions);
    bool each = true;
    for (size_t j = 0; j < count; j++) each &= decisions[j].allowed;
    if (allowed != each) admitted[0] += 1000000; /* told by the sum */
    for (size_t j = 0; j < count && allowed; j++) admitted[keys[j]] += checks[j].cost;
  }
  add_up(c, admitted, KEYS);
}

static void what_is_admitted_is_what_is_used(void **unused) {
  (void)unused;
  laju_rule rules[] = {
      rule_of("api", LAJU_TOKEN_BUCKET, 9000, 3600 * SECOND),
      rule_of("api", LAJU_LEAKY_BUCKET, 8000, 3600 * SECOND),
      rule_of("api", LAJU_FIXED_WINDOW, 7000, 3600 * SECOND),
      rule_of("api", LAJU_SLIDING_WINDOW_COUNTER, 6000, 3600 * SECOND),
      rule_of("api", LAJU_SLIDING_WINDOW_LOG, 5000, 3600 * SECOND),
  };
  crowd c = {.table = table_of(16 * MIB), .rules = rules, .rule_count = 5, .work = request_many_keys, .now_us = NOON};
  run_crowd(&c);
  bool some_limit_reached = false;
  for (size_t k = 0; k < KEYS; k++) {
    char key[24];
    name_key(key, k);
    laju_decision peek = decide(c.table, &rules[k % 5], key, 0, NOON);
    assert_int_equal(c.admitted[k], peek.limit - peek.remaining);
    some_limit_reached |= peek.remaining < 2;
  }
  assert_true(some_limit_reached);
  laju_table_free(c.table);
}

/* ---- giving back ---- */

/* Every second request that is admitted is given back, while others are decided. */
static void give_back_half(crowd *c, unsigned thread, uint64_t *random) {
  (void)thread;
  char names[KEYS][24];
  uint64_t admitted[KEYS] = {0};
  for (size_t k = 0; k < KEYS; k++) name_key(names[k], k);
  for (size_t i = 0; i < REQUESTS; i++) {
    laju_check checks[4];
    laju_decision decisions[4];
    size_t keys[4];
    for (size_t j = 0; j < 4; j++) {
      keys[j] = random_next(random) % KEYS;
      checks[j] = check_of(&c->rules[keys[j] % c->rule_count], names[keys[j]], (uint32_t)(random_next(random) % 3));
    }
    if (!laju_table_decide_all(c->table, checks, 4, c->now_us, decisions)) continue;
    if (i % 2 == 0) {
      laju_table_give_back(c->table, checks, 4, c->now_us);
    } else {
      for (size_t j = 0; j < 4; j++) admitted[keys[j]] += checks[j].cost;
    }
  }
  add_up(c, admitted, KEYS);
}

static void what_is_kept_is_what_was_not_given_back(void **unused) {
  (void)unused;
  laju_rule rules[LAJU_ALGORITHMS];
  for (unsigned a = 0; a < LAJU_ALGORITHMS; a++) rules[a] = rule_of("api", (laju_algorithm)a, 60000, 3600 * SECOND);
  crowd c = {.table = table_of(64 * MIB), .rules = rules, .rule_count = 5, .work = give_back_half, .now_us = NOON};
  run_crowd(&c);
  for (size_t k = 0; k < KEYS; k++) {
    char key[24];
    name_key(key, k);
    laju_decision peek = decide(c.table, &rules[k % 5], key, 0, NOON);
    assert_true(c.admitted[k] > 0);
    assert_int_equal(c.admitted[k], peek.limit - peek.remaining);
  }
  laju_table_free(c.table);
}

/* ---- a slab that is too small for them ---- */

#define LOGS 24

/* Logs of up to 512 KiB in a slab of 512 KiB, several a request, while others sweep and forget. */
static void fight_for_the_slab(crowd *c, unsigned thread, uint64_t *random) {
  char names[LOGS][24];
  for (size_t k = 0; k < LOGS; k++) name_key(names[k], k);
  for (int i = 0; i < 1500; i++) {
    laju_check checks[4];
    laju_decision decisions[4];
    size_t count = 1 + random_next(random) % 4;
    for (size_t j = 0; j < count; j++) {
      uint64_t x = random_next(random);
      uint32_t cost = x % 16 == 0 ? (uint32_t)(x >> 32) % 20000 : (uint32_t)(x >> 32) % 50;
      checks[j] = check_of(&c->rules[0], names[(x >> 8) % LOGS], cost);
    }
    int64_t now_us = c->now_us + i * SECOND;
    laju_table_decide_all(c->table, checks, count, now_us, decisions);
    if (i % 50 == 0)
      laju_table_forget(c->table, &c->rules[0], names[i / 50 % LOGS], strlen(names[i / 50 % LOGS]), now_us);
    if (i % 100 == 7 && thread == 0) laju_table_sweep(c->table, 0, 1u << 20, now_us);
  }
}

static void threads_that_evict_each_others_logs_neither_deadlock_nor_leak(void **unused) {
  (void)unused;
  laju_rule rule = rule_of("log", LAJU_SLIDING_WINDOW_LOG, 65536, 600 * SECOND);
  crowd c = {.table = table_of(MIB), .rules = &rule, .rule_count = 1, .work = fight_for_the_slab, .now_us = NOON};
  run_crowd(&c);
  assert_true(stats_of(c.table).logs_evicted_used > 0);
  int64_t later_us = NOON + 7200 * SECOND;
  assert_int_equal(laju_table_sweep(c.table, 0, 1u << 20, later_us), 0);
  assert_int_equal(stats_of(c.table).keys, 0);
  assert_int_equal(stats_of(c.table).logs_used_bytes, 0);
  assert_int_equal(decide(c.table, &rule, "whole", 65536, later_us).remaining, 0); /* the slab is one piece again */
  assert_int_equal(stats_of(c.table).logs_used_bytes, 512 * 1024);
  laju_table_free(c.table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_token_bucket),
      cmocka_unit_test(one_leaky_bucket),
      cmocka_unit_test(one_fixed_window),
      cmocka_unit_test(one_sliding_window_counter),
      cmocka_unit_test(one_sliding_window_log),
      cmocka_unit_test(what_is_admitted_is_what_is_used),
      cmocka_unit_test(what_is_kept_is_what_was_not_given_back),
      cmocka_unit_test(threads_that_evict_each_others_logs_neither_deadlock_nor_leak),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
