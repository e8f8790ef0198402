/* Puts load on a door for a while, and tells what it answered and how long that took.
 *
 * Closed loop (`rate` 0): each connection sends `pipeline` requests at once, waits for all replies, and sends again. So what is
 * slow is asked less, and the times tell of the requests that were made.
 * Open loop: requests are due at a fixed rate, whatever the server does. One that cannot be sent, since all connections are
 * waiting, goes as soon as one is free, and its time runs from when it was due: a second's stall is seen by everyone who would
 * have come in that second, not by one.
 *
 * Connections are made before time begins. One that the server ends is made anew; what it owed counts as lost.
 * When the time is over nothing more becomes due; what was due and is not sent yet still goes, and replies are awaited, for up to
 * LAJU_LOAD_DRAIN_MS.
 */
#ifndef LAJU_LOAD_LOAD_H
#define LAJU_LOAD_LOAD_H

#include "base/histogram.h"
#include "load/door.h"
#include "load/reply.h"
#include "load/request.h"
#include "tls/client.h"

#define LAJU_LOAD_CONNECTIONS_MAX 10000
#define LAJU_LOAD_PIPELINE_MAX 1024
#define LAJU_LOAD_THREADS_MAX 256
#define LAJU_LOAD_CONNECT_MS 5000 /* all connections stand by then, or there is no load */
#define LAJU_LOAD_DRAIN_MS 3000
#define LAJU_LOAD_RETRY_MS 100 /* until a connection is made anew that answered nothing */

typedef struct laju_load_plan {
  laju_load_door door;
  const laju_load_request *request;
  laju_tls_client_options tls; /* where the door speaks it */
  const char *password;        /* RESP: AUTH at the beginning of each connection; NULL: none */
  unsigned connections, pipeline;
  unsigned threads; /* at most `connections` */
  uint64_t keys;
  double skew;   /* load/keys.h */
  uint64_t rate; /* requests a second, of all threads; 0: as many as are answered */
  int64_t duration_us;
} laju_load_plan;

/* All so far, or in the end. Requests sent = replies + lost + those that are still outstanding. */
typedef struct laju_load_result {
  uint64_t allowed, denied, errors; /* replies */
  uint64_t in_time;                 /* of them, those within elapsed_us */
  uint64_t lost;                    /* requests whose connection ended first */
  uint64_t unanswered;              /* outstanding when the patience for them was over; 0 before the end */
  uint64_t unsent;                  /* open loop: due, and never sent; 0 before the end */
  uint64_t broken;                  /* connections that ended */
  int64_t elapsed_us;               /* from the first request until no more were sent */
  laju_histogram latency;           /* of all replies */
  char error[LAJU_LOAD_ERROR_SIZE]; /* one of the first errors, "" where there is none; "" before the end */
} laju_load_result;

/* Called about once a second, with the interval's length being the reader's to work out. */
typedef void (*laju_load_watcher)(void *context, const laju_load_result *so_far);

/* Blocks until the load is over, or was ended early by SIGINT or SIGTERM. Raises this process's limit of open files as far as it
 * may. 0, or -1 with `why`, where there could be no load: nobody listens, another protocol, a wrong password, no memory.
 * From the main thread, one at a time. `out` is large: some 11 KiB. */
int laju_load_run(const laju_load_plan *plan, laju_load_watcher watch, void *context, laju_load_result *out,
                  char why[LAJU_TEXT_SIZE]);

#endif
