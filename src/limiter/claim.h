/* Inside `limiter` only: what of a claim is decided here, and what is left for the shared store.
 *
 * The one way through a request of several checks, with or without a store to ask:
 *   1. checks under shadow rules are requests of their own, and do not change the answer
 *   2. an exact check that is refused without asking (a limit of 0, the denial memory) refuses the request: nothing of it is
 *      charged, nothing of it is asked; those of the table say what they would have answered, the other exact ones are UNASKED
 *   3. otherwise the table's are charged; where they refuse, the exact ones are UNASKED
 *   4. otherwise the exact ones are asked together, and where they refuse the table's are given back
 *
 * A set of a claim's checks is a word: bit i for checks[i].
 */
#ifndef LAJU_LIMITER_CLAIM_H
#define LAJU_LIMITER_CLAIM_H

#include "limiter/way.h"

typedef struct laju_plan {
  uint32_t exact, shadow;
  uint32_t known; /* exact ones that are refused without asking; their decisions stand */
  uint32_t asks;  /* whether any has to be asked: those that would be, if the table allows its own */
} laju_plan;

/* Looks at an ALL claim; charges nothing. */
laju_plan laju_claim_plan(laju_way *way, laju_claim *claim, int64_t now_us);

/* Steps 1 to 3: decides and charges all that is not asked; returns those that have to be. If none of them is enforced, `allowed`
 * stands. */
uint32_t laju_claim_begin(laju_way *way, laju_claim *claim, const laju_plan *plan, int64_t now_us);

/* The end of step 4, where enforced ones were asked: their answer, and when the claim had begun. */
void laju_claim_end(laju_way *way, laju_claim *claim, bool allowed, int64_t begun_us);

/* Decides those of an EACH claim that are the table's. */
void laju_claim_decide_embedded(laju_way *way, laju_claim *claim, int64_t now_us);

/* True where this exact check is refused without asking; its decision then stands. */
bool laju_claim_knows(const laju_way *way, laju_claim *claim, size_t i, int64_t now_us);

/* Counts what laju_claim_knows told, where it is the answer. */
void laju_claim_count_known(laju_way *way, const laju_claim *claim, size_t i);

/* Forgets what is remembered of the key of a RESET claim. */
void laju_claim_forget_denials(laju_way *way, const laju_claim *claim, int64_t now_us);

/* The group of a check's name in the store; len 0 where it has none. */
static inline laju_slice laju_claim_group(const laju_claim *claim, size_t i) {
  if (!claim->checks[i].rule->grouped || claim->groups == NULL) return (laju_slice){NULL, 0};
  return claim->groups[i];
}

/* May refusals of the store be remembered, and answered from memory? */
static inline laju_denials *laju_way_denials(const laju_way *way) {
  return way->deny_cache && !way->transaction ? laju_limiter_denials(way->limiter) : NULL;
}

/* A check that nobody decided, because another refused its request first. */
static inline laju_decision laju_claim_unasked(const laju_check *check) {
  uint32_t capacity = check->rule->capacity;
  return (laju_decision){.allowed = true, .limit = capacity, .remaining = capacity, .basis = LAJU_UNASKED};
}

#endif
