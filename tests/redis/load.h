/* Checks under way without a pause, through the store, on keys of the test's; and what became of them, key by key.
 *
 * Each takes 1 of a limit that is not used up, in a window that does not end: what remains tells how often a key was charged. */
#ifndef TESTS_REDIS_LOAD_H
#define TESTS_REDIS_LOAD_H

#include "redis/store_fixture.h"

#define LOAD_KEYS 300
#define LOAD_WINDOW 32 /* requests at once */
#define LOAD_LIMIT 1000000

/* For what the loop does not tell. */
#define WAIT_FOR(condition)                      \
  do {                                           \
    for (int tries = 0; !(condition); tries++) { \
      assert_true(tries < PATIENCE_MS / 10);     \
      let_pass(loop, 10);                        \
    }                                            \
  } while (0)

typedef struct load_key {
  char name[32];
  uint64_t answered, failed; /* checks */
} load_key;

typedef struct load_request {
  errand errand; /* first */
  load_key *key; /* NULL: it waits for the timer */
} load_request;

static struct {
  laju_rule rule;
  load_key keys[LOAD_KEYS];
  load_request requests[LOAD_WINDOW];
  size_t next, under_way, answered, failed;
  bool stopping;
  uv_timer_t again; /* for those that were not sent at all */
  int64_t longest_us;
  char error[64];
} load;

static inline void load_count(load_request *request) {
  const errand *e = &request->errand;
  load.under_way--;
  if (e->outcomes[0] == LAJU_STORE_ANSWERED && e->answers[0].error == NULL) {
    request->key->answered++;
    load.answered++;
  } else {
    if (e->outcomes[0] == LAJU_STORE_ANSWERED) snprintf(load.error, sizeof load.error, "%s", e->answers[0].error);
    request->key->failed++;
    load.failed++;
  }
}

static inline void on_load_done(laju_store_request *done);

/* One that is refused at once waits for the timer: a store that is away is not asked in a circle. */
static inline void load_next(load_request *request) {
  errand *e = &request->errand;
  request->key = &load.keys[load.next++ % LOAD_KEYS];
  e->asks[0] = ask_of(&load.rule, request->key->name, 1);
  e->request = (laju_store_request){
      .asks = e->asks, .count = 1, .answers = e->answers, .outcomes = e->outcomes, .done = on_load_done};
  load.under_way++;
  if (laju_store_submit(the_store, &e->request)) return;
  load_count(request);
  request->key = NULL;
}

static inline void on_load_done(laju_store_request *done) {
  load_request *request = (load_request *)done;
  int64_t took_us = (int64_t)(uv_hrtime() / 1000) - done->sent_us;
  if (took_us > load.longest_us) load.longest_us = took_us;
  load_count(request);
  if (load.stopping) {
    request->key = NULL;
  } else {
    load_next(request);
  }
}

static inline void load_again(uv_timer_t *timer) {
  (void)timer;
  for (size_t i = 0; i < LOAD_WINDOW && !load.stopping; i++) {
    if (load.requests[i].key == NULL) load_next(&load.requests[i]);
  }
}

/* Nothing has been sent yet. */
static inline void load_clear(void) {
  memset(&load, 0, sizeof load);
  load.rule = rule_of(LAJU_FIXED_WINDOW, LOAD_LIMIT, LAJU_PERIOD_MAX_US, 0);
  for (size_t i = 0; i < LOAD_KEYS; i++) snprintf(load.keys[i].name, sizeof load.keys[i].name, "laju:{%zu}:load", i);
}

static inline void load_start(void) {
  load.stopping = false;
  uv_timer_init(loop, &load.again);
  uv_timer_start(&load.again, load_again, 0, 1);
}

/* Until so many more have been answered, of each key. */
static inline void load_run(size_t rounds) {
  size_t then = load.answered;
  assert_true(COMES_TRUE(loop, load.answered >= then + rounds * LOAD_KEYS));
}

static inline void load_stop(void) {
  load.stopping = true;
  uv_close((uv_handle_t *)&load.again, NULL);
  assert_true(COMES_TRUE(loop, load.under_way == 0));
}

/* What was charged to a key, by the store's word. */
static inline uint64_t load_charged(const load_key *key) {
  return LOAD_LIMIT - remaining_of(&load.rule, key->name);
}

/* Every answer was charged once; a failure may have been, once. */
static inline void load_assert_exact(void) {
  assert_string_equal(load.error, "");
  for (size_t i = 0; i < LOAD_KEYS; i++) {
    const load_key *key = &load.keys[i];
    assert_in_range(load_charged(key), key->answered, key->answered + key->failed);
  }
}

#endif
