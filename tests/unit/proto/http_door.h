/* A door for tests: the codec, a real limiter and rules behind it, and the server's loop, with a clock that stands still.
 *
 * Every piece that is fed goes to memory that has just been allocated and is no larger than need be, and the old is freed:
 * whatever still points there, or looks too far, is found by the sanitizers.
 */
#ifndef LAJU_TESTS_HTTP_DOOR_H
#define LAJU_TESTS_HTTP_DOOR_H

#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "proto/codec.h"

#define DOOR_NOW_US INT64_C(1700000000000000) /* Tue, 14 Nov 2023 22:13:20 GMT */

typedef struct door {
  laju_service service;
  laju_way way;
  laju_terms terms;
  laju_network trusted; /* 127.0.0.0/8 */
  laju_peer peer;       /* 127.0.0.1 */
  laju_ruleset *rules;
  laju_batch *batch;
  void *connection;
  char *bytes;
  size_t len;
  laju_buffer out;
  bool closed;
  size_t rounds;   /* how often replies were written */
  int64_t hold_us; /* for how long the last of them were to be kept back */
} door;

static inline void door_must(bool ok) {
  if (!ok) abort();
}

static inline void door_open_with(door *d, const laju_codec *codec, const laju_policy *policies, size_t count) {
  *d = (door){.peer = {.is_unix = false}};
  door_must(laju_ruleset_new(&d->rules, policies, count) == 0);
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  door_must(laju_limiter_new(&d->service.limiter, &options) == 0);
  door_must(laju_ip_parse("127.0.0.1", 9, &d->peer.address) == 0);
  door_must(laju_network_parse("127.0.0.0/8", 11, &d->trusted) == 0);
  d->terms = (laju_terms){.rules = d->rules,
                          .inline_limits = true,
                          .show_x_ratelimit = true,
                          .show_ratelimit = true,
                          .trust_unix = true,
                          .trusted = &d->trusted,
                          .trusted_count = 1,
                          .ip_prefix_v4 = 32,
                          .ip_prefix_v6 = 64};
  atomic_store(&d->service.terms, &d->terms);
  atomic_store(&d->service.stage, LAJU_SERVING);
  d->way.limiter = d->service.limiter;
  d->batch = laju_batch_new();
  door_must(d->batch != NULL);
  d->connection = calloc(1, codec->connection_size);
  codec->init(d->connection, &d->service, &d->peer);
}

/* Rules that are asked by name, and some for /auth: `page` (3 in 1 m of an address) for /page/..., `user` (by header or address)
 * for /user/..., `shape` (the answer waits its turn) for /shape, `closed` for /closed, which needs a header. */
static inline void door_open(door *d, const laju_codec *codec) {
  static const char *const lines[] = {
      "login=5/1m token-bucket burst 10", "api=100/1m fixed-window", "queue=10/1s leaky-bucket burst 5", "none=0/1m",
      "dear=10/1m fixed-window cost 4",   "ghost=1/1m token-bucket",
  };
  enum { NAMED = sizeof lines / sizeof lines[0] };
  laju_policy policies[NAMED + 4];
  for (size_t i = 0; i < NAMED; i++) {
    policies[i] = made_policy(lines[i], "ip", NULL, NULL);
    policies[i].match.none = true;
    policies[i].rule.shadow = strncmp(lines[i], "ghost", 5) == 0;
  }
  policies[NAMED] = made_policy("page=3/1m fixed-window", "ip", NULL, "/page/*");
  policies[NAMED + 1] = made_policy("user=3/1m fixed-window", "header:x-user-id", NULL, "/user/*");
  policies[NAMED + 2] = made_policy("shape=10/1s leaky-bucket burst 3", "ip", NULL, "/shape");
  policies[NAMED + 2].wait_server = true;
  policies[NAMED + 3] = made_policy("closed=3/1m", "header:x-user-id method", NULL, "/closed");
  policies[NAMED + 3].missing = LAJU_MISSING_DENY;
  door_open_with(d, codec, policies, NAMED + 4);
}

static inline void door_shut(door *d) {
  laju_buffer_deinit(&d->out);
  free(d->bytes);
  free(d->connection);
  laju_batch_free(d->batch);
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
      laju_batch_decide(d->batch, &d->way, DOOR_NOW_US);
      door_must(d->batch->hold_us == 0 || d->batch->ask_count == 1);
      d->hold_us = d->batch->hold_us;
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
