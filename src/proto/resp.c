#include "proto/resp.h"

#include <stdatomic.h>
#include <string.h>

#include "proto/codec.h"
#include "proto/resp_command.h"
#include "proto/resp_reply.h"
#include "proto/resp_run.h"

_Static_assert(LAJU_RESP_ARGUMENTS_MAX <= LAJU_BATCH_CHECKS, "an empty batch has room for any request");
_Static_assert(LAJU_RESP_LINE_MAX <= LAJU_RESP_REQUEST_MAX, "input_max is the larger");

static void init(void *state, laju_service *service, const laju_peer *peer) {
  (void)peer;
  static atomic_uint_fast64_t last_id; /* relaxed: the numbers must differ, nothing else hangs on them */
  laju_resp_connection *connection = state;
  connection->service = service;
  connection->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
  laju_resp_session_begin(connection);
}

/* ---- requests that are refused before a command sees them ---- */

static void refuse_argc(laju_resp_call *call, const laju_resp_command *command) {
  laju_resp_note_error(call, "ERR wrong number of arguments for '%.*s' command", LAJU_RESP_COMMAND_NAME_MAX,
                       command->name);
}

/* What a browser sends that was lured here. It goes unanswered, so that the rest of its request is not run. */
static bool is_http(laju_resp_argument name) {
  return (name.len == 4 && memcmp(name.at, "POST", 4) == 0) || (name.len == 5 && memcmp(name.at, "Host:", 5) == 0);
}

static void refuse_unknown(laju_resp_call *call) {
  if (is_http(call->argv[0])) {
    laju_resp_note_text(call, "");
    call->close = true;
    return;
  }
  enum { SHOWN = 3 };
  char name[LAJU_RESP_QUOTED_SIZE], quoted[LAJU_RESP_QUOTED_SIZE], arguments[SHOWN * (LAJU_RESP_QUOTED_SIZE + 1)];
  size_t len = 0;
  arguments[0] = '\0';
  for (size_t i = 1; i < call->argc && i <= SHOWN; i++) {
    laju_resp_quote(quoted, call->argv[i]);
    size_t more = strlen(quoted);
    memcpy(arguments + len, quoted, more);
    memcpy(arguments + len + more, " ", 2);
    len += more + 1;
  }
  laju_resp_note_error(call, "ERR unknown command %s, with args beginning with: %s",
                       laju_resp_quote(name, call->argv[0]), arguments);
}

static void refuse_too_many(laju_resp_call *call, uint32_t count) {
  const laju_resp_command *command = laju_resp_command_find(call->argv[0].at, call->argv[0].len);
  call->argc = 1;
  if (command == NULL) {
    refuse_unknown(call);
  } else if (command->argc_max < LAJU_RESP_ARGUMENTS_MAX) {
    refuse_argc(call, command);
  } else {
    laju_resp_note_error(call, "ERR wrong number of arguments for '%.*s' command: %u, at most %d are allowed",
                         LAJU_RESP_COMMAND_NAME_MAX, command->name, count, LAJU_RESP_ARGUMENTS_MAX);
  }
}

static void refuse_too_long(laju_resp_call *call, uint32_t len) {
  const laju_resp_command *command = NULL;
  const char *field = "command";
  if (call->argc > 0) {
    command = laju_resp_command_find(call->argv[0].at, call->argv[0].len);
    field = command != NULL ? laju_resp_command_field(command, call->argc) : "argument";
  }
  laju_resp_note_error(call, "ERR %s of %u bytes: at most %d bytes are allowed", field, len, LAJU_RESP_ARGUMENT_MAX);
}

/* ---- parse ---- */

/* False: the command must wait until those before it in the batch are decided. */
static bool run(laju_resp_call *call) {
  const laju_resp_command *command = laju_resp_command_find(call->argv[0].at, call->argv[0].len);
  if (command == NULL) {
    refuse_unknown(call);
  } else if (call->argc < command->argc_min || call->argc > command->argc_max) {
    refuse_argc(call, command);
  } else if (!call->connection->authenticated && !command->open) {
    laju_resp_note_error(call, "NOAUTH Authentication required.");
  } else if (command->looks && call->batch->ask_count > 0) {
    return false;
  } else {
    command->run(call);
  }
  return true;
}

