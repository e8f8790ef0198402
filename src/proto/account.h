/* What a worker has answered, for those who watch it: requests by door, checks by rule, who was refused, and how long it took.
 *
 * A worker counts in an account of its own; others read it meanwhile and add several up. Counting costs a few loads and stores a check;
 * only refusals go further (limiter/top.h).
 */
#ifndef LAJU_PROTO_ACCOUNT_H
#define LAJU_PROTO_ACCOUNT_H

#include "base/histogram.h"
#include "limiter/ledger.h"
#include "limiter/top.h"
#include "proto/batch.h"

typedef enum laju_door_name { LAJU_DOOR_HTTP, LAJU_DOOR_RESP, LAJU_DOOR_NAMES } laju_door_name;

typedef enum laju_request_verdict {
  LAJU_REQUEST_ALLOWED,
  LAJU_REQUEST_DENIED, /* also a batch of independent checks of which one was */
  LAJU_REQUEST_ERROR,  /* it could not be read, or not be decided */
  LAJU_REQUEST_VERDICTS
} laju_request_verdict;

typedef struct laju_account {
  _Atomic uint64_t requests[LAJU_DOOR_NAMES][LAJU_REQUEST_VERDICTS];
  laju_histogram
      latency; /* us from reading a request to writing its answer, an answer that is held back not included */
  laju_ledger *ledger;
  laju_top *top;
} laju_account;

/* `hash_key`: as for laju_top_new. LAJU_ERR_MEMORY. */
int laju_account_init(laju_account *account, const uint64_t hash_key[2]);
void laju_account_deinit(laju_account *account);

/* Counts the asks of a decided batch that came in by this door. `took_us` is the time from reading to now, for each. */
void laju_account_batch(laju_account *account, laju_door_name door, const laju_batch *batch, int64_t took_us);

#endif
