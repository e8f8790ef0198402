/* A request's JSON into checks.
 *
 *     POST /v1/check   {"rule":"login","key":"user:42","cost":1}
 *                      {"limit":10,"per":"1m","algorithm":"token-bucket","burst":20,"key":"user:42"}
 *                      {"checks":[{...},{...}]}                        1 to LAJU_CHECKS_MAX, all charged or none
 *     POST /v1/batch   [{...},{...}]                                   1 to LAJU_EACH_MAX, independent
 *
 * One pass over the bytes; strings are unescaped in place and the checks' keys point at them. Whatever is unknown, missing,
 * twice there, of another type or out of range refuses the whole.
 */
#ifndef LAJU_PROTO_HTTP_BODY_H
#define LAJU_PROTO_HTTP_BODY_H

#include "proto/batch.h"
#include "proto/http_problem.h"
#include "proto/service.h"

#define LAJU_INLINE_RULE "inline" /* the name of a rule that comes with its check */

/* Both write the checks behind the batch's last one, where there must be room for as many as a request may bring, without
 * counting them in, and return how many; 0 where the body is refused, and `problem`, which points into `body`, says why. */
size_t laju_http_read_check(const laju_terms *terms, laju_batch *batch, char *body, size_t len, bool *is_list,
                            laju_problem *problem);
size_t laju_http_read_batch(const laju_terms *terms, laju_batch *batch, char *body, size_t len, laju_problem *problem);

#endif
