#include "server/gather.h"

#include <string.h>

#include "base/count.h"
#include "proto/admin.h"
#include "server/decisions.h"

void laju_gather(const laju_gathering *gathering, laju_readings *readings) {
  const laju_service *service = gathering->service;
  memset(readings, 0, sizeof *readings);
  readings->now_us = laju_limiter_now_us(service->limiter);
  readings->started_us = gathering->started_us;
  readings->workers = gathering->worker_count;
  readings->rules = laju_ruleset_count(laju_service_terms(service)->rules);
  readings->connections = laju_count_read(&gathering->crew->connections);
  readings->reloads = laju_count_read(&gathering->reload->done);
  readings->reloads_refused = laju_count_read(&gathering->reload->refused);
  readings->untrusted_forwards = laju_count_read(&service->untrusted_forwards);
  readings->overrides = laju_overlay_count(service->overlay);
  readings->wrong_tokens = service->admin != NULL ? laju_count_read(&service->admin->guesses) : 0;
  readings->decisions_dropped = laju_decisions_dropped(service->decisions);
  readings->has_store = laju_sharing_has_store(gathering->sharing);
  readings->nodes = atomic_load_explicit(&gathering->sharing->nodes, memory_order_relaxed);
  readings->names = service->names;
  readings->ledgers = gathering->ledgers;
  readings->ledger_count = gathering->worker_count;
  laju_table_stats_read(laju_limiter_table(service->limiter), &readings->table);
  for (size_t i = 0; i < gathering->worker_count; i++) laju_worker_read(gathering->workers[i], readings);
}
