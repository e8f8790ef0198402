#include "server/decisions.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "proto/shown.h"

#define PAIRS 9

struct laju_decisions {
  uint64_t hash_key[2];
  pthread_mutex_t lock; /* of all below */
  pthread_cond_t news;  /* there is something to write, or the end */
  pthread_t thread;
  bool started, ending;
  char *filling, *writing; /* LAJU_DECISIONS_BYTES each */
  size_t filled;
  _Atomic uint64_t dropped;
};

/* ---- to stderr, in a thread of its own ---- */

/* As many whole lines as leave in one piece, whoever else writes. A line is never longer than that. */
static size_t piece_of(const char *bytes, size_t len) {
  _Static_assert(LAJU_LOG_LINE_MAX <= PIPE_BUF, "a line is written as one");
  if (len <= PIPE_BUF) return len;
  const char *last = memrchr(bytes, '\n', PIPE_BUF);
  return last != NULL ? (size_t)(last - bytes) + 1 : PIPE_BUF;
}

static void write_all(const char *bytes, size_t len) {
  while (len > 0) {
    ssize_t written = write(STDERR_FILENO, bytes, piece_of(bytes, len));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return; /* nobody is left to tell */
    bytes += written;
    len -= (size_t)written;
  }
}

/* False: it is over. */
static bool write_some(laju_decisions *d) {
  pthread_mutex_lock(&d->lock);
  while (d->filled == 0 && !d->ending) pthread_cond_wait(&d->news, &d->lock);
  char *bytes = d->filling;
  size_t len = d->filled;
  d->filling = d->writing;
  d->writing = bytes;
  d->filled = 0;
  pthread_mutex_unlock(&d->lock);
  write_all(bytes, len);
  return len > 0;
}

static void *run(void *argument) {
  pthread_setname_np(pthread_self(), "log");
  while (write_some(argument)) {
  }
  return NULL;
}

/* Under the lock. Who asks for no decisions has neither the memory nor the thread. */
static bool start(laju_decisions *d) {
  if (d->started) return true;
  if (d->filling == NULL) d->filling = malloc(LAJU_DECISIONS_BYTES);
  if (d->writing == NULL) d->writing = malloc(LAJU_DECISIONS_BYTES);
  if (d->filling == NULL || d->writing == NULL) return false;
  d->started = pthread_create(&d->thread, NULL, run, d) == 0;
  return d->started;
}

static void add(laju_decisions *d, const char *text, size_t len) {
  pthread_mutex_lock(&d->lock);
  bool fits = start(d) && len <= LAJU_DECISIONS_BYTES - d->filled;
  if (fits) {
    memcpy(d->filling + d->filled, text, len);
    d->filled += len;
    if (d->filled == len) pthread_cond_signal(&d->news);
  }
  pthread_mutex_unlock(&d->lock);
  if (!fits) atomic_fetch_add_explicit(&d->dropped, 1, memory_order_relaxed);
}

/* ---- lines ---- */

typedef struct line {
  laju_decisions *decisions;
  const laju_terms *terms;
  const char *door;
  int64_t now_us;
} line;

static void format(char text[24], int64_t value) {
  snprintf(text, 24, "%" PRId64, value);
}

/* Rounded up, as answers have it. */
static void format_wait(char text[24], int64_t us) {
  if (us == LAJU_NEVER) {
    snprintf(text, 24, "never");
  } else {
    format(text, (us + 999) / 1000);
  }
}

/* Texts end with a zero, keys may hold some. */
static void show_key(const line *l, const laju_check *check, char text[LAJU_SHOWN_MAX + 1]) {
  laju_hash hash = laju_key_id(l->decisions->hash_key, check->rule, check->key, check->key_len);
  const uint64_t id[2] = {hash.lo, hash.hi};
  laju_shown_key key = {.rule = check->rule->name,
                        .number = check->rule->number,
                        .secret = check->rule->secret,
                        .veils = check->rule->veils,
                        .key = {check->key, check->key_len},
                        .id = id};
  bool masked;
  size_t len = laju_key_show(text, l->terms, &key, &masked);
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\0') text[i] = '?';
  }
  text[len] = '\0';
}

