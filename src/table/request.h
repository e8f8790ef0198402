/* Inside `table` only: one request of several checks, under the locks of all their buckets. The general way, and the only
 * one by which keys come into the table; table.c has a shorter one for a single check of a key that is there.
 *
 * A request whose own keys do not all fit (ten of them in the same two buckets, or logs that are larger together than the
 * slab) is decided all the same; of those that do not fit, each is forgotten at once and counted as evicted.
 */
#ifndef LAJU_TABLE_REQUEST_H
#define LAJU_TABLE_REQUEST_H

#include "table/room.h"
#include "table/store.h"

/* Decides 1 to LAJU_CHECKS_MAX checks, all charged or none; true where all are allowed. */
bool laju_request_decide(laju_table *table, const laju_check *checks, const laju_place *places, size_t count,
                         int64_t now_us, laju_decision *decisions);

/* The same decisions, and nothing is charged. */
bool laju_request_judge(laju_table *table, const laju_check *checks, const laju_place *places, size_t count,
                        int64_t now_us, laju_decision *decisions);

/* Takes at most `check->cost`; returns the tokens taken. */
uint32_t laju_request_take(laju_table *table, const laju_check *check, const laju_place *place, int64_t now_us,
                           laju_decision *decision);

/* The slot for a newcomer in the less loaded of two buckets, both locked: a free one, or that of whoever has to go (and has
 * gone). False where `held` keeps all of them; or where `newcomer`, its standing if it is given, would have to go itself, which is counted as its
 * eviction. */
bool laju_request_find_slot(laju_table *table, const laju_held *held, const uint64_t buckets[2], int64_t now_us,
                            const laju_decision *newcomer, laju_slot *out);

#endif
