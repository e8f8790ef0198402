/* The admin door: HTTP/1.1 for operators, Prometheus and the page. docs/openapi.yaml is its contract, docs/protocols.md its manual.
 *
 *   admin_gate       who may ask: Host, Origin, token, session
 *   admin_sessions   sessions
 *   admin_request    a request's route and parameters
 *   admin_body       the bodies that some have
 *   admin_view       rules, keys, who is refused: as JSON
 *   admin_reply      a reply into bytes
 *   admin            the codec: takes the bytes through all of these
 *
 * A batch holds one request, and what answers it is written straight to the output, since it may be large. What the door shows and
 * cannot know is asked of the server by a laju_admin.
 */
#ifndef LAJU_PROTO_ADMIN_H
#define LAJU_PROTO_ADMIN_H

#include "base/buffer.h"
#include "limiter/ledger.h"
#include "limiter/overlay.h"
#include "limiter/top.h"
#include "proto/admin_sessions.h"

#define LAJU_ADMIN_BODY_MAX 4096
#define LAJU_ADMIN_CHUNKED_MAX 32768 /* the same with its framing */
#define LAJU_ADMIN_SUBSCRIBERS_MAX 16
#define LAJU_ADMIN_TOP_MAX 100
#define LAJU_ADMIN_TOP 20       /* where a request does not say how many */
#define LAJU_ADMIN_GUESS_MS 250 /* after so long a wrong token is answered */
#define LAJU_OVERRIDE_MIN_US INT64_C(1000000)
#define LAJU_OVERRIDE_MAX_US (INT64_C(30) * 86400 * 1000000)

/* One of the page's files. */
typedef struct laju_admin_file {
  const char *type, *etag; /* header fields' values */
  const void *bytes;
  size_t len;
} laju_admin_file;

typedef enum laju_change_result {
  LAJU_CHANGE_DONE,
  LAJU_CHANGE_UNKNOWN,    /* there was none to take away */
  LAJU_CHANGE_FULL,       /* there are LAJU_OVERLAY_MAX */
  LAJU_CHANGE_UNANSWERED, /* the shared store did not answer: whether it is kept is not known */
} laju_change_result;

/* An override to be set or taken away. Made by the codec (malloc), the server's until it is `done`. Who waits for it looks then, and
 * frees it; where nobody waits any more, who finishes it does. */
typedef struct laju_admin_change {
  laju_overlay_entry entry; /* of a removal: number and key */
  char rule[LAJU_NAME_MAX + 1];
  bool removes, done, abandoned;
  laju_change_result result;
  void *data; /* the server's */
} laju_admin_change;

/* One for the door. The server fills in the first part before the door opens; all of it then belongs to the door's thread. */
typedef struct laju_admin {
  void *owner;
  void (*write_metrics)(void *owner, laju_buffer *out);
  void (*write_status)(void *owner, laju_buffer *out); /* JSON */
  bool (*find_file)(const char *path, size_t len, laju_admin_file *out);
  void (*change)(void *owner, laju_admin_change *change); /* it is done when this returns, or connections are pushed */
  laju_ledger *const *ledgers;                            /* of all workers, */
  laju_top *const *tops;
  size_t account_count; /* of which there are so many */
  const laju_rule_names *names;
  laju_overlay *overlay;
  uint64_t hash_key[2]; /* of the tops */
  bool secure;          /* the door speaks TLS: its cookies are for TLS alone */
  bool exposed;         /* others than this machine reach the door: without a token nothing is told */
  /* the last status, for subscribers */
  laju_buffer event;
  uint64_t event_number; /* rises with each */
  size_t subscribers;
  laju_sessions sessions;
  _Atomic uint64_t guesses; /* wrong tokens so far; any thread may read it */
} laju_admin;

#endif
