/* What a request asks of the admin door: its route, and what its query says. Pure; any thread. */
#ifndef LAJU_PROTO_ADMIN_REQUEST_H
#define LAJU_PROTO_ADMIN_REQUEST_H

#include "proto/batch.h"
#include "proto/http_head.h"
#include "proto/http_problem.h"
#include "proto/service.h"

typedef enum laju_admin_route_name {
  LAJU_ADMIN_METRICS,
  LAJU_ADMIN_HEALTH,
  LAJU_ADMIN_STATUS,
  LAJU_ADMIN_EVENTS,
  LAJU_ADMIN_RULES,
  LAJU_ADMIN_KEYS,
  LAJU_ADMIN_OVERRIDES,
  LAJU_ADMIN_TOP_KEYS,
  LAJU_ADMIN_SESSION,
  LAJU_ADMIN_PAGE, /* whatever else there is */
} laju_admin_route_name;

typedef struct laju_admin_route {
  laju_admin_route_name name;
  const char *path;
  const char *allow; /* the methods that it takes, as `Allow` has them; GET brings HEAD */
  bool is_open;      /* needs no token */
} laju_admin_route;

/* The route of a path; the last of them where it is none of the others'. */
const laju_admin_route *laju_admin_find_route(laju_slice path);

/* Does the route take the method (llhttp's)? */
bool laju_admin_takes(const laju_admin_route *route, uint8_t method);

typedef struct laju_admin_query {
  const laju_policy *policy; /* rule=; NULL: not there */
  laju_slice key, group;     /* decoded; `at` NULL: not there */
  uint32_t limit;            /* 0: not there */
} laju_admin_query;

/* Reads what this route takes with this method, and refuses all else: false, and `problem`. Texts are written to the batch's keys,
 * behind those in use, and counted in. */
bool laju_admin_read_query(laju_admin_query *out, const laju_admin_route *route, uint8_t method, laju_slice query,
                           const laju_terms *terms, laju_batch *batch, laju_problem *problem);

#endif
