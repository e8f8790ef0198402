/* Forward-auth: a call of /auth or /auth/PATH into checks. docs/protocols.md, "Forward-auth", is the manual for users.
 *
 *   origin   which request the call is about
 *   match    which rules apply to it, and their keys
 *
 * On plain /auth the query may say `deny=401|403|429|503`, the status of a refusal, and `rule=NAME`, any number of times, which
 * rules to ask instead of those that match. Behind /auth/ the query is the original request's, and says nothing to us.
 */
#ifndef LAJU_PROTO_HTTP_AUTH_H
#define LAJU_PROTO_HTTP_AUTH_H

#include "proto/http_head.h"
#include "proto/match.h"

typedef struct laju_auth {
  uint16_t deny;  /* the status of a refusal */
  bool untrusted; /* it had forwarding fields from one who is not trusted; written in any case */
  laju_matched matched;
} laju_auth;

/* Reads the call whose head is DONE and lies at `bytes`. The checks are written behind the batch's last ones and not counted in
 * (match.h). False where it is refused; `problem` then says why, and points into `bytes` and itself: it must not be copied. */
bool laju_auth_read(laju_auth *out, const laju_terms *terms, const laju_peer *peer, const laju_http_head *head,
                    const char *bytes, laju_batch *batch, laju_problem *problem);

#endif
