/* The shared store, as one worker uses it: checks go out at the end of the loop turn, answers come by callback.
 *
 * Behind it are one server, the primary that Sentinel names, or a cluster; connections (`pool` to each server), scripts,
 * deadlines and a breaker for each server. What always holds:
 *   - an answer comes within `timeout` of the submit (and what the loop needs); a reply that comes later is dropped, never taken
 *     for another's
 *   - a command that may have run is never sent twice; NOSCRIPT is the one error that says it has not run, and is answered by
 *     loading the script and sending again; so are a cluster's MOVED, ASK and TRYAGAIN
 *   - no more than `max_inflight` checks wait or are under way; those beyond it fail at once, as do those for a server whose
 *     breaker is open (it opens after LAJU_BREAKER_FAILURES failures in a row, is probed by one check every
 *     LAJU_BREAKER_PROBE_MS, and closes on its success)
 *   - a lost connection is made again after a jittered backoff of LAJU_BACKOFF_MIN_MS to LAJU_BACKOFF_MAX_MS, the name looked up
 *     again each time
 *
 * Everything belongs to the loop's thread; only the counters may be read by others. Nothing is allocated per check once it is
 * warm.
 */
#ifndef LAJU_REDIS_STORE_H
#define LAJU_REDIS_STORE_H

#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/histogram.h"
#include "base/store_url.h"
#include "redis/breaker.h"
#include "redis/script.h"

#define LAJU_BACKOFF_MIN_MS 20
#define LAJU_BACKOFF_MAX_MS 250
#define LAJU_STORE_POOL_MAX 16
#define LAJU_STORE_BATCH \
  50 /* checks in one EVALSHA (LIMITS: more gain little, and the server does nothing else meanwhile) */

typedef struct laju_store_options {
  laju_store_url url;                      /* not NONE */
  const char *tls_ca, *tls_cert, *tls_key; /* files; NULL: the system's authorities, no client certificate */
  const char *tls_server_name;             /* NULL: the host's name */
  int64_t timeout_us, connect_timeout_us;
  uint32_t pool;         /* connections to each server, 1 to LAJU_STORE_POOL_MAX */
  uint32_t max_inflight; /* checks */
  bool transaction;      /* atomicity: transaction: MULTI in place of scripts, for the two windows only */
} laju_store_options;

/* One writer, the store's thread; any reader. */
typedef struct laju_store_counters {
  _Atomic uint64_t checks;   /* that were sent */
  _Atomic uint64_t commands; /* that were sent for them */
  _Atomic uint64_t timeouts; /* checks that got no answer in time */
  _Atomic uint64_t
      refusals; /* checks that were answered with an error: full memory, a key of another type, a right that is missing */
  _Atomic uint64_t failures;     /* checks that failed otherwise: connection lost, a reply that is none */
  _Atomic uint64_t overflows;    /* checks beyond max_inflight */
  _Atomic uint64_t short_cuts;   /* checks failed at once by an open breaker */
  _Atomic uint64_t late;         /* replies that came after their deadline, and were dropped */
  _Atomic uint64_t script_loads; /* after NOSCRIPT */
  _Atomic uint64_t redirects;    /* MOVED, ASK, TRYAGAIN */
  _Atomic uint64_t connects, connect_failures;
  _Atomic uint64_t breaker_opened;
  _Atomic uint64_t bytes_out, bytes_in;
  _Atomic uint64_t inflight;   /* now */
  _Atomic uint64_t servers_up; /* connected and their breaker closed, now */
  _Atomic uint64_t servers;    /* known, now */
  laju_histogram latency;      /* of checks that were answered: from submit, us */
} laju_store_counters;

typedef struct laju_store laju_store;

/* Makes it and begins to connect. It keeps copies of the options. LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM (TLS files that cannot be
 * used: `why` says which; libcrypto). */
int laju_store_new(laju_store **out, uv_loop_t *loop, const laju_store_options *options, char why[LAJU_TEXT_SIZE]);

/* Closes: what is under way fails (its `done` is called from within); frees itself when the loop has closed its handles, then
 * calls `closed`. */
void laju_store_close(laju_store *store, void (*closed)(void *context), void *context);

const laju_store_counters *laju_store_read_counters(const laju_store *store);

/* Would a check be sent now: is there a server that is connected and whose breaker is closed? (In a cluster: any.) */
bool laju_store_is_up(const laju_store *store);

/* Why it would not, for a log: how the last connection or try to connect ended, or that the breaker is open. "" where it is up,
 * and where nothing has failed yet. Never a password. It stays until the loop's thread does something else with the store. */
const char *laju_store_why(const laju_store *store);

/* The last error that it answered a check with (`refusals` counts them); "" where there was none. It stays until
 * the loop's thread does something else with the store. */
const char *laju_store_refusal(const laju_store *store);

/* ---- checks ---- */

typedef enum laju_store_outcome {
  LAJU_STORE_PENDING,
  LAJU_STORE_ANSWERED, /* `answers` has it; an answer's `error` is the store's word about that key (WRONGTYPE, OOM, ...) */
  LAJU_STORE_FAILED, /* no answer: deadline, breaker, max_inflight, connection, an error of the whole command. May have charged */
  LAJU_STORE_SPLIT, /* a cluster: the keys of this request live in different slots. Nothing was charged */
} laju_store_outcome;

/* Any number of requests (runs of joined asks, each 1 to LAJU_CHECKS_MAX; 1 to LAJU_SCRIPT_CHECKS_MAX asks in all) that were made
 * together and are answered together. The caller's memory, which stays until `done`. */
typedef struct laju_store_request laju_store_request;
struct laju_store_request {
  const laju_script_ask *asks;
  size_t count;
  laju_script_answer *answers;               /* `count` */
  laju_store_outcome *outcomes;              /* `count`: alike for all asks of a joined run */
  void (*done)(laju_store_request *request); /* all outcomes stand */
  int64_t sent_us; /* uv_hrtime at the submit, in us: a denial's wait counts from here at the earliest */
  /* the store's own */
  size_t pending;
  uint64_t slot;
};

/* Submits; commands leave at the end of this loop turn, in the order of submits. With `pool` 1 each server carries them out in that
 * order, over all turns, but for what is sent again (NOSCRIPT, redirections), which goes behind what waits. With more, what one
 * turn submits goes by one connection as long as that takes it, and the next turn's may overtake it on another: who needs an order
 * between turns waits for the first answer. False: nothing is under way, all
 * outcomes stand already (FAILED or SPLIT) and `done` is not called. Never calls `done` from within. */
bool laju_store_submit(laju_store *store, laju_store_request *request);

/* ---- other commands ---- */

/* A command of its own, behind the checks submitted so far: DEL for a reset, the nodes' register, overrides. */
typedef struct laju_store_command laju_store_command;
struct laju_store_command {
  const char *bytes; /* one command in RESP, or MULTI to EXEC; copied by the call */
  size_t len;
  const char *key; /* which decides the server in a cluster */
  size_t key_len;
  uint32_t
      replies; /* how many it brings (MULTI to EXEC brings several); `done` gets the last, or the first error. 0 is 1 */
  void (*done)(laju_store_command *command, const redisReply *reply); /* NULL: no answer within the timeout */
  /* the store's own */
  uint64_t slot;
};

/* False: not sent, `done` is not called. */
bool laju_store_send(laju_store *store, laju_store_command *command);

#endif
