/* Responses: decisions and notes into bytes. */
#ifndef LAJU_PROTO_HTTP_REPLY_H
#define LAJU_PROTO_HTTP_REPLY_H

#include "base/buffer.h"
#include "proto/batch.h"
#include "proto/http_problem.h"
#include "proto/service.h"

/* An ask's `form`. A note's is its status, and its bytes are the body; LAJU_HTTP_CONTINUE has none. From 400 on an ALL is of
 * forward-auth, and its form is the status of a refusal, whose body is the tightest decision; an admission has none. */
enum {
  LAJU_HTTP_ONE = 1,    /* ALL: one decision */
  LAJU_HTTP_CHECKS = 2, /* ALL: the tightest decision, and all in "decisions" */
  LAJU_HTTP_BATCH = 3,  /* EACH: a list */
  LAJU_HTTP_CONTINUE = 100,
};

/* An ask's `flags`. */
enum {
  LAJU_HTTP_NO_BODY = 1,    /* the answer to HEAD */
  LAJU_HTTP_KEEP = 2,       /* tell a client of HTTP/1.0 that the connection stays */
  LAJU_HTTP_PROBLEM = 4,    /* the note is a problem document */
  LAJU_HTTP_ALLOW_POST = 8, /* 405: what the route takes */
  LAJU_HTTP_ALLOW_GET = 16,
};

/* The Date field, told from the decision's own time, and formatted once a second. Zeros are a valid start. */
typedef struct laju_http_date {
  int64_t second;
  char text[29]; /* "Tue, 14 Nov 2023 22:13:20 GMT" */
  bool known;
} laju_http_date;

/* The field's value at this time; not terminated. */
const char *laju_http_date_at(laju_http_date *date, int64_t now_us);

/* Appends the response to one decided ask. `terms` say which header fields are shown. */
void laju_http_reply(laju_http_date *date, const laju_terms *terms, const laju_batch *batch, const laju_ask *ask,
                     laju_buffer *out);

/* Appends the connection's last response, to a request that never became an ask. */
void laju_http_reply_problem(laju_http_date *date, int64_t now_us, const laju_problem *problem, laju_buffer *out);

#endif
