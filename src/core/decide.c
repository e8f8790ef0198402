#include "core/decide.h"

#include "core/moment.h"
#include "core/rule.h"

/* What an algorithm finds, in ticks, for a cost that is within the capacity; the caller turns it into a decision. */
typedef struct finding {
  bool allowed;
  int64_t remaining; /* below 0 where a limit was lowered under what is used */
  int64_t retry;     /* asked for only where not allowed */
  int64_t more;
  int64_t reset;
  int64_t delay;
} finding;

/* ---- token and leaky bucket ---- */

/* `used` after draining L a tick, down to 0. */
static int64_t drained(int64_t used, int64_t elapsed, int64_t L) {
  if (elapsed > INT32_MAX) { /* the product might not fit: no more ticks are needed than empty it */
    int64_t enough = laju_ceil_div(used, L);
    if (elapsed > enough) elapsed = enough;
  }
  used -= elapsed * L;
  return used > 0 ? used : 0;
}

static finding decide_bucket(const laju_rule *rule, laju_state *state, laju_moment at, int64_t n) {
  const int64_t P = rule->period, L = rule->limit, full = rule->capacity * P;
  int64_t used = at.fresh ? 0 : drained((int64_t)state->bucket.used, at.now - (int64_t)state->bucket.last, L);
  int64_t over = used + n * P - full;
  finding f = {.allowed = over <= 0};
  if (!f.allowed) f.retry = laju_ceil_div(over, L);
  if (f.allowed && n > 0) {
    if (rule->algorithm == LAJU_LEAKY_BUCKET) f.delay = laju_ceil_div(used, L);
    used += n * P;
    state->bucket.used = (uint64_t)used;
    state->bucket.last = (uint64_t)at.now;
  }
  if (used <= full) f.remaining = (full - used) / P;
  f.more = f.remaining < rule->capacity ? laju_ceil_div(used + (f.remaining + 1) * P - full, L) : 0;
  f.reset = laju_ceil_div(used, L);
  return f;
}

/* ---- windows ---- */

typedef struct windows {
  int64_t window, curr, prev;
  int64_t e; /* ticks into the window */
} windows;

static windows windows_at(const laju_rule *rule, const laju_state *state, laju_moment at) {
  windows w = {.window = at.now / rule->period};
  w.e = at.now - w.window * rule->period;
  if (at.fresh) return w;
  int64_t held = (int64_t)state->window.window;
  if (held == w.window) {
    w.curr = state->window.curr;
    w.prev = state->window.prev;
  } else if (held + 1 == w.window) {
    w.prev = state->window.curr;
  }
  return w;
}

static finding decide_fixed_window(const laju_rule *rule, laju_state *state, laju_moment at, int64_t n) {
  const int64_t L = rule->limit;
  windows w = windows_at(rule, state, at);
  int64_t left = rule->period - w.e;
  finding f = {.allowed = w.curr + n <= L, .retry = left};
  if (f.allowed && n > 0) {
    w.curr += n;
    state->window.window = (uint64_t)w.window;
    state->window.curr = (uint32_t)w.curr;
    state->window.prev = 0;
  }
  f.remaining = L - w.curr;
  f.more = w.curr > 0 ? left : 0;
  f.reset = w.curr > 0 ? left : 0;
  return f;
}

/* How far prev * (P - e) is above what n more tokens leave for it; admitted where it is not. No sum of products, so each
 * side stays below 2^53. */
static int64_t counter_over(const laju_rule *rule, const windows *w, int64_t n) {
  const int64_t P = rule->period, L = rule->limit;
  return w->prev * (P - w->e) - (L - w->curr - n) * P;
}

/* The wait of a cost n <= L that is refused now. */
static int64_t counter_retry(const laju_rule *rule, const windows *w, int64_t n) {
  const int64_t P = rule->period, L = rule->limit;
  if (w->curr + n <= L) return laju_ceil_div(counter_over(rule, w, n), w->prev); /* prev's weight will fall enough */
  return P - w->e + laju_ceil_div((w->curr + n - L) * P, w->curr); /* once this window is the previous one */
}

