/* A door for tests: the codec, a real limiter and rules behind it, and the server's loop, with a clock that stands still.
 *
 * Every piece that is fed goes to memory that has just been allocated and is no larger than need be, and the old is freed:
 * whatever still points there, or looks too far, is found by the sanitizers.
 */
#ifndef LAJU_TESTS_HTTP_DOOR_H
#define LAJU_TESTS_HTTP_DOOR_H

#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"

#define DOOR_NOW_US INT64_C(1700000000000000) /* Tue, 14 Nov 2023 22:13:20 GMT */

typedef struct door {
  laju_service service;
  laju_terms terms;
  laju_peer peer;
  laju_ruleset *rules;
  laju_batch *batch;
  void *connection;
  char *bytes;
  size_t len;
  laju_buffer out;
  bool closed;
  size_t rounds; /* how often replies were written */
} door;

static inline void door_must(bool ok) {
  if (!ok) abort();
}

static inline void door_open(door *d, const laju_codec *codec) {
  static const char *const lines[] = {
      "login=5/1m token-bucket burst 10", "api=100/1m fixed-window", "queue=10/1s leaky-bucket burst 5", "none=0/1m",
      "dear=10/1m fixed-window cost 4",   "ghost=1/1m token-bucket",
  };
  laju_rule rule;
  laju_policy policies[sizeof lines / sizeof lines[0]];
  char why[LAJU_TEXT_SIZE];
  size_t count = sizeof lines / sizeof lines[0];
  for (size_t i = 0; i < count; i++) {
    door_must(laju_rule_parse(&rule, lines[i], why) == 0);
    rule.shadow = strncmp(lines[i], "ghost", 5) == 0;
    laju_policy_init(&policies[i], &rule);
  }
  *d = (door){0};
  door_must(laju_ruleset_new(&d->rules, policies, count) == 0);
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  door_must(laju_limiter_new(&d->service.limiter, &options) == 0);
  d->terms = (laju_terms){.rules = d->rules, .inline_limits = true, .show_x_ratelimit = true, .show_ratelimit = true};
  atomic_store(&d->service.terms, &d->terms);
  atomic_store(&d->service.stage, LAJU_SERVING);
  d->batch = malloc(sizeof *d->batch);
  laju_batch_clear(d->batch);
  d->connection = calloc(1, codec->connection_size);
  codec->init(d->connection, &d->service, &d->peer);
}

static inline void door_shut(door *d) {
  laju_buffer_deinit(&d->out);
  free(d->bytes);
  free(d->connection);
  free(d->batch);
  laju_limiter_free(d->service.limiter);
  laju_ruleset_free(d->rules);
}

/* A new connection to the same limiter. */
static inline void door_reconnect(door *d, const laju_codec *codec) {
  free(d->connection);
  free(d->bytes);
  d->bytes = NULL;
  d->len = 0;
  d->closed = false;
  laju_buffer_clear(&d->out);
  d->connection = calloc(1, codec->connection_size);
  codec->init(d->connection, &d->service, &d->peer);
}

/* Keeps `len` bytes from `from` on, and `more` behind them, in memory of their own. */
static inline void door_keep(door *d, size_t from, const char *more, size_t more_len) {
  size_t kept = d->len - from;
  char *moved = malloc(kept + more_len + (kept + more_len == 0));
  if (kept > 0) memcpy(moved, d->bytes + from, kept);
  if (more_len > 0) memcpy(moved + kept, more, more_len);
  free(d->bytes);
  d->bytes = moved;
  d->len = kept + more_len;
}

static inline void door_feed(door *d, const laju_codec *codec, const char *bytes, size_t len) {
  if (d->closed) return;
  door_keep(d, 0, bytes, len);
  for (bool again = true; again && !d->closed;) {
    laju_batch_clear(d->batch);
    laju_parsed parsed = codec->parse(d->connection, d->bytes, d->len, d->batch);
    door_must(parsed.consumed <= d->len);
    door_must(d->batch->ask_count > 0 || !parsed.more); /* else the loop would not end */
    if (d->batch->ask_count > 0) {
      laju_batch_decide(d->batch, d->service.limiter, DOOR_NOW_US);
      codec->encode(d->connection, d->batch, &d->out);
      d->rounds++;
    }
    again = d->batch->ask_count > 0 || parsed.more;
    d->closed = parsed.closed;
    door_keep(d, parsed.consumed, NULL, 0);
    door_must(d->len <= codec->input_max);
  }
}

#endif
