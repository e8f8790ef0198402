/* What exact checks are answered where the shared store does not: each rule's on_store_error.
 *
 *   - `allow`: allowed, as if nothing else had been used
 *   - `deny`: refused; the store may be back in LAJU_FALLBACK_RETRY_US
 *   - `local`: decided by the table, under the rule with this node's share of its limit and burst, at least 1 of each (0 where
 *     they are 0). Where the cost is above the share but not above the capacity, the store may be back as for `deny`
 *
 * A cost above the rule's own capacity is refused under all three, and a peek is allowed under all three. The local share is kept
 * in the table under the rule's own id: an exact rule's keys are nowhere else in it, and where a reload made the rule
 * embedded, what is left of an outage counts towards it.
 */
#ifndef LAJU_LIMITER_FALLBACK_H
#define LAJU_LIMITER_FALLBACK_H

#include "limiter/way.h"

#define LAJU_FALLBACK_RETRY_US INT64_C(1000000)

/* Decides the exact checks of one request, 1 to LAJU_CHECKS_MAX: any refusal refuses, and then nothing is charged. True where all
 * are allowed. The decisions are LAJU_FALLBACK, and are counted. */
bool laju_fallback_decide(laju_way *way, const laju_check *checks, size_t count, int64_t now_us,
                          laju_decision *decisions);

#endif
