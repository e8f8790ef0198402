/* Claims that ask the shared store, from one run of bytes: sent together, decided together.
 *
 * An errand lasts from start to `done`, at most the store's timeout. What the store does not answer is decided by each rule's
 * on_store_error (limiter/fallback.h) and is LAJU_FALLBACK; where the store takes nothing now (its breaker is open, its queue
 * full), so is it at once, and the errand has ended when it starts. Of a request's checks, exact or not, any refusal refuses,
 * and what the table had charged is given back. A check under a shadow rule is a request of its own.
 *
 * Decisions tell waits, so whose clock they were counted by does not matter to the caller: the store's where it decided, the
 * limiter's otherwise. A refusal by the store is noted in the memory of denials.
 *
 * A reset deletes the key in the store, also what atomicity: transaction keeps of it, and forgets it here: in the table, where an
 * outage may have left it, and in the memory of denials (laju_way_decide did so already; once more when the store has answered,
 * for what was refused meanwhile). Claims behind it in the same errand go to the store behind it.
 *
 * Buffers are for as many checks as an errand had to ask; those of more than LAJU_ERRAND_KEEP are given back at its end. Where
 * there is no memory for them, or libcrypto cannot hash a key, that is as if the store did not answer.
 */
#ifndef LAJU_LIMITER_ERRAND_H
#define LAJU_LIMITER_ERRAND_H

#include "limiter/way.h"

#define LAJU_ERRAND_KEEP 64

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