static void write_line(const line *l, const laju_check *check, const laju_decision *decision, const char *verdict) {
  static const char *const names[PAIRS] = {"door",      "rule",           "key",   "decision", "cost", "limit",
                                           "remaining", "retry_after_ms", "source"};
  char key[LAJU_SHOWN_MAX + 1], cost[24], limit[24], remaining[24], wait[24], text[LAJU_LOG_LINE_MAX];
  show_key(l, check, key);
  format(cost, check->cost);
  format(limit, decision->limit);
  format(remaining, decision->remaining);
  format_wait(wait, decision->retry_after_us);
  const char *const values[PAIRS] = {l->door, check->rule->name, key,  verdict,   cost,
                                     limit,   remaining,         wait, "fallback"};
  size_t count = decision->basis == LAJU_FALLBACK ? PAIRS : PAIRS - 1;
  size_t len = laju_log_line(text, laju_log_get_format(), l->now_us, LAJU_LOG_INFO, "decision", names, values, count);
  add(l->decisions, text, len);
}

/* ---- which ---- */

static bool is_drawn(uint32_t sample, uint64_t *random) {
  if (sample >= LAJU_CONFIG_SAMPLE_ALL) return true;
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return (*random >> 11) % LAJU_CONFIG_SAMPLE_ALL < sample;
}

/* NULL: nobody's, or not asked for. */
static const char *verdict_of(const laju_terms *terms, const laju_ask *ask, const laju_check *check,
                              const laju_decision *decision) {
  if (ask->split) return "error";
  if (decision->basis == LAJU_UNASKED) return NULL;
  if (!decision->allowed) return check->rule->shadow ? "shadow_denied" : "denied";
  return terms->log_decisions == LAJU_LOG_ALL ? "allowed" : NULL;
}

void laju_decisions_write(laju_decisions *decisions, const laju_terms *terms, laju_door_name door,
                          const laju_batch *batch, uint64_t *random) {
  static const laju_decision none = {.basis = LAJU_DECIDED};
  static const char *const doors[LAJU_DOOR_NAMES] = {[LAJU_DOOR_HTTP] = "http", [LAJU_DOOR_RESP] = "resp"};
  line l = {.decisions = decisions, .terms = terms, .door = doors[door], .now_us = batch->now_us};
  for (size_t i = 0; i < batch->ask_count; i++) {
    const laju_ask *ask = &batch->asks[i];
    if (ask->kind != LAJU_ASK_ALL && ask->kind != LAJU_ASK_EACH) continue;
    for (uint32_t k = ask->first; k < ask->first + ask->count; k++) {
      const char *verdict = verdict_of(terms, ask, &batch->checks[k], &batch->decisions[k]);
      if (verdict == NULL || !is_drawn(terms->log_sample, random)) continue;
      write_line(&l, &batch->checks[k], ask->split ? &none : &batch->decisions[k], verdict);
    }
  }
}

/* ---- life ---- */

int laju_decisions_new(laju_decisions **out, const uint64_t hash_key[2]) {
  laju_decisions *d = calloc(1, sizeof *d);
  if (d == NULL) return LAJU_ERR_MEMORY;
  memcpy(d->hash_key, hash_key, sizeof d->hash_key);
  if (pthread_mutex_init(&d->lock, NULL) != 0 || pthread_cond_init(&d->news, NULL) != 0) {
    free(d);
    return LAJU_ERR_SYSTEM;
  }
  *out = d;
  return 0;
}

/* A reader of the log that has stopped reading does not keep us from ending: then the thread keeps what it uses. */
static bool end_thread(laju_decisions *d) {
  struct timespec until;
  if (!d->started) return true;
  pthread_mutex_lock(&d->lock);
  d->ending = true;
  pthread_cond_signal(&d->news);
  pthread_mutex_unlock(&d->lock);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += LAJU_DECISIONS_END_MS / 1000;
  return pthread_timedjoin_np(d->thread, NULL, &until) == 0;
}

void laju_decisions_free(laju_decisions *d) {
  if (d == NULL || !end_thread(d)) return;
  pthread_mutex_destroy(&d->lock);
  pthread_cond_destroy(&d->news);
  free(d->filling);
  free(d->writing);
  free(d);
}

uint64_t laju_decisions_dropped(const laju_decisions *d) {
  return atomic_load_explicit(&d->dropped, memory_order_relaxed);
}
