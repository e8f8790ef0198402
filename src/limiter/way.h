/* One worker's way to decisions: the table at once, the shared store a moment later.
 *
 * A rule's mode says which. Where there is no store, every rule is decided by the table. A request with rules of both kinds: the
 * table's are charged first and given back if the store refuses; so the table is never one over, perhaps one early. Where the
 * table refuses, or the memory of denials knows that the store would, the store is not asked: exact checks that nobody decided
 * are LAJU_UNASKED (allowed, `remaining` at the capacity, no waits), and the table's say what they would have answered.
 *
 * Everything here belongs to the worker's thread; counters may be read by any.
 */
#ifndef LAJU_LIMITER_WAY_H
#define LAJU_LIMITER_WAY_H

#include <stdatomic.h>

#include "base/slice.h"
#include "limiter/limiter.h"
#include "redis/keys.h"

struct laju_store;

typedef struct laju_way_counters {
  _Atomic uint64_t fallbacks_allowed, fallbacks_denied; /* checks decided by on_store_error */
  _Atomic uint64_t remembered;                          /* checks refused from the denial memory, without the store */
  _Atomic uint64_t given_back; /* checks of the table that were taken back because the store refused */
} laju_way_counters;

typedef struct laju_way {
  laju_limiter *limiter;
  struct laju_store *store; /* NULL: none; then only laju_limiter_decide_* are needed */
  laju_keys keys;           /* where there is a store */
  bool deny_cache;          /* refusals are remembered; the limiter is one of laju_limiter_new_shared */
  bool transaction;         /* atomicity: transaction, as the store's option says. Its refusals are not remembered */
  _Atomic uint32_t *nodes;  /* how many share the store: a rule's share under on_store_error: local. At least 1 */
  laju_way_counters counters;
} laju_way;

/* Must this check ask the store? */
static inline bool laju_way_is_exact(const laju_way *way, const laju_check *check) {
  return way->store != NULL && check->rule->mode == LAJU_EXACT;
}

/* One request on its way: its checks, and where their decisions go. The arrays are the caller's and stay until it is decided. */
typedef enum laju_claim_kind {
  LAJU_CLAIM_ALL,   /* 1 to LAJU_CHECKS_MAX checks, all charged or none, but for those under shadow rules */
  LAJU_CLAIM_EACH,  /* independent checks */
  LAJU_CLAIM_RESET, /* forget the one check's key */
} laju_claim_kind;

typedef struct laju_claim {
  laju_claim_kind kind;
  bool allowed; /* ALL: the answer */
  bool known;   /* RESET: the answer */
  bool split;   /* cannot be decided: its keys live in different slots of the cluster. Nothing was charged */
  bool failed;  /* RESET: the store did not answer */
  uint32_t count;
  const laju_check *checks;
  const laju_slice *groups; /* groups[i] is checks[i]'s where its rule is grouped; an empty one: none */
  laju_decision *decisions;
} laju_claim;

/* Decides without asking the store, where that can be: nothing of it is exact, or each of its exact checks is answered or made
 * needless by the denial memory or a limit of 0. False: it must be asked (laju_errand_start); nothing was charged. Of a RESET
 * that has to be asked, what is remembered is forgotten already, so that claims behind it are not answered from that. */
bool laju_way_decide(laju_way *way, laju_claim *claim, int64_t now_us);

#endif
