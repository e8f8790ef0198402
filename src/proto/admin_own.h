/* What the files of the admin door's codec share. Nobody else includes it: admin.h is for others.
 *
 *   admin.c          bytes into requests, answers into bytes
 *   admin_answer.c   what is answered to a request that is complete
 */
#ifndef LAJU_PROTO_ADMIN_OWN_H
#define LAJU_PROTO_ADMIN_OWN_H

#include "proto/admin_gate.h"
#include "proto/admin_reply.h"
#include "proto/admin_request.h"

typedef enum laju_admin_stage { IN_HEAD, IN_BODY, CHANGING, SUBSCRIBED, CLOSED } laju_admin_stage;

/* What the answer's body is. */
typedef enum laju_admin_content {
  TEXT, /* the ask's note */
  VIEW_METRICS,
  VIEW_STATUS,
  VIEW_RULES,
  VIEW_TOP,
  VIEW_OVERRIDES,
  VIEW_KEY,
  VIEW_RESET,
  VIEW_FILE,
  CHANGED, /* an override */
  EVENTS,
} laju_admin_content;

typedef struct laju_admin_connection {
  laju_service *service;
  laju_admin *admin;
  const laju_terms *terms; /* in force for the request that is answered */
  laju_peer peer;
  laju_http_head head;
  laju_http_date date;
  laju_admin_stage stage;
  bool continued; /* "100 Continue" was sent, or is not needed */
  /* the answer to the request that was read last */
  laju_admin_reply reply;
  laju_admin_content content;
  uint32_t top; /* VIEW_TOP: so many */
  laju_admin_file file;
  char session[LAJU_SESSION_LEN]; /* SUBSCRIBED: what let it in, if `by_session` */
  laju_admin_change *change;      /* CHANGING: what is waited for */
  uint64_t seen;                  /* SUBSCRIBED: the number of the last event that was sent, */
  uint64_t token[2];              /* and the token's mark then (admin_sessions.h) */
  bool by_session;
} laju_admin_connection;

/* What a browser and a scraper take the bodies for. */
#define LAJU_ADMIN_JSON "application/json"
#define LAJU_ADMIN_PROBLEM "application/problem+json"

laju_problem laju_admin_problem(int status, const char *detail);

/* Begins the answer to the request that was read last. */
void laju_admin_begin_reply(laju_admin_connection *c, int status, const char *type, laju_admin_content content);

/* Answers with a problem, as a note in the batch. */
void laju_admin_answer_problem(laju_admin_connection *c, laju_batch *batch, const laju_problem *problem, bool guessed);

/* Answers a request that is complete, at `bytes`: an ask in the batch, or the stage CHANGING. */
void laju_admin_answer(laju_admin_connection *c, char *bytes, laju_batch *batch);

#endif
