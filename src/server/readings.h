/* What the server has counted, added up over its workers at one moment: the one source of /metrics and of the dashboard. */
#ifndef LAJU_SERVER_READINGS_H
#define LAJU_SERVER_READINGS_H

#include "limiter/way.h"
#include "proto/account.h"
#include "redis/nodes_reply.h"
#include "redis/store.h"
#include "server/connection.h"

/* Sums: nobody else writes them. Large (its histograms); not for a stack. */
typedef struct laju_readings {
  int64_t now_us, started_us; /* since the epoch */
  uint64_t workers, rules, connections;
  uint64_t reloads, reloads_refused;
  uint64_t untrusted_forwards;
  uint64_t overrides;         /* of operators, in force */
  uint64_t wrong_tokens;      /* at the admin door */
  uint64_t decisions_dropped; /* lines of the log */
  uint64_t requests[LAJU_DOOR_NAMES][LAJU_REQUEST_VERDICTS];
  laju_histogram latency;
  laju_counters counters;
  laju_table_stats table;
  bool has_store;
  uint64_t nodes;       /* that share the store, */
  laju_nodes_seen seen; /* and their versions */
  laju_store_counters store;
  laju_way_counters way;
  /* by rule: not sums, but what to add up */
  const laju_rule_names *names;
  laju_ledger *const *ledgers;
  size_t ledger_count;
} laju_readings;

/* Adds what one worker has counted. */
void laju_readings_add_account(laju_readings *readings, const laju_account *account);
void laju_readings_add_store(laju_readings *readings, const laju_store_counters *counters);
void laju_readings_add_way(laju_readings *readings, const laju_way_counters *counters);

/* A rule's checks of one verdict, over all workers. */
uint64_t laju_readings_checks(const laju_readings *readings, uint32_t number, laju_verdict verdict);

#endif
