/* The bodies that requests to the admin door have. Read in place; false, and `problem`, where one is not good. Pure; any thread. */
#ifndef LAJU_PROTO_ADMIN_BODY_H
#define LAJU_PROTO_ADMIN_BODY_H

#include "proto/http_problem.h"
#include "proto/service.h"

typedef struct laju_new_override {
  uint32_t limit, burst; /* burst: of a rule without one the limit, as laju_overlay_entry has it */
  int64_t expires_in_us; /* LAJU_OVERRIDE_MIN_US to LAJU_OVERRIDE_MAX_US */
} laju_new_override;

/* {"limit":N,"burst":N,"expires_in":"1h"} for keys of this rule. */
bool laju_admin_read_override(laju_new_override *out, const laju_rule *rule, char *body, size_t len,
                              laju_problem *problem);

/* {"token":"..."}; what `out` points to is the body's. */
bool laju_admin_read_token(laju_slice *out, char *body, size_t len, laju_problem *problem);

#endif
