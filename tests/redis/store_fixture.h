/* What the tests of the store share: a store on a loop to a redis-server of the test's own, and requests that remember. */
#ifndef TESTS_REDIS_STORE_FIXTURE_H
#define TESTS_REDIS_STORE_FIXTURE_H

#include "redis/fixture.h"

#include <signal.h>
#include <unistd.h>

#include "redis/loop.h"
#include "redis/store.h"

#define TIMEOUT_MS 100
#define IN_TIME_MS (TIMEOUT_MS + 900) /* with what a busy machine may add */

static uv_loop_t *loop;
static laju_store *the_store;
static const laju_store_counters *counters;

static inline laju_store_options options_of(const char *url) {
  laju_store_options options = {
      .timeout_us = TIMEOUT_MS * 1000,
      .connect_timeout_us = 250000,
      .pool = 1,
      .max_inflight = 20000,
  };
  char why[LAJU_STORE_WHY_SIZE];
  if (laju_store_url_parse(&options.url, url, strlen(url), why) < 0) fail_msg("%s: %s", url, why);
  return options;
}

static inline laju_store_options options_here(void) {
  char url[128];
  snprintf(url, sizeof url, "unix:%s", server.socket);
  return options_of(url);
}

static inline void open_store(laju_store_options options) {
  char why[LAJU_TEXT_SIZE];
  loop = uv_default_loop();
  assert_int_equal(laju_store_new(&the_store, loop, &options, why), 0);
  counters = laju_store_read_counters(the_store);
}

static inline void open_and_wait(laju_store_options options) {
  open_store(options);
  assert_true(COMES_TRUE(loop, laju_store_is_up(the_store)));
}

static inline void on_store_closed(void *context) {
  *(bool *)context = true;
}

static inline void close_store(void) {
  bool closed = false;
  laju_store_close(the_store, on_store_closed, &closed);
  assert_true(COMES_TRUE(loop, closed));
}

static inline int close_and_empty(void **unused) {
  close_store();
  return empty(unused);
}

/* ---- requests ---- */

#define ASKS_MAX 64

typedef struct errand {
  laju_store_request request; /* first */
  laju_script_ask asks[ASKS_MAX];
  laju_script_answer answers[ASKS_MAX];
  laju_store_outcome outcomes[ASKS_MAX];
  char error[64]; /* the first answer's */
  bool done;
  int64_t took_us;
} errand;

static int errands_done;

static inline void on_errand_done(laju_store_request *request) {
  errand *e = (errand *)request;
  assert_false(e->done);
  e->done = true;
  e->took_us = (int64_t)(uv_hrtime() / 1000) - request->sent_us;
  if (e->outcomes[0] == LAJU_STORE_ANSWERED && e->answers[0].error != NULL) {
    snprintf(e->error, sizeof e->error, "%s", e->answers[0].error);
  }
  errands_done++;
}

/* Begins a request of the asks that are in it. */
static inline bool begin_errand(errand *e, size_t count) {
  e->request = (laju_store_request){
      .asks = e->asks, .count = count, .answers = e->answers, .outcomes = e->outcomes, .done = on_errand_done};
  e->done = false;
  e->error[0] = '\0';
  return laju_store_submit(the_store, &e->request);
}

static inline bool begin_check(errand *e, const laju_rule *rule, const char *name, uint32_t cost) {
  e->asks[0] = ask_of(rule, name, cost);
  return begin_errand(e, 1);
}

/* One check, and its outcome. */
static inline laju_store_outcome check(errand *e, const laju_rule *rule, const char *name, uint32_t cost) {
  if (begin_check(e, rule, name, cost)) assert_true(COMES_TRUE(loop, e->done));
  return e->outcomes[0];
}

static inline uint32_t remaining_of(const laju_rule *rule, const char *name) {
  errand e;
  assert_int_equal(check(&e, rule, name, 0), LAJU_STORE_ANSWERED);
  assert_null(e.answers[0].error);
  return e.answers[0].decision.remaining;
}

#endif
