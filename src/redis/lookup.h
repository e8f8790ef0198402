/* Inside `redis`: looks a host's name up, in a thread of its own. A name server that is away keeps such a thread for half a minute
 * and more, and no call ends it: so it can be left alone. Nobody waits for it then, not even the end of the process, and what else
 * libuv's few threads have to do is not behind it.
 *
 * One thread, the loop's.
 */
#ifndef LAJU_REDIS_LOOKUP_H
#define LAJU_REDIS_LOOKUP_H

#include <netdb.h>
#include <stdint.h>
#include <uv.h>

#define LAJU_LOOKUPS_MAX 64 /* threads of the process, those that were left alone among them */

typedef struct laju_lookup laju_lookup;

/* What it tells, from the loop. `context` is the one given to laju_lookup_start. */
typedef struct laju_lookup_events {
  /* `why` NULL: `found` are the addresses, until this returns. Otherwise there are none. Comes once, unless cancelled. */
  void (*done)(void *context, const struct addrinfo *found, const char *why);
  /* It has closed its handle. Comes last, and always. */
  void (*gone)(void *context);
} laju_lookup_events;

/* NULL: no memory; nothing is told then. */
laju_lookup *laju_lookup_start(uv_loop_t *loop, const char *host, uint16_t port, const laju_lookup_events *events,
                               void *context);

/* `done` does not come any more. Not after it. */
void laju_lookup_cancel(laju_lookup *lookup);

#endif
