/* The admin door's desk: a worker of its own, so that looking at laju costs those who are limited by it nothing, and what it shows.
 *
 * It opens after the other workers have started and ends after them, since it reads what they have counted. Once a second it reads all
 * counters, and tells those who have subscribed. The main thread's, but for what the worker's thread does by itself.
 */
#ifndef LAJU_SERVER_DESK_H
#define LAJU_SERVER_DESK_H

#include "config/config.h"
#include "server/gather.h"

#define LAJU_DESK_CONNECTIONS_MAX 64
#define LAJU_DESK_TICK_MS 1000

typedef struct laju_desk laju_desk;

typedef struct laju_desk_options {
  const laju_config *config; /* outlives it, and so does all else */
  laju_service *service;
  laju_sharing *sharing;
  uv_async_t *news;
  const uint64_t *hash_key; /* the crew's top_key */
  laju_tls *tls;            /* NULL: the door speaks plainly */
} laju_desk_options;

/* Opens the door, of which laju_desk_door tells. `*out` is NULL where there is to be none. 0, or -1 with `why`. */
int laju_desk_open(laju_desk **out, const laju_desk_options *options, char why[LAJU_TEXT_SIZE]);
const laju_door *laju_desk_door(const laju_desk *desk);

/* Starts its worker. `gathering` outlives it; `tops` are one of each worker. 0, or -1 with `why`. */
int laju_desk_start(laju_desk *desk, const laju_gathering *gathering, laju_top *const *tops, char why[LAJU_TEXT_SIZE]);

/* As of a worker; NULL is allowed, and is a desk that has ended. */
void laju_desk_publish(laju_desk *desk, uint64_t epoch);
uint64_t laju_desk_epoch(const laju_desk *desk);
void laju_desk_drain(laju_desk *desk);
void laju_desk_cut(laju_desk *desk);
bool laju_desk_has_ended(const laju_desk *desk);

/* Waits for its worker's end, which must have been asked for. */
void laju_desk_stop(laju_desk *desk);

/* Closes the door and frees it. */
void laju_desk_free(laju_desk *desk);

#endif
