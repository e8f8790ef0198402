/* A reply of the admin door into bytes: a head with what keeps browsers from misusing it, and a body that is written behind it. */
#ifndef LAJU_PROTO_ADMIN_REPLY_H
#define LAJU_PROTO_ADMIN_REPLY_H

#include "proto/admin.h"
#include "proto/http_reply.h"

/* What the page may do, and who may show it: nothing but itself, and nobody (server/page.h). */
#define LAJU_ADMIN_POLICY                                                                                          \
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src " \
  "'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

typedef struct laju_admin_reply {
  int status;
  const char *type;    /* of the body; NULL: it has none */
  const char *etag;    /* NULL: it is new each time, and kept nowhere */
  const char *allow;   /* 405: the methods */
  const char *session; /* LAJU_SESSION_LEN characters, or "" for one that is over; NULL: no cookie is set */
  bool secure;         /* the cookie is for TLS alone */
  bool no_body;        /* the answer to HEAD */
  bool is_stream;      /* its body goes on until the connection ends */
  bool keep, close;    /* what Connection says */
} laju_admin_reply;

/* Puts the head in front of the body, which stands in `out` from `body_at` on. */
void laju_admin_reply_head(laju_buffer *out, size_t body_at, const laju_admin_reply *reply, laju_http_date *date,
                           int64_t now_us);

#endif