/* A stranger learns of sizes nothing but that it is one. */
static void refuse(laju_resp_call *call, laju_resp_step step, const laju_resp_request *request) {
  if (!call->connection->authenticated) {
    laju_resp_note_error(call, "NOAUTH Authentication required.");
  } else if (step == LAJU_RESP_TOO_MANY) {
    refuse_too_many(call, request->array_len);
  } else {
    refuse_too_long(call, request->bulk_len);
  }
}

/* Answers what was read. False: nothing was done, the batch must be decided first. */
static bool answer(laju_resp_call *call, laju_resp_step step, const laju_resp_request *request) {
  call->argc = request->argc;
  call->argv = request->argv;
  switch (step) {
    case LAJU_RESP_WHOLE:
      if (request->argc == 0) return true;
      if (!laju_batch_has_room(call->batch, request->argc) || !run(call)) return false;
      break;
    case LAJU_RESP_TOO_MANY:
    case LAJU_RESP_TOO_LONG: refuse(call, step, request); break;
    case LAJU_RESP_BROKEN:
      laju_resp_note_error(call, "ERR Protocol error: %s", request->broken);
      call->close = true;
      break;
    default: return true;
  }
  if (call->close) call->batch->asks[call->batch->ask_count - 1].close = true;
  return true;
}

/* Room for a reply is asked for before a request is read. A line can be read only once, being unquoted in place, so it gets
 * an empty batch, where nothing can send it back. */
static bool has_room(const laju_resp_connection *connection, const laju_batch *batch, char first) {
  if (first != '*' && !laju_resp_skipping(&connection->reader)) return batch->ask_count == 0;
  return laju_batch_has_room(batch, 1);
}

static laju_parsed parse(void *state, char *bytes, size_t len, laju_batch *batch) {
  laju_resp_connection *connection = state;
  connection->terms = laju_service_terms(connection->service);
  if (connection->terms->resp_password == NULL) connection->authenticated = true; /* it may have been taken away */
  laju_resp_call call = {.connection = connection, .batch = batch};
  laju_resp_request request;
  laju_parsed parsed = {0};
  while (parsed.consumed < len && !parsed.closed) {
    char *at = bytes + parsed.consumed;
    parsed.more = !has_room(connection, batch, *at);
    if (parsed.more) break;
    laju_resp_step step =
        laju_resp_read(&connection->reader, at, len - parsed.consumed, !connection->authenticated, &request);
    parsed.more = !answer(&call, step, &request);
    if (parsed.more) break;
    parsed.closed = call.close;
    parsed.consumed += request.size;
    if (step == LAJU_RESP_PART) break;
  }
  if (parsed.closed) parsed.consumed = len;
  connection->spoken |= len > 0;
  connection->unfinished = !parsed.closed && (parsed.consumed < len || laju_resp_skipping(&connection->reader));
  return parsed;
}

/* ---- the rest ---- */

static void encode(void *state, const laju_batch *batch, laju_buffer *out) {
  (void)state;
  laju_resp_encode(batch, out);
}

static bool unfinished(const void *state) {
  const laju_resp_connection *connection = state;
  return connection->unfinished;
}

/* An idle client would take an error for the answer to its next command, so it is told nothing, as by redis. */
static void give_up(void *state, laju_buffer *out) {
  const laju_resp_connection *connection = state;
  if (connection->unfinished) {
    laju_buffer_add_text(out, "-ERR Protocol error: the request took too long to arrive\r\n");
  } else if (!connection->spoken) {
    laju_buffer_add_text(out, "-ERR max number of clients reached\r\n");
  }
}

const laju_codec laju_resp_codec = {
    .name = "resp",
    .door = LAJU_DOOR_RESP,
    .connection_size = sizeof(laju_resp_connection),
    .input_max = LAJU_RESP_REQUEST_MAX,
    .init = init,
    .parse = parse,
    .encode = encode,
    .unfinished = unfinished,
    .give_up = give_up,
};
