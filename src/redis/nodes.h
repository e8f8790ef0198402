/* How many laju nodes share the store: each says at once and then every LAJU_NODES_REFRESH_MS that it is there, and counts who is.
 * Where the count is another than before, it counts again after LAJU_NODES_AGAIN_MS: while a fleet starts nobody is missed for long.
 *
 * One worker of a node does it. While the store does not answer, the last count stands. Everything belongs to the store's thread,
 * but for the count and laju_nodes_look.
 */
#ifndef LAJU_REDIS_NODES_H
#define LAJU_REDIS_NODES_H

#include <stdatomic.h>
#include <uv.h>

#include "base/slice.h"
#include "redis/nodes_reply.h"
#include "redis/store.h"

#define LAJU_NODES_REFRESH_MS 5000
#define LAJU_NODES_AGAIN_MS 500 /* where the store did not answer, or nodes have come or gone */

typedef struct laju_nodes laju_nodes;

/* Begins. Each call is a node of its own, with an id by chance. `prefix` is the keys'; `version` is 1 to LAJU_NODES_VERSION_MAX
 * bytes of visible ASCII; `count`, which outlives it, is written from then on. LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM (no random
 * bytes), LAJU_ERR_NAME (prefix or version). */
int laju_nodes_new(laju_nodes **out, laju_store *store, uv_loop_t *loop, const laju_slice *prefix, const char *version,
                   _Atomic uint32_t *count);

/* Closes, before the store; frees itself when the loop has closed its handle and the store has answered what is under way. The
 * node is not counted from LAJU_NODES_FORGET_MS later on. */
void laju_nodes_close(laju_nodes *nodes);

/* Who was there when the store last answered: count 0 where it never did. Any thread. */
void laju_nodes_look(laju_nodes *nodes, laju_nodes_seen *out);

#endif
