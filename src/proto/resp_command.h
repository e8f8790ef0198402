/* Which commands there are: found by name, told of by COMMAND. A constant table; any thread. */
#ifndef LAJU_PROTO_RESP_COMMAND_H
#define LAJU_PROTO_RESP_COMMAND_H

#include "base/buffer.h"
#include "proto/resp.h"

#define LAJU_RESP_COMMAND_NAME_MAX 16
#define LAJU_RESP_NO_COMMAND 255 /* a number that is no command's */

/* An argument, for COMMAND DOCS and for errors that name it. */
typedef struct laju_resp_parameter {
  const char *name;
  const char *type; /* as redis types them: "string", "key", "integer", "block" */
  bool optional, multiple;
  const struct laju_resp_parameter *inner; /* a block's, up to one without a name */
} laju_resp_parameter;

typedef struct laju_resp_command {
  char name[LAJU_RESP_COMMAND_NAME_MAX]; /* lower case, padded with zeros */
  void (*run)(laju_resp_call *call);     /* adds one ask: `argc` is within bounds, the client may ask */
  uint16_t argc_min, argc_max;           /* the name counted */
  bool open;                             /* before AUTH too */
  bool writes;                           /* changes what the limiter knows */
  bool looks;                            /* tells what the limiter knows: the commands before it must be decided */
  struct {
    int8_t first, last, step; /* where its keys are among its arguments; last -1: to the end; zeros: it has none */
  } keys;
  const char *summary, *group;
  const laju_resp_parameter *parameters; /* up to one without a name; NULL: none */
} laju_resp_command;

/* By name, in upper or lower case; NULL where there is none. */
const laju_resp_command *laju_resp_command_find(const char *name, size_t len);

size_t laju_resp_command_count(void);
const laju_resp_command *laju_resp_command_at(size_t i);

/* What argument number `i` (from 1) of a command is called: "key". "argument" where it has no name. */
const char *laju_resp_command_field(const laju_resp_command *command, size_t i);

/* Writes one entry of COMMAND and COMMAND INFO, or one name and its text of COMMAND DOCS; `resp3` uses sets and maps. */
void laju_resp_command_write_info(const laju_resp_command *command, bool resp3, laju_buffer *out);
void laju_resp_command_write_docs(const laju_resp_command *command, bool resp3, laju_buffer *out);

#endif
