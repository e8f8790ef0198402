#include <laju/laju.h>

/* Compares remaining / limit by cross products (below 2^64); a limit of 0 counts as a ratio of 0. */
static bool lesser_share(const laju_decision *a, const laju_decision *b) {
  uint64_t a_limit = a->limit > 0 ? a->limit : 1, b_limit = b->limit > 0 ? b->limit : 1;
  return a->remaining * b_limit < b->remaining * a_limit;
}

bool laju_decision_tighter(const laju_decision *a, const laju_decision *b) {
  if (a->allowed != b->allowed) return !a->allowed;
  if (a->retry_after_us != b->retry_after_us) { /* both refuse; never, -1, is the longest */
    return (uint64_t)a->retry_after_us > (uint64_t)b->retry_after_us;
  }
  if (lesser_share(a, b)) return true;
  if (lesser_share(b, a)) return false;
  return a->reset_after_us > b->reset_after_us;
}

size_t laju_decision_tightest(const laju_decision *decisions, size_t count) {
  size_t tightest = 0;
  for (size_t i = 1; i < count; i++) {
    if (laju_decision_tighter(&decisions[i], &decisions[tightest])) tightest = i;
  }
  return tightest;
}
