/* Inside `table` only: how near to fresh a key is, and so who goes when there is no room.
 *
 * What is as good as new goes first; then the largest remaining / limit; among equals the least reset_after. A standing is
 * the decision that a peek gives, judged by the slot's shape.
 */
#ifndef LAJU_TABLE_STANDING_H
#define LAJU_TABLE_STANDING_H

#include "table/store.h"

/* The standing of the key in a slot in use, under the bucket's lock. */
laju_decision laju_standing_of(const laju_table *table, const laju_bucket *bucket, unsigned slot, int64_t now_us);

/* The same for a state or a log by itself. */
laju_decision laju_standing_of_state(laju_shape shape, laju_state state, int64_t now_us);
laju_decision laju_standing_of_log(laju_shape shape, const laju_log *log, int64_t now_us);

static inline bool laju_standing_is_fresh(const laju_decision *standing) {
  return standing->reset_after_us == 0;
}

/* What was judged by numbers that may be another's is not taken for fresh, whatever it looks like. */
static inline void laju_standing_doubt(laju_decision *standing) {
  if (laju_standing_is_fresh(standing)) standing->reset_after_us = LAJU_WAIT_MAX_US;
}

/* Does `a` go rather than `b`? Strictly. */
bool laju_standing_goes_before(const laju_decision *a, const laju_decision *b);

/* Are a state's numbers (a log's latest stamp) ones that the law can have written under this shape? Where a shape was
 * recycled they may not be. */
bool laju_standing_state_valid(laju_shape shape, laju_state state);
bool laju_standing_log_valid(laju_shape shape, const laju_log *log);

#endif
