/* A worker: a thread with its own loop, listening sockets and connections. Workers share the service (table, rules) and
 * nothing else that a request touches.
 *
 * Accepting is bounded: over the process's limit of connections a new one is told so and closed (`refused`); where the
 * kernel gives no descriptor or memory, the worker stops accepting for LAJU_ACCEPT_PAUSE_MS (`accept_errors`).
 */
#ifndef LAJU_SERVER_WORKER_H
#define LAJU_SERVER_WORKER_H

#include "server/connection.h"
#include "server/readings.h"
#include "server/server.h"
#include "server/shared.h"

#define LAJU_DOORS_MAX 2
#define LAJU_ACCEPT_PAUSE_MS 100
#define LAJU_ACCEPTS_A_TURN 64  /* of one socket, before others have their turn */
#define LAJU_DRAIN_GRACE_MS 100 /* what was on its way when draining began may still come */

/* What else a worker's loop does. */
typedef struct laju_attendance {
  /* Before the thread starts: adds handles to the loop, which may use what else is there until `close`. 0, or a libuv error. */
  int (*open)(void *context, uv_loop_t *loop, laju_connections *connections, laju_shared *shared);
  void (*close)(void *context); /* in the thread, when no connection is left: closes the handles */
  void *context;
} laju_attendance;

/* What the workers have in common. Filled before they start. */
typedef struct laju_crew {
  laju_service *service;
  laju_sharing *sharing;
  laju_door *doors;
  size_t door_count;
  uint64_t connections_max;
  _Atomic uint64_t connections; /* of all workers; touched when one comes or goes */
  uv_async_t *news;             /* told when a worker's thread ends, or has turned */
  uint64_t top_key[2];          /* random, of who is refused most */
  bool is_desk;         /* the admin door's: what it answers is not counted, and it does not register the node */
  bool minds_overrides; /* its first worker does it */
  const laju_attendance *attendance; /* NULL: nothing */
  _Atomic uint64_t epoch;            /* of the terms in force: raised after new ones are published */
} laju_crew;

typedef struct laju_worker laju_worker;

/* Makes worker `number` (0-based), which takes its sockets from the doors, and starts its thread. 0, or -1 with `why`. */
int laju_worker_new(laju_worker **out, laju_crew *crew, size_t number, char why[LAJU_TEXT_SIZE]);

/* Asks the worker to drain, from any thread: it stops accepting, finishes what has begun, and ends. */
void laju_worker_drain(laju_worker *worker);

/* Asks the worker to end now, from any thread. */
void laju_worker_cut(laju_worker *worker);

/* Asks the worker to note the crew's epoch, from any thread. */
void laju_worker_nudge(laju_worker *worker);

/* The epoch that the worker has noted, outside of any request and with no batch of an earlier one parked: it uses nothing of an
 * earlier one any more. All of them once its thread has ended. Any thread. */
uint64_t laju_worker_epoch(const laju_worker *worker);

/* Has its thread ended? Any thread. */
bool laju_worker_has_ended(const laju_worker *worker);

/* Its counters, added to `sum`, which no other thread uses. */
void laju_worker_counters_add(const laju_worker *worker, laju_counters *sum);

/* The same, and all else that it has counted, but by rule. Any thread. */
void laju_worker_read(laju_worker *worker, laju_readings *readings);

/* What it counts in. Any thread, until it is freed. */
const laju_account *laju_worker_account(const laju_worker *worker);

/* Waits for its thread's end, which must have been asked for, and frees it. NULL is allowed. */
void laju_worker_free(laju_worker *worker);

#endif