static finding decide_sliding_window_counter(const laju_rule *rule, laju_state *state, laju_moment at, int64_t n) {
  const int64_t P = rule->period;
  windows w = windows_at(rule, state, at);
  finding f = {.allowed = counter_over(rule, &w, n) <= 0};
  if (!f.allowed) f.retry = counter_retry(rule, &w, n);
  if (f.allowed && n > 0) {
    w.curr += n;
    state->window.window = (uint64_t)w.window;
    state->window.curr = (uint32_t)w.curr;
    state->window.prev = (uint32_t)w.prev;
  }
  int64_t free = -counter_over(rule, &w, 0);
  if (free > 0) f.remaining = free / P;
  f.more = f.remaining < rule->capacity ? counter_retry(rule, &w, f.remaining + 1) : 0;
  f.reset = w.curr > 0 ? 2 * P - w.e : w.prev > 0 ? P - w.e : 0;
  return f;
}

/* ---- the decision ---- */

static int64_t held_until(const laju_rule *rule, const laju_state *state) {
  if (laju_algorithm_is_bucket(rule->algorithm)) return (int64_t)state->bucket.last;
  return (int64_t)state->window.window * rule->period;
}

static finding find(const laju_rule *rule, laju_state *state, laju_moment at, int64_t n) {
  switch (rule->algorithm) {
    case LAJU_FIXED_WINDOW: return decide_fixed_window(rule, state, at, n);
    case LAJU_SLIDING_WINDOW_COUNTER: return decide_sliding_window_counter(rule, state, at, n);
    default: return decide_bucket(rule, state, at, n);
  }
}

void laju_decide(const laju_rule *rule, laju_state *state, int64_t now_us, uint32_t cost, laju_decision *out) {
  bool never = cost > rule->capacity; /* refused before any product is made; told as a peek finds it */
  if (rule->limit == 0) {
    *out = (laju_decision){.allowed = !never, .retry_after_us = never ? LAJU_NEVER : 0};
    return;
  }
  laju_moment at = laju_moment_at(rule, now_us, held_until(rule, state));
  finding f = find(rule, state, at, never ? 0 : cost);
  bool allowed = !never && (f.allowed || cost == 0); /* a peek is always allowed, also over a lowered limit */
  int64_t retry_after_us = allowed ? 0 : laju_moment_wait(rule, at, f.retry);
  *out = (laju_decision){
      .allowed = allowed,
      .limit = rule->capacity,
      .remaining = f.remaining > 0 ? (uint32_t)f.remaining : 0,
      .retry_after_us = never ? LAJU_NEVER : retry_after_us,
      .more_after_us = laju_moment_wait(rule, at, f.more),
      .reset_after_us = laju_moment_wait(rule, at, f.reset),
      .delay_us = allowed ? laju_moment_wait(rule, at, f.delay) : 0,
  };
}

uint32_t laju_take(const laju_rule *rule, laju_state *state, int64_t now_us, uint32_t most, laju_decision *out) {
  laju_decision peek;
  laju_decide(rule, state, now_us, 0, &peek);
  uint32_t taken = peek.remaining < most ? peek.remaining : most;
  laju_decide(rule, state, now_us, taken, out);
  return taken;
}

/* ---- taking back ---- */

/* Of what was charged at tick `charged`, at most L a tick has drained by the latest admission. */
static void give_back_bucket(const laju_rule *rule, laju_state *state, int64_t charged, int64_t n) {
  int64_t used = (int64_t)state->bucket.used, last = (int64_t)state->bucket.last;
  if (rule->limit == 0 || last < charged) return;
  int64_t stands = drained(n * rule->period, last - charged, rule->limit);
  state->bucket.used = (uint64_t)(used > stands ? used - stands : 0);
}

static uint32_t less(uint32_t tokens, uint32_t n) {
  return tokens > n ? tokens - n : 0;
}

static void give_back_window(const laju_rule *rule, laju_state *state, int64_t charged, uint32_t n) {
  uint64_t window = (uint64_t)(charged / rule->period);
  if (state->window.window == window) state->window.curr = less(state->window.curr, n);
  if (state->window.window == window + 1) state->window.prev = less(state->window.prev, n);
}

void laju_give_back(const laju_rule *rule, laju_state *state, int64_t charged_us, uint32_t cost) {
  int64_t charged = charged_us / rule->tick_us;
  if (laju_algorithm_is_bucket(rule->algorithm)) {
    give_back_bucket(rule, state, charged, cost);
  } else {
    give_back_window(rule, state, charged, cost);
  }
}
