/* Which policies match a request, without looking at each of ten thousand: an index over what they ask for.
 *
 * Most policies name a host or the beginning of a path. Each is entered under one of the two, by the end of its host patterns
 * (what follows the last `*`) or the beginning of its path patterns (what precedes the first), whichever fewer others share; a
 * request then meets only those that are entered under an end of its host or a beginning of its path, and those few that can be
 * entered under neither. Immutable once made; any thread.
 */
#ifndef LAJU_LIMITER_SELECTION_H
#define LAJU_LIMITER_SELECTION_H

#include "base/slice.h"
#include "config/policy.h"

typedef struct laju_selection laju_selection;

/* A request as policies see it: host and path normalised as their patterns are (proto/target.h). */
typedef struct laju_request_line {
  laju_slice method, host, path;
} laju_request_line;

/* Does the policy apply to such a request? */
bool laju_match_takes(const laju_match *match, const laju_request_line *request);

/* An index of policies, which must outlive it. LAJU_ERR_MEMORY. */
int laju_selection_new(laju_selection **out, const laju_policy *policies, size_t count);
void laju_selection_free(laju_selection *selection);

/* Calls `take` with each policy that applies to the request, in no order, perhaps more than once, until it returns false. */
void laju_selection_each(const laju_selection *selection, const laju_request_line *request,
                         bool (*take)(void *context, const laju_policy *policy), void *context);

#endif
