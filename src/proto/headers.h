/* The header fields that tell a client its limits, alike at every door that speaks HTTP. `headers:` of the configuration says
 * which of them are shown, and how X-RateLimit-Reset counts.
 *
 *     X-RateLimit-Limit: 10                    \
 *     X-RateLimit-Remaining: 9                  |  of the tightest decision
 *     X-RateLimit-Reset: 1700000012            /   seconds since the epoch, from the start of the tick, up; or from now, up
 *     X-RateLimit-Source: fallback             where the shared store was asked in vain for one that is enforced
 *     RateLimit-Policy: "login";q=10;w=120     \   draft-ietf-httpapi-ratelimit-headers, since -10:
 *     RateLimit: "login";r=9;t=12              /   each rule once, by its tightest decision
 *     Retry-After: 12                          where refused and waiting can help: the longest wait, rounded up, at least 1
 *
 * q is the capacity; w the seconds in which it comes back whole, left out where that is not a whole number above 0; t the
 * seconds until `remaining` is larger, rounded up, left out where it is the capacity already. Rules in shadow, and those of which the
 * store was not even asked because another had refused, are not told of; where there is no other, nothing is. Pure; any thread.
 */
#ifndef LAJU_PROTO_HEADERS_H
#define LAJU_PROTO_HEADERS_H

#include "proto/service.h"
#include <laju/laju.h>

#define LAJU_HEADERS_MAX 4096 /* the most that is written */

/* The index of the decision that speaks for a request of 1 to LAJU_CHECKS_MAX checks: the tightest among those that are
 * enforced and were decided; where all are in shadow, the tightest of them. */
size_t laju_headers_tightest(const laju_check *checks, const laju_decision *decisions, size_t count);

/* Writes the lines, each ended by CRLF, for one request's checks, decided at `now_us`; `tightest` is the index from above. Of
 * `terms` only what is shown matters. Returns the bytes written. */
size_t laju_headers_write(char to[LAJU_HEADERS_MAX], const laju_terms *terms, const laju_check *checks,
                          const laju_decision *decisions, size_t count, size_t tightest, int64_t now_us);

#endif
