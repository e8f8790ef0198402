#include "proto/resp_command.h"

#include <string.h>

#include "base/bytes.h"
#include "proto/resp_run.h"

#define PARAMETER(name_, type_) .name = name_, .type = type_
#define LIST(...) ((const laju_resp_parameter[]){__VA_ARGS__, {.name = NULL}})

static const laju_resp_parameter one_of_all[] = {
    {PARAMETER("rule", "string")},
    {PARAMETER("key", "key")},
    {PARAMETER("cost", "integer")},
    {0},
};

/* What is asked for most stands first: commands are looked for in this order. */
static const laju_resp_command commands[] = {
    {.name = "laju.check",
     .run = laju_resp_run_check,
     .argc_min = 3,
     .argc_max = 4,
     .writes = true,
     .keys = {2, 2, 1},
     .group = "laju",
     .summary =
         "Takes tokens of a key under a rule: allowed, limit, remaining, retry after ms, reset after ms, delay ms.",
     .parameters = LIST({PARAMETER("rule", "string")}, {PARAMETER("key", "key")},
                        {PARAMETER("cost", "integer"), .optional = true})},
    {.name = "cl.throttle",
     .run = laju_resp_run_throttle,
     .argc_min = 5,
     .argc_max = 6,
     .writes = true,
     .keys = {1, 1, 1},
     .group = "laju",
     .summary = "Takes tokens of a key, as redis-cell does: limited, limit, remaining, retry after s, reset after s.",
     .parameters = LIST({PARAMETER("key", "key")}, {PARAMETER("max_burst", "integer")}, {PARAMETER("count", "integer")},
                        {PARAMETER("period", "integer")}, {PARAMETER("quantity", "integer"), .optional = true})},
    {.name = "laju.mcheck",
     .run = laju_resp_run_mcheck,
     .argc_min = 4,
     .argc_max = LAJU_RESP_ARGUMENTS_MAX,
     .writes = true,
     .keys = {3, -1, 1},
     .group = "laju",
     .summary =
         "Independent checks of many keys: for each what remains, minus the ms to wait, or nil where none helps.",
     .parameters = LIST({PARAMETER("rule", "string")}, {PARAMETER("cost", "integer")},
                        {PARAMETER("key", "key"), .multiple = true})},
    {.name = "laju.all",
     .run = laju_resp_run_all,
     .argc_min = 4,
     .argc_max = 1 + 3 * LAJU_CHECKS_MAX,
     .writes = true,
     .keys = {2, -1, 3},
     .group = "laju",
     .summary = "Several checks, all charged or none: whether they passed, then LAJU.CHECK's six integers for each.",
     .parameters = LIST({PARAMETER("check", "block"), .multiple = true, .inner = one_of_all})},
    {.name = "laju.peek",
     .run = laju_resp_run_peek,
     .argc_min = 3,
     .argc_max = 3,
     .keys = {2, 2, 1},
     .group = "laju",
     .summary = "What stands for a key under a rule, in LAJU.CHECK's six integers, without taking anything.",
     .parameters = LIST({PARAMETER("rule", "string")}, {PARAMETER("key", "key")})},
    {.name = "laju.reset",
     .run = laju_resp_run_reset,
     .argc_min = 3,
     .argc_max = 3,
     .writes = true,
     .keys = {2, 2, 1},
     .group = "laju",
     .summary = "Forgets a key under a rule: 1 where it was known. Needs a password set or resp_admin.",
     .parameters = LIST({PARAMETER("rule", "string")}, {PARAMETER("key", "key")})},
    {.name = "ping",
     .run = laju_resp_run_ping,
     .argc_min = 1,
     .argc_max = 2,
     .group = "connection",
     .summary = "Answers PONG, or the message.",
     .parameters = LIST({PARAMETER("message", "string"), .optional = true})},
    {.name = "echo",
     .run = laju_resp_run_echo,
     .argc_min = 2,
     .argc_max = 2,
     .group = "connection",
     .summary = "Answers the message.",
     .parameters = LIST({PARAMETER("message", "string")})},
    {.name = "auth",
     .run = laju_resp_run_auth,
     .argc_min = 2,
     .argc_max = 3,
     .open = true,
     .group = "connection",
     .summary = "Tells the password. The only user is default.",
     .parameters = LIST({PARAMETER("username", "string"), .optional = true}, {PARAMETER("password", "string")})},
    {.name = "hello",
     .run = laju_resp_run_hello,
     .argc_min = 1,
     .argc_max = 7,
     .open = true,
     .group = "connection",
     .summary = "Chooses RESP2 or RESP3 and tells of the server. Options: AUTH username password, SETNAME name.",
     .parameters = LIST({PARAMETER("protover", "integer"), .optional = true},
                        {PARAMETER("option", "string"), .optional = true, .multiple = true})},
    {.name = "select",
     .run = laju_resp_run_select,
     .argc_min = 2,
     .argc_max = 2,
     .group = "connection",
     .summary = "Accepts database 0, the only one.",
     .parameters = LIST({PARAMETER("index", "integer")})},
    {.name = "client",
     .run = laju_resp_run_client,
     .argc_min = 2,
     .argc_max = 16,
     .group = "connection",
     .summary =
         "This connection: ID, INFO, LIST, GETNAME, SETNAME, SETINFO, NO-EVICT, NO-TOUCH, REPLY ON, TRACKING OFF.",
     .parameters = LIST({PARAMETER("subcommand", "string")},
                        {PARAMETER("argument", "string"), .optional = true, .multiple = true})},
    {.name = "command",
     .run = laju_resp_run_command,
     .argc_min = 1,
     .argc_max = 128,
     .group = "server",
     .summary = "The commands there are. Alone, or COUNT, LIST, INFO or DOCS.",
     .parameters = LIST({PARAMETER("subcommand", "string"), .optional = true},
                        {PARAMETER("command-name", "string"), .optional = true, .multiple = true})},
    {.name = "info",
     .run = laju_resp_run_info,
     .argc_min = 1,
     .argc_max = 16,
     .looks = true,
     .group = "server",
     .summary = "What the server is and holds: server, persistence, replication, table.",
     .parameters = LIST({PARAMETER("section", "string"), .optional = true, .multiple = true})},
    {.name = "quit",
     .run = laju_resp_run_quit,
     .argc_min = 1,
     .argc_max = LAJU_RESP_ARGUMENTS_MAX,
     .open = true,
     .group = "connection",
     .summary = "Closes the connection."},
    {.name = "reset",
     .run = laju_resp_run_reset_connection,
     .argc_min = 1,
     .argc_max = 1,
     .open = true,
     .group = "connection",
     .summary = "Makes the connection as it was when it was opened."},
};

