/* Inside `redis`: makes a connected socket to a place. Looks its name up (redis/lookup.h), tries its addresses one after the
 * other, each for its share of the time that is left.
 *
 * One thread, the loop's.
 */
#ifndef LAJU_REDIS_DIAL_H
#define LAJU_REDIS_DIAL_H

#include <uv.h>

#include "base/store_url.h"

#define LAJU_DIAL_ADDRESSES_MAX 16 /* of a name; more are not tried */
#define LAJU_DIAL_WHY_SIZE 160

typedef struct laju_dial laju_dial;

/* What it tells, never from within laju_dial_start. `context` is the one given there. */
typedef struct laju_dial_events {
  /* `fd` is the caller's, non-blocking, without delay; or -1, and `why` says so. Comes once, unless cancelled. */
  void (*done)(void *context, int fd, const char *why);
  /* It has closed its handles and is gone. Comes last, and always. */
  void (*gone)(void *context);
} laju_dial_events;

/* `unix_path` NULL or "": `place` it is. `turn` says which address comes first, so that one that connects and is no use (a server
 * that hangs) does not keep the others from being tried. NULL: no memory, and nothing is told. */
laju_dial *laju_dial_start(uv_loop_t *loop, const char *unix_path, const laju_store_place *place, unsigned turn,
                           int64_t timeout_us, const laju_dial_events *events, void *context);

/* `done` does not come any more; `gone` does. Not after `done`. */
void laju_dial_cancel(laju_dial *dial);

#endif
