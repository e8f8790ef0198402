/* The RESP door's parts, for each other: the server sees only `laju_resp_codec` (proto/codec.h), users docs/protocols.md.
 *
 *   resp.c          a connection's life: bytes to requests, requests to commands
 *   resp_frame      bytes to arguments: arrays of bulk strings, and inline lines; refuses what is too large
 *   resp_command    which commands there are, how many arguments each takes, and what COMMAND tells of them
 *   resp_check.c    the commands that decide: LAJU.*, CL.THROTTLE
 *   resp_session.c  the commands that a connection needs: PING, HELLO, AUTH, CLIENT, ...
 *   resp_reply      what goes back: notes and errors when parsed, decisions when decided
 *
 * Nothing is allocated: arguments point into the bytes that were fed, replies go to the batch's notes.
 */
#ifndef LAJU_PROTO_RESP_H
#define LAJU_PROTO_RESP_H

#include "proto/batch.h"
#include "proto/resp_frame.h"
#include "proto/service.h"

#define LAJU_RESP_NAME_MAX 64 /* bytes of a connection's name (CLIENT SETNAME) */

/* A connection, zeroed before init. */
typedef struct laju_resp_connection {
  laju_service *service;
  const laju_terms *terms; /* in force for the bytes being parsed; never used beyond them */
  uint64_t id;             /* from 1, never given twice in a process */
  laju_resp_reader reader;
  bool authenticated; /* or no password is asked for */
  bool unfinished;    /* a request has begun and is not all here */
  bool spoken;        /* something was received, ever */
  uint8_t protocol;   /* 2 or 3 */
  uint8_t name_len;
  char name[LAJU_RESP_NAME_MAX];
} laju_resp_connection;

/* One command being run. What is remembered from one to the next holds for one call of parse: the rules stay in force
 * that long, and so do the batch's. */
typedef struct laju_resp_call {
  laju_resp_connection *connection;
  laju_batch *batch; /* has room for `argc` checks and a note */
  size_t argc;       /* the command's name is argv[0] */
  const laju_resp_argument *argv;
  bool close;                /* set by a command after whose reply the connection ends */
  const laju_policy *named;  /* the policy found last */
  const laju_rule *throttle; /* the rule made last by CL.THROTTLE */
  uint32_t throttle_period;  /* and what it does not tell: its seconds */
} laju_resp_call;

#endif