#define COUNT (sizeof commands / sizeof commands[0])

_Static_assert(COUNT < LAJU_RESP_NO_COMMAND, "COMMAND's notes hold a byte a command");

/* ---- by name ---- */

/* Eight bytes at once: A to Z to lower case, all others as they are. */
static inline uint64_t lower(uint64_t word) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  uint64_t low = word & (each * 0x7f);
  uint64_t from_a = low + each * (0x80 - 'A'), above_z = low + each * (0x7f - 'Z');
  uint64_t upper = ~word & (from_a ^ above_z) & (each * 0x80);
  return word | (upper >> 2);
}

const laju_resp_command *laju_resp_command_find(const char *name, size_t len) {
  /* Names are compared with the zeros behind them, so one that ends in a zero of its own would be taken for the shorter. */
  if (len == 0 || len > LAJU_RESP_COMMAND_NAME_MAX || name[len - 1] == '\0') return NULL;
  uint64_t head = 0, tail = 0;
  if (len >= 8) {
    head = laju_load64(name);
    if (len > 8) tail = laju_load64(name + len - 8) >> (8 * (LAJU_RESP_COMMAND_NAME_MAX - len));
  } else {
    for (size_t i = 0; i < len; i++) head |= (uint64_t)(unsigned char)name[i] << (8 * i);
  }
  head = lower(head);
  tail = lower(tail);
  for (size_t i = 0; i < COUNT; i++) {
    if (laju_load64(commands[i].name) == head && laju_load64(commands[i].name + 8) == tail) return &commands[i];
  }
  return NULL;
}

size_t laju_resp_command_count(void) {
  return COUNT;
}

const laju_resp_command *laju_resp_command_at(size_t i) {
  return &commands[i];
}

