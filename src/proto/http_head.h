/* A request's head, and a chunked body, by llhttp, in its strict mode and without lenient flags; and the rules of RFC 9112 that
 * llhttp leaves to its user: Host, folded fields, codings, expectations, and the limits of http.h.
 *
 * A laju_http_head is used for one request after another. Every offset counts from the request's first byte. A request of the
 * route AUTH is complete with its head: a body that it announces, of whatever length, is not for us, and ends the connection.
 */
#ifndef LAJU_PROTO_HTTP_HEAD_H
#define LAJU_PROTO_HTTP_HEAD_H

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/fields.h"
#include "proto/http.h"
#include "proto/http_problem.h"

_Static_assert(LAJU_HTTP_HEAD_MAX <= UINT16_MAX, "a field's offsets fit");

#define LAJU_HTTP_MEMO_MAX 512 /* bytes of a head that is remembered */

typedef enum laju_http_route {
  LAJU_ROUTE_NONE,
  LAJU_ROUTE_CHECK,
  LAJU_ROUTE_BATCH,
  LAJU_ROUTE_HEALTH,
  LAJU_ROUTE_READY,
  LAJU_ROUTE_AUTH, /* "/auth", and "/auth/" with any path behind it */
} laju_http_route;

/* What a head says, as far as laju cares. */
typedef struct laju_http_request {
  uint32_t head_len;        /* with the empty line */
  uint32_t url_at, url_len; /* the target, as it was written */
  uint32_t content_length;  /* 0 where chunked */
  uint8_t method;           /* llhttp's */
  uint8_t route;
  uint8_t fields; /* header fields: that many of the head's `list` */
  bool query;     /* the target has a query */
  bool chunked;
  bool expects; /* "100 Continue", before it sends the body */
  bool keep_alive;
  bool old; /* HTTP/1.0 */
} laju_http_request;

typedef enum laju_http_step {
  LAJU_HTTP_WAIT,    /* all bytes are seen, and more must come */
  LAJU_HTTP_DONE,    /* complete */
  LAJU_HTTP_REFUSED, /* `status` and `why`; the rest of the connection cannot be read */
} laju_http_step;

typedef struct laju_http_head {
  llhttp_t parser;
  laju_http_request request; /* valid once its head is DONE */
  uint32_t seen;             /* bytes of the request that were fed */
  uint32_t body_len;         /* of a chunked body, so far; it lies in one piece behind the head */
  int status;                /* where REFUSED */
  const char *why;           /* a static text */
  /* while reading */
  char *bytes;
  uint32_t name_at, name_len, value_at, value_end;
  uint16_t fields, hosts;
  bool targeted; /* the target is complete */
  bool in_trailers;
  /* A connection's requests mostly have the same head, byte for byte, and then what it says is known. Bytes that are alike
   * mean the same, so this is no second parser. */
  laju_http_request memo;
  char memo_bytes[LAJU_HTTP_MEMO_MAX];    /* memo.head_len of them; 0: nothing is remembered */
  laju_field list[LAJU_HTTP_HEADERS_MAX]; /* of the head that was read last: where one is remembered, it is that one */
} laju_http_head;

void laju_http_head_init(laju_http_head *head);

/* Is the route AUTH? For a head that is REFUSED: false where its target is not complete. */
bool laju_http_head_asks_auth(const laju_http_head *head);

/* The header fields of a head that is DONE, at `bytes`. */
static inline laju_fields laju_http_head_fields(const laju_http_head *head, const char *bytes) {
  return (laju_fields){.bytes = bytes, .list = head->list, .count = head->request.fields};
}

/* Ready for the next request. */
void laju_http_head_next(laju_http_head *head);

/* Reads on in a head. `bytes` begins at the request's first byte; those up to `seen` are not looked at again. */
laju_http_step laju_http_head_read(laju_http_head *head, char *bytes, size_t len);

/* Reads on in a chunked body, behind a head that is DONE; it is moved together in place. */
laju_http_step laju_http_chunks_read(laju_http_head *head, char *bytes, size_t len);

#endif
