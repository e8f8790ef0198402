/* The memory of denials: what the shared store refused, answered again without asking it, so that a flood of refused checks
 * costs the store nothing.
 *
 * Why that is right: under one rule only time makes a refused check pass. Others' admissions since can but put it off. So until
 * its `retry_after` is over, counted from when the question was *sent* (the store decided later than that), it is still
 * refused, and so is every greater cost. What can let it pass sooner, the store does not tell this node: a reset, an eviction or
 * a loss there, a clock that is set forward, an admission of the same key under a larger limit (a bucket drains by the limit that
 * it is asked under). Then it is refused until the time remembered, never let pass too soon. A reset clears it here
 * (laju_denials_forget), not on other nodes. Another limit or burst is another entry.
 *
 * What may be remembered: a refusal on the state that the store holds. Not one that an earlier check of the same request
 * caused, since that was not charged; not one under atomicity: transaction, where others' tokens count before they are taken
 * back; not a fallback, which the store did not say.
 *
 * For buckets and windows the entry keeps the state found and the store's time, so that an answer is the law's own, a while
 * later. It is told by the store's clock as it was when the question was sent, so its waits may be too short by as long as the
 * answer was under way. For a log it keeps the decision, counted down; for a greater cost its `retry_after` is the least that
 * it can be. Of a cost above the capacity, which is refused for ever, the other numbers would grow old: it is remembered for
 * LAJU_DENIALS_NEVER_US (under a log no longer than they hold).
 *
 * A set of LAJU_DENIALS_WAYS entries, each a cache line, behind a line of fingerprints; what has ended goes first for a
 * newcomer, then what ends soonest. All of it lies in memory that its owner gives (the table's mapping). Any thread: finding
 * writes nothing and never waits (while its set is being written it finds nothing), remembering and forgetting take the set's
 * lock.
 */
#ifndef LAJU_TABLE_DENIALS_H
#define LAJU_TABLE_DENIALS_H

#include <stdatomic.h>

#include "base/slice.h"
#include "core/state.h"
#include <laju/laju.h>

#define LAJU_DENIALS_WAYS 6
#define LAJU_DENIALS_NEVER_US INT64_C(1000000)
#define LAJU_DENIALS_WORDS 7

typedef struct laju_denials_entry {
  _Alignas(64) _Atomic uint64_t words[LAJU_DENIALS_WORDS];
} laju_denials_entry;

typedef struct laju_denials_set {
  _Alignas(64) _Atomic uint64_t sequence; /* odd while it is being written */
  _Atomic int64_t forgotten_us;           /* the latest laju_denials_forget: what was sent before it does not count */
  _Atomic uint64_t prints[LAJU_DENIALS_WAYS]; /* 0: free */
  laju_denials_entry entries[LAJU_DENIALS_WAYS];
} laju_denials_set;

_Static_assert(sizeof(laju_denials_entry) == 64, "an entry is a cache line");
_Static_assert(sizeof(laju_denials_set) == 64 * (1 + LAJU_DENIALS_WAYS), "so is what a search looks at");

typedef struct laju_denials {
  uint64_t hash_key[2];
  laju_denials_set *sets;
  uint64_t set_count;
  _Atomic uint64_t displaced; /* entries that made room before they had ended */
} laju_denials;

/* Over memory that is all zeros and begins a cache line; `bytes` at least a set's. */
void laju_denials_init(laju_denials *denials, void *memory, size_t bytes, const uint64_t hash_key[2]);

/* A refusal, as the store told it. Times are the node's, but for `store_us`. */
typedef struct laju_denial {
  const laju_check *check;
  laju_slice group; /* that the key's name in the store carries; len 0: none */
  laju_decision decision;
  laju_state found; /* what it was decided on; for a log unused */
  int64_t store_us; /* when, by the store's clock */
  int64_t sent_us;  /* before the question went out */
} laju_denial;

void laju_denials_remember(laju_denials *denials, const laju_denial *denial, int64_t now_us);

/* True where the check is certainly still refused; `out` is then its decision. */
bool laju_denials_find(const laju_denials *denials, const laju_check *check, laju_slice group, int64_t now_us,
                       laju_decision *out);

/* Forgets a key under a rule, whatever its limit and the costs, and all that was sent up to now and is not answered yet. */
void laju_denials_forget(laju_denials *denials, const laju_check *check, laju_slice group, int64_t now_us);

#endif
