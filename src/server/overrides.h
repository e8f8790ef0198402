/* What operators have set for single keys, shared by all nodes through the store: written there first, read by each.
 *
 * One worker of a node does it. It looks at the version every LAJU_OVERRIDES_LOOK_MS and reads all when that has changed, and every
 * LAJU_OVERRIDES_READ_MS in any case: rules may have come or gone here. While the store does not answer, what was known stands. Fields
 * that expired LAJU_OVERRIDES_STALE_MS ago are taken away, a few at each reading; by a script, so not with atomicity: transaction. Everything
 * belongs to the store's thread.
 */
#ifndef LAJU_SERVER_OVERRIDES_H
#define LAJU_SERVER_OVERRIDES_H

#include <uv.h>

#include "proto/admin.h"
#include "proto/service.h"
#include "redis/store.h"

#define LAJU_OVERRIDES_LOOK_MS 2000
#define LAJU_OVERRIDES_AGAIN_MS 500 /* where the store did not answer */
#define LAJU_OVERRIDES_READ_MS 60000
#define LAJU_OVERRIDES_STALE_MS 60000
#define LAJU_OVERRIDES_FORGET_MAX 64

typedef struct laju_overrides laju_overrides;

typedef struct laju_overrides_options {
  laju_service *service; /* whose overlay it writes */
  laju_store *store;
  const char *prefix; /* the keys' */
  bool transaction;
} laju_overrides_options;

/* Begins. LAJU_ERR_MEMORY. */
int laju_overrides_new(laju_overrides **out, uv_loop_t *loop, const laju_overrides_options *options);

/* Closes, before the store; frees itself when the loop has closed its handle and the store has answered what is under way. */
void laju_overrides_close(laju_overrides *overrides);

/* Makes a change in the store, and then here. It is done when this returns, or later: then `done` is called. */
void laju_overrides_change(laju_overrides *overrides, laju_admin_change *change, void (*done)(void *context),
                           void *context);

#endif
