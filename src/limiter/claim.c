#include "limiter/claim.h"

/* ---- sets of checks ---- */

static bool has(uint32_t set, size_t i) {
  return (set >> i & 1) != 0;
}

/* The checks of a set, side by side, in their order; returns how many. */
static size_t gather(const laju_claim *claim, uint32_t set, laju_check checks[LAJU_CHECKS_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < claim->count; i++) {
    if (has(set, i)) checks[count++] = claim->checks[i];
  }
  return count;
}

static void scatter(laju_claim *claim, uint32_t set, const laju_decision *decisions) {
  for (size_t i = 0; i < claim->count; i++) {
    if (has(set, i)) claim->decisions[i] = *decisions++;
  }
}

static uint32_t all_of(const laju_claim *claim) {
  return (UINT32_C(1) << claim->count) - 1;
}

/* ---- without asking ---- */

bool laju_claim_knows(const laju_way *way, laju_claim *claim, size_t i, int64_t now_us) {
  const laju_check *check = &claim->checks[i];
  if (check->cost == 0) return false;
  if (check->rule->limit == 0) {
    claim->decisions[i] = (laju_decision){.retry_after_us = LAJU_NEVER};
    return true;
  }
  const laju_denials *denials = laju_way_denials(way);
  return denials != NULL && laju_denials_find(denials, check, laju_claim_group(claim, i), now_us, &claim->decisions[i]);
}

void laju_claim_count_known(laju_way *way, const laju_claim *claim, size_t i) {
  if (claim->checks[i].rule->limit == 0) return; /* no memory was needed */
  atomic_fetch_add_explicit(&way->counters.remembered, 1, memory_order_relaxed);
}

void laju_claim_forget_denials(laju_way *way, const laju_claim *claim, int64_t now_us) {
  laju_denials *denials = laju_limiter_denials(way->limiter);
  if (denials != NULL) laju_denials_forget(denials, claim->checks, laju_claim_group(claim, 0), now_us);
}

laju_plan laju_claim_plan(laju_way *way, laju_claim *claim, int64_t now_us) {
  laju_plan plan = {0};
  for (size_t i = 0; i < claim->count; i++) {
    uint32_t bit = UINT32_C(1) << i;
    if (claim->checks[i].rule->shadow) plan.shadow |= bit;
    if (!laju_way_is_exact(way, &claim->checks[i])) continue;
    plan.exact |= bit;
    if (laju_claim_knows(way, claim, i, now_us)) plan.known |= bit;
  }
  bool refused = (plan.known & ~plan.shadow) != 0;
  plan.asks = plan.exact & ~plan.known & (refused ? plan.shadow : ~UINT32_C(0));
  return plan;
}

/* ---- deciding ---- */

/* The table's part of the request: charged, or only answered where the request is refused already. */
static bool decide_here(laju_way *way, laju_claim *claim, uint32_t set, bool refused, int64_t now_us) {
  if (set == 0) return true;
  laju_table *table = laju_limiter_table(way->limiter);
  if (set == all_of(claim)) return laju_table_decide_all(table, claim->checks, claim->count, now_us, claim->decisions);
  laju_check checks[LAJU_CHECKS_MAX];
  laju_decision decisions[LAJU_CHECKS_MAX];
  size_t count = gather(claim, set, checks);
  bool allowed = refused ? laju_table_judge(table, checks, count, now_us, decisions)
                         : laju_table_decide_all(table, checks, count, now_us, decisions);
  scatter(claim, set, decisions);
  return allowed;
}

uint32_t laju_claim_begin(laju_way *way, laju_claim *claim, const laju_plan *plan, int64_t now_us) {
  bool refused = (plan->known & ~plan->shadow) != 0;
  uint32_t here = all_of(claim) & ~plan->exact & ~plan->shadow, asks = plan->asks;
  claim->allowed = decide_here(way, claim, here, refused, now_us) && !refused;
  if (!claim->allowed) asks &= plan->shadow;
  for (size_t i = 0; i < claim->count; i++) {
    if (has(plan->known, i)) {
      laju_claim_count_known(way, claim, i);
    } else if (has(plan->shadow & ~plan->exact, i)) {
      decide_here(way, claim, UINT32_C(1) << i, false, now_us);
    } else if (has(plan->exact & ~asks, i)) {
      claim->decisions[i] = laju_claim_unasked(&claim->checks[i]);
    }
  }
  return asks;
}

void laju_claim_end(laju_way *way, laju_claim *claim, bool allowed, int64_t begun_us) {
  claim->allowed = allowed;
  if (allowed) return;
  uint32_t here = 0;
  for (size_t i = 0; i < claim->count; i++) {
    const laju_check *check = &claim->checks[i];
    if (!check->rule->shadow && !laju_way_is_exact(way, check) && check->cost > 0) here |= UINT32_C(1) << i;
  }
  if (here == 0) return;
  laju_check checks[LAJU_CHECKS_MAX];
  size_t count = gather(claim, here, checks);
  laju_table_give_back(laju_limiter_table(way->limiter), checks, count, begun_us);
  atomic_fetch_add_explicit(&way->counters.given_back, count, memory_order_relaxed);
}

void laju_claim_decide_embedded(laju_way *way, laju_claim *claim, int64_t now_us) {
  for (size_t i = 0, end; i < claim->count; i = end) {
    end = i + 1;
    if (laju_way_is_exact(way, &claim->checks[i])) continue;
    while (end < claim->count && !laju_way_is_exact(way, &claim->checks[end])) end++;
    laju_limiter_decide_each(way->limiter, &claim->checks[i], end - i, now_us, &claim->decisions[i]);
  }
}