static size_t parameter_count(const laju_resp_parameter *parameters) {
  size_t count = 0;
  while (parameters != NULL && parameters[count].name != NULL) count++;
  return count;
}

const char *laju_resp_command_field(const laju_resp_command *command, size_t i) {
  const laju_resp_parameter *parameters = command->parameters;
  size_t count = parameter_count(parameters);
  if (count == 0 || i == 0) return "argument";
  if (parameters[0].inner != NULL) {
    parameters = parameters[0].inner;
    return parameters[(i - 1) % parameter_count(parameters)].name;
  }
  if (i <= count) return parameters[i - 1].name;
  return parameters[count - 1].multiple ? parameters[count - 1].name : "argument";
}

/* ---- COMMAND ---- */

static void write_bulk(laju_buffer *out, const char *text) {
  laju_buffer_add_format(out, "$%zu\r\n%s\r\n", strlen(text), text);
}

static size_t name_len(const laju_resp_command *command) {
  return strnlen(command->name, sizeof command->name);
}

void laju_resp_command_write_info(const laju_resp_command *command, bool resp3, laju_buffer *out) {
  char set = resp3 ? '~' : '*';
  bool exact = command->argc_min == command->argc_max;
  laju_buffer_add_format(out, "*10\r\n$%zu\r\n%.*s\r\n", name_len(command), (int)name_len(command), command->name);
  laju_buffer_add_format(out, ":%d\r\n", exact ? command->argc_min : -command->argc_min);
  laju_buffer_add_format(out, "%c%d\r\n+%s\r\n+fast\r\n", set, command->open ? 3 : 2,
                         command->writes ? "write" : "readonly");
  if (command->open) laju_buffer_add_text(out, "+no_auth\r\n");
  laju_buffer_add_format(out, ":%d\r\n:%d\r\n:%d\r\n", command->keys.first, command->keys.last, command->keys.step);
  /* Of access classes, hints, key specifications and subcommands there are none. */
  laju_buffer_add_format(out, "%c1\r\n+@fast\r\n*0\r\n*0\r\n*0\r\n", set);
}

static void write_map(laju_buffer *out, bool resp3, unsigned pairs) {
  laju_buffer_add_format(out, "%c%u\r\n", resp3 ? '%' : '*', resp3 ? pairs : 2 * pairs);
}

static void write_parameters(const laju_resp_parameter *parameters, bool resp3, laju_buffer *out);

static void write_parameter(const laju_resp_parameter *parameter, bool resp3, laju_buffer *out) {
  unsigned flags = (unsigned)parameter->optional + (unsigned)parameter->multiple;
  write_map(out, resp3, 2u + (flags > 0) + (parameter->inner != NULL));
  write_bulk(out, "name");
  write_bulk(out, parameter->name);
  write_bulk(out, "type");
  write_bulk(out, parameter->type);
  if (flags > 0) {
    write_bulk(out, "flags");
    laju_buffer_add_format(out, "%c%u\r\n", resp3 ? '~' : '*', flags);
    if (parameter->optional) laju_buffer_add_text(out, "+optional\r\n");
    if (parameter->multiple) laju_buffer_add_text(out, "+multiple\r\n");
  }
  if (parameter->inner != NULL) write_parameters(parameter->inner, resp3, out);
}

/* Blocks hold plain parameters only, so this goes two deep. */
static void write_parameters(const laju_resp_parameter *parameters, bool resp3, laju_buffer *out) {
  size_t count = parameter_count(parameters);
  write_bulk(out, "arguments");
  laju_buffer_add_format(out, "*%zu\r\n", count);
  for (size_t i = 0; i < count; i++) write_parameter(&parameters[i], resp3, out);
}

void laju_resp_command_write_docs(const laju_resp_command *command, bool resp3, laju_buffer *out) {
  laju_buffer_add_format(out, "$%zu\r\n%.*s\r\n", name_len(command), (int)name_len(command), command->name);
  write_map(out, resp3, command->parameters != NULL ? 4 : 3);
  write_bulk(out, "summary");
  write_bulk(out, command->summary);
  write_bulk(out, "since");
  write_bulk(out, LAJU_VERSION);
  write_bulk(out, "group");
  write_bulk(out, command->group);
  if (command->parameters != NULL) write_parameters(command->parameters, resp3, out);
}
