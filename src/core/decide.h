/* The law: rule, state, time and cost in, decision and next state out. No clock, no memory, no I/O; any thread.
 *
 * All arithmetic is int64_t. Products stay below 2^53 because a period has at most 2^20 ticks, limits and costs are below
 * 2^32, and a cost above the capacity is refused before any product is made.
 *
 * One-letter names are those of the contract (docs/algorithms.md): P period in ticks, L limit, n cost, e ticks into the
 * window.
 */
#ifndef LAJU_CORE_DECIDE_H
#define LAJU_CORE_DECIDE_H

#include "core/state.h"
#include <laju/laju.h>

/* Decides one check under any algorithm but the sliding log (core/log.h), and charges it: `*state` changes only where a
 * cost above 0 is admitted. `now_us` is 0 to LAJU_TIME_MAX_US; a time earlier than the state's is read as the state's own.
 * For several checks, all or none: decide on copies, keep them if all are allowed. */
void laju_decide(const laju_rule *rule, laju_state *state, int64_t now_us, uint32_t cost, laju_decision *out);

/* Takes at most `most` tokens: what remains, if it is less. Returns the tokens taken, 0 to `most`; `out` is the decision
 * for that cost (a peek where it is 0). Same algorithms, same times. */
uint32_t laju_take(const laju_rule *rule, laju_state *state, int64_t now_us, uint32_t most, laju_decision *out);

/* Takes back what an admission of `cost` by laju_decide(rule, state, charged_us, cost) added and others' admissions since have
 * left standing: never more than certainly still stands, so whoever is decided from then on is decided as if that admission had
 * never been, or later. A bucket gives back what cannot have drained by its latest admission: where it ran empty in between, the
 * charge is gone already. A window gives back what it counts as its own or as the window before. A state that is older than
 * the admission (its key was forgotten since) gives nothing; one that began anew at the same time or later cannot be told
 * apart, and gives back what is not its own. Same algorithms. */
void laju_give_back(const laju_rule *rule, laju_state *state, int64_t charged_us, uint32_t cost);

#endif
