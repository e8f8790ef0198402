/* Which request a call of /auth is about: what the client of the proxy that asks has sent.
 *
 * A trusted peer (trusted_proxies) tells it in header fields:
 *
 *   method   X-Original-Method, X-Forwarded-Method; else the call's own
 *   target   X-Original-URI, X-Forwarded-Uri, X-Original-URL (a whole URL), what stands behind /auth; else "/"
 *   host     X-Forwarded-Host (the right-most), the host of X-Original-URL; else Host
 *   client   X-Forwarded-For, else Forwarded (hops.h), else X-Real-IP; else the peer
 *
 * A proxy sets one of those for each, and may pass on another that its client has made up. So where several tell a method, a
 * target or a host, and not the same, nobody can say which to believe, and the call is refused.
 * From anyone else none of these is believed. Pure; any thread.
 */
#ifndef LAJU_PROTO_ORIGIN_H
#define LAJU_PROTO_ORIGIN_H

#include "base/slice.h"
#include "proto/fields.h"
#include "proto/http.h"
#include "proto/service.h"

#define LAJU_AUTH_PATH "/auth"
#define LAJU_ORIGIN_SCRATCH (LAJU_HTTP_HEAD_MAX + 1) /* a path and a host out of one head */

typedef struct laju_origin {
  laju_slice method; /* as it was sent */
  laju_slice path;   /* normalised (target.h) */
  laju_slice host;   /* normalised; empty where there is none */
  laju_slice query;  /* as it was written, without `?`; NULL where there is none */
  bool own_query;    /* the query is that of /auth itself, with laju's own parameters among the others */
  bool addressed;    /* the client's address is known; not behind a unix socket without forwarding fields */
  laju_ip client;
  bool untrusted; /* the peer has sent forwarding fields and is not trusted */
} laju_origin;

typedef enum laju_origin_error {
  LAJU_ORIGIN_TARGETS = -1, /* two different targets are told */
  LAJU_ORIGIN_METHODS = -2,
  LAJU_ORIGIN_HOSTS = -3,
} laju_origin_error;

/* Reads the origin of a call with this method and target (its path is /auth or begins with /auth/). What `out` points to lies
 * in `scratch`, the fields and the target. 0, or a laju_origin_error; `untrusted` is written in any case. */
int laju_origin_read(laju_origin *out, const laju_terms *terms, const laju_peer *peer, const laju_fields *fields,
                     laju_slice method, laju_slice target, char scratch[LAJU_ORIGIN_SCRATCH]);

#endif
