/* The RESP door's commands. Each is called with `argc` within the command's bounds, from a client that may ask, and adds
 * one ask to the batch: a question to the limiter, or a note. */
#ifndef LAJU_PROTO_RESP_RUN_H
#define LAJU_PROTO_RESP_RUN_H

#include "proto/resp.h"

/* The commands that decide (resp_check.c). */
void laju_resp_run_check(laju_resp_call *call);
void laju_resp_run_peek(laju_resp_call *call);
void laju_resp_run_all(laju_resp_call *call);
void laju_resp_run_mcheck(laju_resp_call *call);
void laju_resp_run_throttle(laju_resp_call *call);
void laju_resp_run_reset(laju_resp_call *call);

/* The commands that a connection needs (resp_session.c). */
void laju_resp_run_ping(laju_resp_call *call);
void laju_resp_run_echo(laju_resp_call *call);
void laju_resp_run_auth(laju_resp_call *call);
void laju_resp_run_hello(laju_resp_call *call);
void laju_resp_run_select(laju_resp_call *call);
void laju_resp_run_client(laju_resp_call *call);
void laju_resp_run_command(laju_resp_call *call);
void laju_resp_run_info(laju_resp_call *call);
void laju_resp_run_quit(laju_resp_call *call);
void laju_resp_run_reset_connection(laju_resp_call *call);

/* Makes a connection's session as it is when opened: RESP2, no name, not yet authenticated where a password is set. */
void laju_resp_session_begin(laju_resp_connection *connection);

#endif
