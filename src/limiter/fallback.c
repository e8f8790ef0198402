#include "limiter/fallback.h"

/* Those of a request that the table decides, and where their decisions go. */
typedef struct locals {
  size_t count;
  laju_rule rules[LAJU_CHECKS_MAX];
  laju_check checks[LAJU_CHECKS_MAX];
  size_t places[LAJU_CHECKS_MAX];
} locals;

static bool is_never(const laju_check *check) {
  return check->cost > check->rule->capacity;
}

static bool is_local(const laju_check *check) {
  return check->rule->on_store_error == LAJU_STORE_ERROR_LOCAL && !is_never(check);
}

/* What a check is answered that neither store nor table is asked about. */
static laju_decision decide_alone(const laju_check *check) {
  const laju_rule *rule = check->rule;
  laju_decision decision = {.allowed = true, .limit = rule->capacity, .remaining = rule->capacity};
  if (is_never(check)) {
    decision.allowed = false;
    decision.retry_after_us = LAJU_NEVER;
  } else if (rule->on_store_error == LAJU_STORE_ERROR_DENY && rule->limit > 0) {
    decision.allowed = check->cost == 0;
    decision.remaining = 0;
    decision.retry_after_us = decision.allowed ? 0 : LAJU_FALLBACK_RETRY_US;
    decision.more_after_us = decision.reset_after_us = LAJU_FALLBACK_RETRY_US;
  } else {
    decision.remaining -= check->cost;
  }
  return decision;
}

static uint32_t share_of(uint32_t tokens, uint32_t nodes) {
  return tokens / nodes > 0 || tokens == 0 ? tokens / nodes : 1;
}

static void add_local(locals *to, const laju_check *check, size_t place, uint32_t nodes) {
  laju_rule *rule = &to->rules[to->count];
  *rule = *check->rule;
  rule->limit = share_of(rule->limit, nodes);
  rule->capacity = share_of(rule->capacity, nodes);
  to->checks[to->count] = *check;
  to->checks[to->count].rule = rule;
  to->places[to->count++] = place;
}

/* Together, all or none; nothing is charged where `refused` says that another of the request refuses. */
static bool decide_locals(laju_way *way, const locals *of, bool refused, int64_t now_us, laju_decision *decisions) {
  laju_table *table = laju_limiter_table(way->limiter);
  laju_decision found[LAJU_CHECKS_MAX];
  bool allowed = refused ? laju_table_judge(table, of->checks, of->count, now_us, found)
                         : laju_table_decide_all(table, of->checks, of->count, now_us, found);
  for (size_t i = 0; i < of->count; i++) {
    if (found[i].retry_after_us == LAJU_NEVER) found[i].retry_after_us = LAJU_FALLBACK_RETRY_US;
    decisions[of->places[i]] = found[i];
  }
  return allowed && !refused;
}

bool laju_fallback_decide(laju_way *way, const laju_check *checks, size_t count, int64_t now_us,
                          laju_decision *decisions) {
  uint32_t nodes = atomic_load_explicit(way->nodes, memory_order_relaxed);
  bool allowed = true;
  locals of;
  of.count = 0;
  for (size_t i = 0; i < count; i++) {
    if (is_local(&checks[i])) {
      add_local(&of, &checks[i], i, nodes);
      continue;
    }
    decisions[i] = decide_alone(&checks[i]);
    allowed &= decisions[i].allowed;
  }
  if (of.count > 0) allowed = decide_locals(way, &of, !allowed, now_us, decisions);
  uint64_t passed = 0;
  for (size_t i = 0; i < count; i++) {
    decisions[i].basis = LAJU_FALLBACK;
    passed += decisions[i].allowed;
  }
  atomic_fetch_add_explicit(&way->counters.fallbacks_allowed, passed, memory_order_relaxed);
  atomic_fetch_add_explicit(&way->counters.fallbacks_denied, count - passed, memory_order_relaxed);
  return allowed;
}
