/* The shared store as the server sees it: each worker's way to it, and word of how it is.
 *
 * A laju_sharing is what the workers have in common; the main thread makes it and tells the log of changes. A laju_shared is one
 * worker's: a store of its own on the worker's loop. Where there is no store both are there, and do nothing.
 */
#ifndef LAJU_SERVER_SHARED_H
#define LAJU_SERVER_SHARED_H

#include <uv.h>

#include "config/config.h"
#include "limiter/way.h"
#include "proto/service.h"
#include "redis/nodes.h"
#include "redis/store.h"
#include "server/overrides.h"
#include "server/readings.h"

#define LAJU_SHARING_TELL_MS 1000 /* between two lines of the log about it */
#define LAJU_SHARING_WHY_MS 10000 /* the same where only the reason is another, and of refusals */

typedef struct laju_sharing {
  const laju_config_store *config; /* outlives it; its kind is NONE where there is no store */
  laju_service *service;
  uv_async_t *news;             /* told when something of it has changed for a worker */
  _Atomic uint32_t nodes;       /* how many laju share the store, at least 1 */
  uv_mutex_t lock;              /* of the next three */
  char why[LAJU_TEXT_SIZE];     /* the store is not up: what a worker has last heard of that */
  uint64_t refusals;            /* checks that it has answered with errors of their own, though it is up; */
  char refusal[LAJU_TEXT_SIZE]; /* the last of these */
  /* what the log was last told, by the main thread */
  bool told, told_up;
  char told_why[LAJU_TEXT_SIZE];
  uint64_t told_ms;
  uint64_t told_refusals, told_refusals_ms;
} laju_sharing;

/* Before any worker starts; fills in how many stores the service has. 0, or a libuv error. */
int laju_sharing_init(laju_sharing *sharing, const laju_config_store *config, laju_service *service, uv_async_t *news,
                      size_t workers);
void laju_sharing_deinit(laju_sharing *sharing);

static inline bool laju_sharing_has_store(const laju_sharing *sharing) {
  return sharing->config->url.kind != LAJU_STORE_NONE;
}

/* Tells the log whether the store answers, where that has changed, or why it does not; and which errors it answers checks with, if
 * any. To be called when there are news and now and then. The main thread's. */
void laju_sharing_tell(laju_sharing *sharing, uint64_t now_ms);

/* What a worker has last heard of why the store is not up; "" where nothing. Any thread. */
void laju_sharing_why(laju_sharing *sharing, char why[LAJU_TEXT_SIZE]);

/* The last error with which the store has answered a check though it is up; "" where none ever. Any thread. */
void laju_sharing_refusal(laju_sharing *sharing, char refusal[LAJU_TEXT_SIZE]);

typedef struct laju_shared {
  laju_way way;
  laju_sharing *all;
  laju_nodes *nodes;         /* of the worker that registers this laju, where nodes are counted */
  laju_overrides *overrides; /* of the worker that minds them */
  uv_prepare_t turn;
  bool up;
  bool readable; /* the store's counters are there; under the sharing's lock */
  char why[LAJU_TEXT_SIZE];
  uint64_t refusals;    /* of the store's that the others were told of, */
  uint64_t refusals_ms; /* and when */
  void (*on_turn)(void *context);
  void *context;
} laju_shared;

/* What a worker does for all. */
typedef struct laju_duties {
  bool registers; /* it says that this laju is there */
  bool overrides; /* it minds what operators have set */
} laju_duties;

/* Makes the way and begins to connect. `on_turn` is called once a loop turn, after all
 * that happened in it, where there is a store. 0, or -1 with `why`; then nothing is left to close. */
int laju_shared_open(laju_shared *shared, laju_sharing *all, uv_loop_t *loop, laju_duties duties,
                     void (*on_turn)(void *context), void *context, char why[LAJU_TEXT_SIZE]);

/* Adds what the store has counted, while it is open. Any thread, until deinit. */
void laju_shared_read(laju_shared *shared, laju_readings *readings);

/* Closes the store: what waits for it is decided without it, from within. The loop must turn until its handles are gone, before
 * deinit. */
void laju_shared_close(laju_shared *shared);
void laju_shared_deinit(laju_shared *shared);

#endif
