/* What a door must know of the service behind it. Filled by the server before any worker starts. */
#ifndef LAJU_PROTO_SERVICE_H
#define LAJU_PROTO_SERVICE_H

#include <stdatomic.h>

#include "limiter/limiter.h"
#include "limiter/ruleset.h"

typedef enum laju_stage { LAJU_STARTING, LAJU_SERVING, LAJU_DRAINING } laju_stage;

typedef struct laju_service {
  laju_limiter *limiter;
  const laju_ruleset *rules;
  _Atomic(laju_stage) stage; /* relaxed: only /readyz and keep-alive look at it */
  bool inline_limits;        /* may a check bring its own limit? */
  bool resp_admin;           /* LAJU.RESET without a password */
  const char *resp_password; /* NULL: none is asked for */
} laju_service;

#endif
