/* The law as a WebAssembly module, for tests: one key under one rule, driven from JavaScript (run.mjs).
 *
 * Memory is static: a rule, a state, two rings for the log's stamps, and a decision that the caller reads where it lies.
 */
#include "core/decide.h"
#include "core/log.h"

#define RING_MAX (2 * LAJU_LOG_LIMIT_MAX)
#define EXPORT(name) __attribute__((export_name(#name)))

static laju_rule rule;
static laju_state state;
static laju_decision decision;
static uint64_t rings[2][RING_MAX];
static laju_log log_view;

/* A new key under a new rule. Returns 0 or a LAJU_ERR_*. */
EXPORT(begin) int32_t begin(uint32_t algorithm, uint64_t limit, int64_t period_us, uint64_t burst) {
  state = (laju_state){0};
  log_view = (laju_log){0};
  return laju_rule_init(&rule, "vector", 6, (laju_algorithm)algorithm, limit, period_us, burst);
}

/* The same key under a changed limit. */
EXPORT(set) int32_t set(uint64_t limit, uint64_t burst) {
  return laju_rule_init(&rule, "vector", 6, rule.algorithm, limit, rule.period * rule.tick_us, burst);
}

static void check_log(int64_t now_us, uint32_t cost) {
  laju_log_decide(&rule, &log_view, now_us, cost, &decision);
  if (!decision.allowed || cost == 0) return;
  uint32_t need = laju_log_need(&rule, &log_view, now_us, cost);
  if (need > log_view.capacity) laju_log_move(&log_view, log_view.stamps == rings[0] ? rings[1] : rings[0], need);
  laju_log_admit(&rule, &log_view, now_us, cost);
}

EXPORT(check) void check(int64_t now_us, uint32_t cost) {
  if (rule.algorithm == LAJU_SLIDING_WINDOW_LOG) {
    check_log(now_us, cost);
  } else {
    laju_decide(&rule, &state, now_us, cost, &decision);
  }
}

/* The last decision, member by member. */
EXPORT(allowed) int32_t allowed(void) {
  return decision.allowed;
}

EXPORT(limit) uint32_t limit(void) {
  return decision.limit;
}

EXPORT(remaining) uint32_t remaining(void) {
  return decision.remaining;
}

EXPORT(retry_after_us) int64_t retry_after_us(void) {
  return decision.retry_after_us;
}

EXPORT(more_after_us) int64_t more_after_us(void) {
  return decision.more_after_us;
}

EXPORT(reset_after_us) int64_t reset_after_us(void) {
  return decision.reset_after_us;
}

EXPORT(delay_us) int64_t delay_us(void) {
  return decision.delay_us;
}
