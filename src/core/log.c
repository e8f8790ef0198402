#include "core/log.h"

#include "core/moment.h"

/* The i-th oldest stamp that is held. */
static int64_t stamp_at(const laju_log *log, uint32_t i) {
  return (int64_t)log->stamps[(log->head + i) & (log->capacity - 1)];
}

static laju_moment log_moment(const laju_rule *rule, const laju_log *log, int64_t now_us) {
  return laju_moment_at(rule, now_us, log->count > 0 ? stamp_at(log, log->count - 1) : 0);
}

/* How many of the stamps held are at or before `tick`. A binary search. */
static uint32_t count_until(const laju_log *log, int64_t tick) {
  uint32_t low = 0, high = log->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (stamp_at(log, middle) > tick) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* How many of the stamps held have expired: an admission counts for exactly one period. */
static uint32_t expired(const laju_rule *rule, const laju_log *log, laju_moment at) {
  return at.fresh ? log->count : count_until(log, at.now - rule->period);
}

/* Ticks until the i-th oldest of the live tokens expires; those not yet written count from now. */
static int64_t until_expired(const laju_rule *rule, const laju_log *log, laju_moment at, uint32_t gone, int64_t i) {
  int64_t held = log->count - gone;
  int64_t stamp = i < held ? stamp_at(log, gone + (uint32_t)i) : at.now;
  return stamp + rule->period - at.now;
}

void laju_log_decide(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t cost, laju_decision *out) {
  bool never = cost > rule->capacity;
  if (rule->limit == 0) {
    *out = (laju_decision){.allowed = !never, .retry_after_us = never ? LAJU_NEVER : 0};
    return;
  }
  const int64_t L = rule->limit;
  laju_moment at = log_moment(rule, log, now_us);
  uint32_t gone = expired(rule, log, at);
  int64_t live = (int64_t)(log->count - gone) + log->pending;
  int64_t over = never ? 0 : live + cost - L;
  bool allowed = !never && (over <= 0 || cost == 0);

  int64_t retry = 0;
  if (!allowed && !never) retry = until_expired(rule, log, at, gone, over - 1);
  if (allowed) live += cost;
  int64_t remaining = live < L ? L - live : 0;
  int64_t more = 0;
  if (remaining < L) more = until_expired(rule, log, at, gone, live + remaining - L);
  int64_t reset = 0;
  if (live > 0) reset = until_expired(rule, log, at, gone, live - 1);

  *out = (laju_decision){
      .allowed = allowed,
      .limit = rule->capacity,
      .remaining = (uint32_t)remaining,
      .retry_after_us = never ? LAJU_NEVER : laju_moment_wait(rule, at, retry),
      .more_after_us = laju_moment_wait(rule, at, more),
      .reset_after_us = laju_moment_wait(rule, at, reset),
  };
}

uint32_t laju_log_need(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t tokens) {
  uint32_t live = log->count - expired(rule, log, log_moment(rule, log, now_us));
  uint32_t capacity = log->capacity > LAJU_LOG_CAPACITY_MIN ? log->capacity : LAJU_LOG_CAPACITY_MIN;
  while (capacity < live + tokens) capacity *= 2;
  return capacity;
}

void laju_log_move(laju_log *log, uint64_t *stamps, uint32_t capacity) {
  for (uint32_t i = 0; i < log->count; i++) stamps[i] = (uint64_t)stamp_at(log, i);
  log->stamps = stamps;
  log->capacity = capacity;
  log->head = 0;
}

void laju_log_admit(const laju_rule *rule, laju_log *log, int64_t now_us, uint32_t tokens) {
  laju_moment at = log_moment(rule, log, now_us);
  uint32_t gone = expired(rule, log, at);
  log->head = (log->head + gone) & (log->capacity - 1);
  log->count -= gone;
  for (uint32_t i = 0; i < tokens; i++) {
    log->stamps[(log->head + log->count + i) & (log->capacity - 1)] = (uint64_t)at.now;
  }
  log->count += tokens;
  log->pending = 0;
}

uint32_t laju_log_take(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t most, laju_decision *out) {
  laju_decision peek;
  laju_log_decide(rule, log, now_us, 0, &peek);
  uint32_t taken = peek.remaining < most ? peek.remaining : most;
  laju_log_decide(rule, log, now_us, taken, out);
  return taken;
}

void laju_log_give_back(const laju_rule *rule, laju_log *log, int64_t charged_us, uint32_t tokens) {
  int64_t charged = charged_us / rule->tick_us;
  uint32_t end = count_until(log, charged), begin = count_until(log, charged - 1);
  uint32_t gone = end - begin < tokens ? end - begin : tokens;
  for (uint32_t i = end; gone > 0 && i < log->count; i++) {
    log->stamps[(log->head + i - gone) & (log->capacity - 1)] = (uint64_t)stamp_at(log, i);
  }
  log->count -= gone;
}
