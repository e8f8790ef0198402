#include "server/readings.h"

#include "base/count.h"

static void add(_Atomic uint64_t *sum, const _Atomic uint64_t *more) {
  laju_count_more(sum, laju_count_read(more));
}

void laju_readings_add_account(laju_readings *readings, const laju_account *account) {
  for (size_t door = 0; door < LAJU_DOOR_NAMES; door++) {
    for (size_t verdict = 0; verdict < LAJU_REQUEST_VERDICTS; verdict++) {
      readings->requests[door][verdict] += laju_count_read(&account->requests[door][verdict]);
    }
  }
  laju_histogram_merge(&readings->latency, &account->latency);
}

void laju_readings_add_store(laju_readings *readings, const laju_store_counters *counters) {
  laju_store_counters *sum = &readings->store;
  add(&sum->checks, &counters->checks);
  add(&sum->commands, &counters->commands);
  add(&sum->timeouts, &counters->timeouts);
  add(&sum->refusals, &counters->refusals);
  add(&sum->failures, &counters->failures);
  add(&sum->overflows, &counters->overflows);
  add(&sum->short_cuts, &counters->short_cuts);
  add(&sum->late, &counters->late);
  add(&sum->script_loads, &counters->script_loads);
  add(&sum->redirects, &counters->redirects);
  add(&sum->connects, &counters->connects);
  add(&sum->connect_failures, &counters->connect_failures);
  add(&sum->breaker_opened, &counters->breaker_opened);
  add(&sum->bytes_out, &counters->bytes_out);
  add(&sum->bytes_in, &counters->bytes_in);
  add(&sum->inflight, &counters->inflight);
  add(&sum->servers_up, &counters->servers_up);
  add(&sum->servers, &counters->servers);
  laju_histogram_merge(&sum->latency, &counters->latency);
}

void laju_readings_add_way(laju_readings *readings, const laju_way_counters *counters) {
  add(&readings->way.fallbacks_allowed, &counters->fallbacks_allowed);
  add(&readings->way.fallbacks_denied, &counters->fallbacks_denied);
  add(&readings->way.remembered, &counters->remembered);
  add(&readings->way.given_back, &counters->given_back);
}

uint64_t laju_readings_checks(const laju_readings *readings, uint32_t number, laju_verdict verdict) {
  uint64_t sum = 0;
  for (size_t i = 0; i < readings->ledger_count; i++) sum += laju_ledger_read(readings->ledgers[i], number, verdict);
  return sum;
}
