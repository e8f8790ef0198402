/* Who may ask the admin door. It is on every machine that runs laju, and so within reach of every page that a browser there shows.
 *
 *   Host     an address, "localhost", or one of admin.hosts; so a stranger's name that is made to point here (DNS rebinding) reads
 *            nothing. Not where the peer came by a unix socket, which no browser does
 *   Origin   where there is one it is ours, for all that changes something; and what browsers say of where a request comes from
 *            (Sec-Fetch-Site) does not speak against it
 *   token    where one is set: as a Bearer token, or by the session that was bought with it. A session alone changes nothing unless the
 *            browser has said that the request is our page's own
 *
 * Without a token, a door that others than this machine can reach tells nothing.
 */
#ifndef LAJU_PROTO_ADMIN_GATE_H
#define LAJU_PROTO_ADMIN_GATE_H

#include "proto/admin.h"
#include "proto/http_head.h"
#include "proto/http_problem.h"
#include "proto/service.h"

#define LAJU_ADMIN_COOKIE "laju_session"

typedef struct laju_admin_knock {
  laju_admin *admin;
  const laju_terms *terms;
  const laju_peer *peer;
  const laju_http_request *request;
  laju_fields fields;
  bool is_open; /* what it asks for needs no token, */
  bool is_free; /* and may be asked of any host */
  int64_t now_us;
} laju_admin_knock;

/* Is it let in? Else `problem` says why not: 401, 403 or 421. */
bool laju_admin_admits(const laju_admin_knock *knock, laju_problem *problem);

/* Is this the token? False where none is set. Counts what is not. */
bool laju_admin_is_token(laju_admin *admin, const laju_terms *terms, laju_slice guess);

/* The Bearer token of a request; `at` NULL: none. */
laju_slice laju_admin_bearer(const laju_fields *fields);

#endif
