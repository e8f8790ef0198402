#include "table/standing.h"

#include "core/decide.h"
#include "core/rule.h"

#define USED_MAX (UINT64_C(1) << 52) /* what the law keeps a bucket below */

bool laju_standing_state_valid(laju_shape shape, laju_state state) {
  laju_rule rule = laju_shape_rule(shape);
  uint64_t latest = (uint64_t)(LAJU_TIME_MAX_US / rule.tick_us); /* in ticks */
  if (laju_algorithm_is_bucket(rule.algorithm)) return state.bucket.used < USED_MAX && state.bucket.last <= latest;
  if (rule.algorithm == LAJU_FIXED_WINDOW && state.window.prev != 0) return false;
  return state.window.window <= latest / (uint64_t)rule.period;
}

bool laju_standing_log_valid(laju_shape shape, const laju_log *log) {
  if (log->count == 0) return true;
  uint64_t latest = (uint64_t)(LAJU_TIME_MAX_US / laju_shape_rule(shape).tick_us);
  return log->stamps[(log->head + log->count - 1) & (log->capacity - 1)] <= latest;
}

/* What makes no sense under its shape must not reach arithmetic that was never meant for it. */
static laju_decision fresh(const laju_rule *rule) {
  return (laju_decision){.limit = rule->capacity, .remaining = rule->capacity};
}

laju_decision laju_standing_of_state(laju_shape shape, laju_state state, int64_t now_us) {
  laju_rule rule = laju_shape_rule(shape);
  laju_decision standing = fresh(&rule);
  if (laju_standing_state_valid(shape, state)) laju_decide(&rule, &state, now_us, 0, &standing);
  return standing;
}

laju_decision laju_standing_of_log(laju_shape shape, const laju_log *log, int64_t now_us) {
  laju_rule rule = laju_shape_rule(shape);
  laju_decision standing = fresh(&rule);
  if (laju_standing_log_valid(shape, log)) laju_log_decide(&rule, log, now_us, 0, &standing);
  return standing;
}

laju_decision laju_standing_of(const laju_table *table, const laju_bucket *bucket, unsigned slot, int64_t now_us) {
  unsigned id = laju_bucket_shape(bucket, slot);
  laju_shape shape = laju_shape_read(&table->shapes, id);
  laju_decision standing;
  if (laju_shape_is_log(id)) {
    laju_log log = laju_slab_view(&table->slab, bucket->states[slot]);
    standing = laju_standing_of_log(shape, &log, now_us);
  } else {
    standing = laju_standing_of_state(shape, bucket->states[slot], now_us);
  }
  if (laju_shape_is_recycled(&table->shapes, id)) laju_standing_doubt(&standing);
  return standing;
}

bool laju_standing_goes_before(const laju_decision *a, const laju_decision *b) {
  bool a_fresh = laju_standing_is_fresh(a), b_fresh = laju_standing_is_fresh(b);
  if (a_fresh != b_fresh) return a_fresh;
  uint64_t a_share = (uint64_t)a->remaining * b->limit, b_share = (uint64_t)b->remaining * a->limit;
  if (a_share != b_share) return a_share > b_share;
  return a->reset_after_us < b->reset_after_us;
}
