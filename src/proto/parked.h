/* A batch that waits for the shared store: a compact copy of a worker's, which is free for other connections meanwhile.
 *
 *     if (!laju_batch_decide(batch, way, now_us)) {
 *       laju_parked *parked = laju_parked_new(&lot, batch);      NULL: no memory
 *       if (laju_parked_start(parked, way, done, context)) ...   `done(context)` will be called, in a later turn
 *       ... laju_parked_batch(parked) is decided: encode from it ...
 *       laju_parked_free(parked);
 *     }
 *
 * Nothing of it points into the bytes that were fed. It uses the rules of its time until it is freed: laju_lot_oldest tells when older ones may go.
 *
 * A lot belongs to one worker's thread. Copies are used again: up to LAJU_LOT_SPARES are kept of those that took no more than
 * LAJU_PARKED_KEPT bytes.
 */
#ifndef LAJU_PROTO_PARKED_H
#define LAJU_PROTO_PARKED_H

#include "limiter/errand.h"
#include "proto/batch.h"

#define LAJU_LOT_SPARES 1024
#define LAJU_PARKED_LEAST 1024
#define LAJU_PARKED_KEPT 16384

typedef struct laju_parked laju_parked;

/* Where batches are parked. All zeros is an empty one. */
typedef struct laju_lot {
  laju_parked *first, *last; /* those that are in use, as they came */
  laju_parked *spares;
  size_t spare_count;
  uint64_t taken; /* how many there ever were: the number of the next */
} laju_lot;

/* None of it is in use any more. */
void laju_lot_deinit(laju_lot *lot);

/* The number of the oldest that is in use; `taken` where none is. Numbers rise by one with each laju_parked_new. */
uint64_t laju_lot_oldest(const laju_lot *lot);

/* Copies a batch that laju_batch_decide left waiting. NULL: no memory. */
laju_parked *laju_parked_new(laju_lot *lot, const laju_batch *batch);

/* Not while it is under way. NULL is allowed. */
void laju_parked_free(laju_parked *parked);

/* Asks the store. True: under way, `done` will be called once all is decided, never from within. False: all is decided. */
bool laju_parked_start(laju_parked *parked, laju_way *way, void (*done)(void *context), void *context);

/* Nobody waits for it any more: `done` is not called, and it frees itself when it is decided. Only while under way. */
void laju_parked_abandon(laju_parked *parked);

/* The copy: complete once it is decided. Without rules, keys and scratch of its own to write to. */
const laju_batch *laju_parked_batch(const laju_parked *parked);

/* Bytes that it takes. */
size_t laju_parked_size(const laju_parked *parked);

#endif
