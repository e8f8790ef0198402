/* Readings of a whole server: all workers' counts added up. From any worker's thread (it looks at the terms in force), from when
 * the workers run until the first is freed. */
#ifndef LAJU_SERVER_GATHER_H
#define LAJU_SERVER_GATHER_H

#include "server/reload.h"
#include "server/worker.h"

/* Where they come from; filled once, before the first reading. */
typedef struct laju_gathering {
  const laju_service *service;
  const laju_sharing *sharing;
  const laju_crew *crew;
  const laju_reload *reload;
  laju_worker *const *workers;
  laju_ledger *const *ledgers; /* one of each worker */
  size_t worker_count;
  int64_t started_us; /* since the epoch */
} laju_gathering;

/* `readings` is zeroed first. */
void laju_gather(const laju_gathering *gathering, laju_readings *readings);

#endif
