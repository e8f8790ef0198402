/* Inside `core` only: a check's time against the time that a state holds, and waits told from it. */
#ifndef LAJU_CORE_MOMENT_H
#define LAJU_CORE_MOMENT_H

#include "core/rule.h"
#include <laju/laju.h>

/* `b` is above 0: a rule's limit, or a window's count where the law has just found it to weigh something. */
static inline int64_t laju_ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0); /* NOLINT(clang-analyzer-core.DivideZero): it cannot see through the products */
}

typedef struct laju_moment {
  int64_t now; /* ticks, never earlier than what the state holds */
  int64_t gap; /* ticks that the clock is behind it: waits count from the clock, so they grow by this */
  bool fresh;  /* the held time is so far ahead that a clock was wrong: the key starts anew */
} laju_moment;

/* `held`: the earliest tick that the state lets a clock show. Further ahead than the period and than 10 s is a mistake. */
static inline laju_moment laju_moment_at(const laju_rule *rule, int64_t now_us, int64_t held) {
  int64_t now = now_us / rule->tick_us;
  int64_t gap = held - now;
  if (gap <= 0) return (laju_moment){.now = now};
  int64_t ten_seconds = laju_ceil_div(10000000, rule->tick_us);
  if (gap > (rule->period > ten_seconds ? rule->period : ten_seconds)) return (laju_moment){.now = now, .fresh = true};
  return (laju_moment){.now = held, .gap = gap};
}

/* A wait of `ticks` in microseconds, counted from the clock; 0 stays 0. Compares before it multiplies; nearly always a
 * comparison with a constant will do, and spares a division. */
static inline int64_t laju_moment_wait(const laju_rule *rule, laju_moment moment, int64_t ticks) {
  if (ticks == 0) return 0;
  int64_t total = ticks + moment.gap;
  if (total <= LAJU_WAIT_MAX_US / LAJU_TICK_MAX_US) return total * rule->tick_us;
  return total > LAJU_WAIT_MAX_US / rule->tick_us ? LAJU_WAIT_MAX_US : total * rule->tick_us;
}

#endif
