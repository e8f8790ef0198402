/* Claims that ask the shared store, from one run of bytes: sent together, decided together.
 *
 * An errand lasts from start to `done`, at most the store's timeout. If the store does not answer, each rule's on_store_error
 * decides: `allow`; `deny`; or `local`, the table with max(1, limit / nodes) (0 where the limit is 0; burst alike). Of several
 * rules any refusal refuses. A cost above the capacity is refused under all three. Such decisions are LAJU_FALLBACK.
 */
#ifndef LAJU_LIMITER_ERRAND_H
#define LAJU_LIMITER_ERRAND_H

#include "limiter/way.h"

typedef struct laju_errand laju_errand;

/* One that can be used again and again; keeps its buffers. NULL: no memory. */
laju_errand *laju_errand_new(void);
void laju_errand_free(laju_errand *errand); /* not while it is under way; NULL is allowed */

/* Sends what `count` claims (which laju_way_decide left) need. Claims, checks, keys and groups stay until `done`. True: under way,
 * `done` will be called, never from within. False: all are decided already, `done` is not called.
 * Claims are charged in their order. Behind one that has rules of both kinds there may be some of the table alone, which would
 * overtake it otherwise: such a one is decided here, at its turn.
 * The rules of the checks must outlive it. */
bool laju_errand_start(laju_errand *errand, laju_way *way, laju_claim *claims, size_t count, int64_t now_us,
                       void (*done)(void *context), void *context);

#endif
