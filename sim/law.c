/* The law as a WebAssembly module without imports, for the page in web/: one key under one rule.
 *
 * A page makes an instance of it for each key. Every number of the law is below 2^53, so all pass as doubles, which
 * JavaScript has, and stay exact. What a check answered is left in `numbers`, what the rule became in `terms`; memory is
 * static, so the places that numbers_at and terms_at tell never move.
 */
#include "core/decide.h"
#include "core/log.h"
#include "core/rule.h"

#define RING_MAX (2 * LAJU_LOG_LIMIT_MAX)
#define EXPORT(name) __attribute__((export_name(#name)))

/* What a check found, and what it answered. The order is web/src/simulator/law.ts's too. */
enum {
  ALLOWED,
  REMAINING,
  RETRY_AFTER_US,
  MORE_AFTER_US,
  RESET_AFTER_US,
  DELAY_US,
  NOW,  /* ticks */
  USED, /* buckets: units that stand against the capacity; windows: tokens of this one; log: tokens of the last period */
  PREVIOUS, /* tokens of the window before */
  ELAPSED,  /* ticks into the window */
  NUMBERS
};

enum { LIMIT, PERIOD, TICK_US, CAPACITY, TERMS };

static laju_rule rule;
static laju_state state;
static uint64_t rings[2][RING_MAX];
static laju_log log_view;
static double numbers[NUMBERS], terms[TERMS];

/* A new key under a new rule. Returns 0 or a LAJU_ERR_*. */
EXPORT(begin) int32_t begin(uint32_t algorithm, double limit, double period_us, double burst) {
  state = (laju_state){0};
  log_view = (laju_log){0};
  int err =
      laju_rule_init(&rule, "page", 4, (laju_algorithm)algorithm, (uint64_t)limit, (int64_t)period_us, (uint64_t)burst);
  if (err < 0) return err;
  terms[LIMIT] = rule.limit;
  terms[PERIOD] = (double)rule.period;
  terms[TICK_US] = (double)rule.tick_us;
  terms[CAPACITY] = rule.capacity;
  return 0;
}

/* The same key under a changed limit. */
EXPORT(change) int32_t change(double limit, double burst) {
  laju_state kept = state;
  laju_log kept_log = log_view;
  int err = begin(rule.algorithm, limit, (double)laju_rule_period_us(&rule), burst);
  state = kept;
  log_view = kept_log;
  return err;
}

static void decide_log(int64_t now_us, uint32_t cost, laju_decision *out) {
  laju_log_decide(&rule, &log_view, now_us, cost, out);
  if (!out->allowed || cost == 0) return;
  uint32_t need = laju_log_need(&rule, &log_view, now_us, cost);
  if (need > log_view.capacity) laju_log_move(&log_view, log_view.stamps == rings[0] ? rings[1] : rings[0], need);
  laju_log_admit(&rule, &log_view, now_us, cost);
}

/* What the law finds at `now_us`, before it decides. It tells by what it writes for one token under the same rule left wide
 * open, on a copy: so nothing of the law is written twice. */
static void find(int64_t now_us) {
  numbers[NOW] = (double)(now_us / rule.tick_us);
  numbers[USED] = numbers[PREVIOUS] = numbers[ELAPSED] = 0;
  if (rule.limit == 0) return;
  laju_decision ignored;
  if (rule.algorithm == LAJU_SLIDING_WINDOW_LOG) {
    laju_log_decide(&rule, &log_view, now_us, 0, &ignored);
    numbers[USED] = rule.limit - ignored.remaining;
    return;
  }
  laju_rule wide = rule;
  laju_state found = state;
  wide.capacity = LAJU_TOKENS_MAX;
  if (!laju_algorithm_is_bucket(rule.algorithm)) wide.limit = LAJU_TOKENS_MAX;
  laju_decide(&wide, &found, now_us, 1, &ignored);
  if (laju_algorithm_is_bucket(rule.algorithm)) {
    numbers[USED] = (double)((int64_t)found.bucket.used - rule.period);
    return;
  }
  numbers[USED] = found.window.curr - 1;
  numbers[PREVIOUS] = found.window.prev;
  numbers[ELAPSED] = (double)(now_us / rule.tick_us - (int64_t)found.window.window * rule.period);
}

/* Decides and charges one check; `numbers` holds what was found and answered. */
EXPORT(check) void check(double at_us, double tokens) {
  int64_t now_us = (int64_t)at_us;
  uint32_t cost = (uint32_t)tokens;
  find(now_us);
  laju_decision decision;
  if (rule.algorithm == LAJU_SLIDING_WINDOW_LOG) {
    decide_log(now_us, cost, &decision);
  } else {
    laju_decide(&rule, &state, now_us, cost, &decision);
  }
  numbers[ALLOWED] = decision.allowed;
  numbers[REMAINING] = decision.remaining;
  numbers[RETRY_AFTER_US] = (double)decision.retry_after_us;
  numbers[MORE_AFTER_US] = (double)decision.more_after_us;
  numbers[RESET_AFTER_US] = (double)decision.reset_after_us;
  numbers[DELAY_US] = (double)decision.delay_us;
}

EXPORT(numbers_at) const double *numbers_at(void) {
  return numbers;
}

EXPORT(terms_at) const double *terms_at(void) {
  return terms;
}

/* Bytes that one key's state takes: with the log, its ring. */
EXPORT(state_bytes) uint32_t state_bytes(void) {
  if (rule.algorithm != LAJU_SLIDING_WINDOW_LOG) return sizeof state;
  return 16 + 8 * log_view.capacity;
}

/* The period nearest to one that no tick divides. */
EXPORT(nearest_period) double nearest_period(double period_us) {
  return (double)laju_period_nearest((int64_t)period_us);
}
