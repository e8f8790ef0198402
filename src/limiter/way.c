#include "limiter/way.h"

#include "limiter/claim.h"

static bool decide_all(laju_way *way, laju_claim *claim, int64_t now_us) {
  laju_plan plan = laju_claim_plan(way, claim, now_us);
  if (plan.asks != 0) return false;
  laju_claim_begin(way, claim, &plan, now_us);
  return true;
}

static bool decide_each(laju_way *way, laju_claim *claim, int64_t now_us) {
  for (size_t i = 0; i < claim->count; i++) {
    if (laju_way_is_exact(way, &claim->checks[i]) && !laju_claim_knows(way, claim, i, now_us)) return false;
  }
  for (size_t i = 0; i < claim->count; i++) {
    if (laju_way_is_exact(way, &claim->checks[i])) laju_claim_count_known(way, claim, i);
  }
  laju_claim_decide_embedded(way, claim, now_us);
  return true;
}

/* The memory forgets an exact one at once, so that claims behind it are not answered from what was before. */
static bool forget(laju_way *way, laju_claim *claim, int64_t now_us) {
  const laju_check *check = claim->checks;
  if (laju_way_is_exact(way, check)) {
    laju_claim_forget_denials(way, claim, now_us);
    return false;
  }
  claim->known = laju_limiter_forget(way->limiter, check->rule, check->key, check->key_len, now_us);
  return true;
}

bool laju_way_decide(laju_way *way, laju_claim *claim, int64_t now_us) {
  claim->split = false;
  claim->failed = false;
  switch (claim->kind) {
    case LAJU_CLAIM_ALL: return decide_all(way, claim, now_us);
    case LAJU_CLAIM_EACH: return decide_each(way, claim, now_us);
    default: return forget(way, claim, now_us);
  }
}
