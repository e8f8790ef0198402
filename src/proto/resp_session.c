#include "proto/resp_run.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/secret.h"
#include "proto/resp_command.h"
#include "proto/resp_reply.h"

#define OK "+OK\r\n"
#define USER "default"
#define REDIS_VERSION "7.0.0" /* what clients look for before they use HELLO 3 and the like */

static bool is_word(laju_resp_argument argument, const char *word) {
  size_t len = strlen(word);
  return argument.len == len && strncasecmp(argument.at, word, len) == 0;
}

/* ---- small talk ---- */

void laju_resp_run_ping(laju_resp_call *call) {
  if (call->argc == 1) {
    laju_resp_note_text(call, "+PONG\r\n");
  } else {
    laju_resp_note_bulk(call, call->argv[1].at, call->argv[1].len);
  }
}

void laju_resp_run_echo(laju_resp_call *call) {
  laju_resp_note_bulk(call, call->argv[1].at, call->argv[1].len);
}

void laju_resp_run_quit(laju_resp_call *call) {
  laju_resp_note_text(call, OK);
  call->close = true;
}

void laju_resp_run_select(laju_resp_call *call) {
  laju_resp_argument index = call->argv[1];
  bool number = index.len > 0 && index.len <= 10;
  for (uint32_t i = 0; i < index.len && number; i++) {
    number = (index.at[i] >= '0' && index.at[i] <= '9') || (i == 0 && index.at[i] == '-' && index.len > 1);
  }
  if (!number) {
    laju_resp_note_error(call, "ERR value is not an integer or out of range");
  } else if (index.len != 1 || index.at[0] != '0') {
    laju_resp_note_error(call, "ERR DB index is out of range");
  } else {
    laju_resp_note_text(call, OK);
  }
}

/* ---- who may ask, and how it is answered ---- */

void laju_resp_session_begin(laju_resp_connection *connection) {
  connection->authenticated = laju_service_terms(connection->service)->resp_password == NULL;
  connection->protocol = 2;
  connection->name_len = 0;
}

void laju_resp_run_reset_connection(laju_resp_call *call) {
  laju_resp_session_begin(call->connection);
  laju_resp_note_text(call, "+RESET\r\n");
}

static bool admits(const laju_terms *terms, laju_resp_argument user, laju_resp_argument password) {
  if (user.len != strlen(USER) || memcmp(user.at, USER, user.len) != 0) return false;
  if (terms->resp_password == NULL) return true;
  return laju_secret_equal(terms->resp_password, strlen(terms->resp_password), password.at, password.len);
}

static void refuse_password(laju_resp_call *call) {
  laju_resp_note_error(call, "WRONGPASS invalid username-password pair or user is disabled.");
}

void laju_resp_run_auth(laju_resp_call *call) {
  static char user[] = USER;
  laju_resp_argument name = {user, sizeof user - 1};
  if (call->argc == 3) name = call->argv[1];
  if (call->argc == 2 && call->connection->terms->resp_password == NULL) {
    laju_resp_note_error(call,
                         "ERR AUTH <password> called without any password configured for the default user. Are you "
                         "sure your configuration is correct?");
  } else if (admits(call->connection->terms, name, call->argv[call->argc - 1])) {
    call->connection->authenticated = true;
    laju_resp_note_text(call, OK);
  } else {
    refuse_password(call);
  }
}

/* A name shows in lists, so it has no spaces and nothing unprintable. False: refused. */
static bool name_valid(laju_resp_call *call, laju_resp_argument name) {
  if (name.len > LAJU_RESP_NAME_MAX) {
    laju_resp_note_error(call, "ERR Client names cannot be longer than %d bytes.", LAJU_RESP_NAME_MAX);
    return false;
  }
  for (uint32_t i = 0; i < name.len; i++) {
    if (name.at[i] < '!' || name.at[i] > '~') {
      laju_resp_note_error(call, "ERR Client names cannot contain spaces, newlines or special characters.");
      return false;
    }
  }
  return true;
}

static void name_set(laju_resp_connection *connection, laju_resp_argument name) {
  connection->name_len = (uint8_t)name.len;
  if (name.len > 0) memcpy(connection->name, name.at, name.len);
}

static void note_hello(laju_resp_call *call) {
  const laju_resp_connection *connection = call->connection;
  laju_resp_note_format(call,
                        "%s\r\n$6\r\nserver\r\n$4\r\nlaju\r\n$7\r\nversion\r\n$%zu\r\n%s\r\n$5\r\nproto\r\n:%d\r\n"
                        "$2\r\nid\r\n:%llu\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
                        "$7\r\nmodules\r\n*0\r\n",
                        connection->protocol == 3 ? "%7" : "*14", strlen(LAJU_VERSION), LAJU_VERSION,
                        connection->protocol, (unsigned long long)connection->id);
}

/* What HELLO was told. Nothing of it takes effect unless all of it is right. */
typedef struct hello {
  uint8_t protocol;
  bool authenticated, named;
  laju_resp_argument name;
} hello;

/* HELLO's options from argv[2] on. False: refused. */
static bool read_options(laju_resp_call *call, hello *out) {
  const laju_resp_argument *argv = call->argv;
  for (size_t i = 2; i < call->argc; i++) {
    size_t more = call->argc - 1 - i;
    if (is_word(argv[i], "AUTH") && more >= 2) {
      if (!admits(call->connection->terms, argv[i + 1], argv[i + 2])) {
        refuse_password(call);
        return false;
      }
      out->authenticated = true;
      i += 2;
    } else if (is_word(argv[i], "SETNAME") && more >= 1) {
      out->name = argv[i + 1];
      out->named = true;
      if (!name_valid(call, out->name)) return false;
      i += 1;
    } else {
      char quoted[LAJU_RESP_QUOTED_SIZE];
      laju_resp_note_error(call, "ERR Syntax error in HELLO option %s", laju_resp_quote(quoted, argv[i]));
      return false;
    }
  }
  return true;
}

/* HELLO's version. False: refused. */
static bool read_version(laju_resp_call *call, laju_resp_argument text, uint8_t *out) {
  for (uint32_t i = 0; i < text.len; i++) {
    if (text.at[i] >= '0' && text.at[i] <= '9') continue;
    laju_resp_note_error(call, "ERR Protocol version is not an integer or out of range");
    return false;
  }
  if (text.len != 1 || (text.at[0] != '2' && text.at[0] != '3')) {
    laju_resp_note_error(call, "NOPROTO unsupported protocol version");
    return false;
  }
  *out = (uint8_t)(text.at[0] - '0');
  return true;
}

void laju_resp_run_hello(laju_resp_call *call) {
  laju_resp_connection *connection = call->connection;
  hello told = {.protocol = connection->protocol, .authenticated = connection->authenticated};
  if (call->argc > 1 && !read_version(call, call->argv[1], &told.protocol)) return;
  if (!read_options(call, &told)) return;
  if (!told.authenticated) {
    laju_resp_note_error(call,
                         "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                         "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
                         "RESP protocol version at the same time");
    return;
  }
  connection->authenticated = true;
  connection->protocol = told.protocol;
  if (told.named) name_set(connection, told.name);
  note_hello(call);
}

/* ---- CLIENT ---- */

static void note_client_line(laju_resp_call *call) {
  const laju_resp_connection *connection = call->connection;
  char line[LAJU_RESP_NAME_MAX + 96];
  int len = snprintf(line, sizeof line, "id=%llu name=%.*s db=0 resp=%d user=" USER "\n",
                     (unsigned long long)connection->id, connection->name_len, connection->name, connection->protocol);
  laju_resp_note_bulk(call, line, (size_t)len);
}

static void client_name(laju_resp_call *call) {
  if (call->connection->name_len == 0) {
    laju_resp_note_nil(call);
  } else {
    laju_resp_note_bulk(call, call->connection->name, call->connection->name_len);
  }
}

static void client_rename(laju_resp_call *call) {
  if (!name_valid(call, call->argv[2])) return;
  name_set(call->connection, call->argv[2]);
  laju_resp_note_text(call, OK);
}

/* Clients tell their library and its version, and expect no more than OK. */
static void client_library(laju_resp_call *call) {
  if (is_word(call->argv[2], "LIB-NAME") || is_word(call->argv[2], "LIB-VER")) {
    laju_resp_note_text(call, OK);
  } else {
    char quoted[LAJU_RESP_QUOTED_SIZE];
    laju_resp_note_error(call, "ERR Unrecognized option %s", laju_resp_quote(quoted, call->argv[2]));
  }
}

static void client_id(laju_resp_call *call) {
  laju_resp_note_format(call, ":%llu\r\n", (unsigned long long)call->connection->id);
}

/* Switches that can stand one way only: what else they are asked for is not to be had. */
static void client_only_on(laju_resp_call *call) {
  if (is_word(call->argv[2], "ON")) {
    laju_resp_note_text(call, OK);
  } else {
    laju_resp_note_error(call, "ERR only ON is supported");
  }
}

static void client_only_off(laju_resp_call *call) {
  if (is_word(call->argv[2], "OFF")) {
    laju_resp_note_text(call, OK);
  } else {
    laju_resp_note_error(call, "ERR only OFF is supported");
  }
}

/* No client is ever evicted, and no key's age is touched by looking. */
static void client_either(laju_resp_call *call) {
  if (is_word(call->argv[2], "ON") || is_word(call->argv[2], "OFF")) {
    laju_resp_note_text(call, OK);
  } else {
    laju_resp_note_error(call, "ERR syntax error");
  }
}

void laju_resp_run_client(laju_resp_call *call) {
  static const struct subcommand {
    const char *name;
    size_t argc_min, argc_max;
    void (*run)(laju_resp_call *call);
  } subcommands[] = {
      {"ID", 2, 2, client_id},           {"INFO", 2, 2, note_client_line},
      {"LIST", 2, 4, note_client_line},  {"GETNAME", 2, 2, client_name},
      {"SETNAME", 3, 3, client_rename},  {"SETINFO", 4, 4, client_library},
      {"NO-EVICT", 3, 3, client_either}, {"NO-TOUCH", 3, 3, client_either},
      {"REPLY", 3, 3, client_only_on},   {"TRACKING", 3, 16, client_only_off},
  };
  char quoted[LAJU_RESP_QUOTED_SIZE];
  for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++) {
    const struct subcommand *subcommand = &subcommands[i];
    if (!is_word(call->argv[1], subcommand->name)) continue;
    if (call->argc >= subcommand->argc_min && call->argc <= subcommand->argc_max) {
      subcommand->run(call);
    } else {
      laju_resp_note_error(call, "ERR wrong number of arguments for 'client|%s' command", subcommand->name);
    }
    return;
  }
  laju_resp_note_error(call, "ERR unknown subcommand %s of 'client'. Try COMMAND DOCS client.",
                       laju_resp_quote(quoted, call->argv[1]));
}

/* ---- COMMAND ---- */

static unsigned char number_of(laju_resp_argument name) {
  const laju_resp_command *command = laju_resp_command_find(name.at, name.len);
  return command == NULL ? LAJU_RESP_NO_COMMAND : (unsigned char)(command - laju_resp_command_at(0));
}

/* The commands named from argv[2] on, or all. DOCS leaves out those it does not know, INFO tells so. */
static void note_commands(laju_resp_call *call, laju_resp_form form) {
  unsigned char numbers[LAJU_RESP_NO_COMMAND];
  size_t count = 0;
  if (call->argc <= 2) {
    for (size_t i = 0; i < laju_resp_command_count(); i++) numbers[count++] = (unsigned char)i;
  }
  for (size_t i = 2; i < call->argc; i++) {
    unsigned char number = number_of(call->argv[i]);
    if (number != LAJU_RESP_NO_COMMAND || form == LAJU_RESP_FORM_INFO) numbers[count++] = number;
  }
  laju_resp_note_form(call, form, numbers, count);
}

static void note_command_names(laju_resp_call *call) {
  char text[LAJU_NOTE_MAX];
  size_t len = (size_t)snprintf(text, sizeof text, "*%zu\r\n", laju_resp_command_count());
  for (size_t i = 0; i < laju_resp_command_count(); i++) {
    const laju_resp_command *command = laju_resp_command_at(i);
    len += (size_t)snprintf(text + len, sizeof text - len, "+%.*s\r\n", LAJU_RESP_COMMAND_NAME_MAX, command->name);
  }
  laju_resp_note_form(call, LAJU_RESP_FORM_NOTE, text, len);
}

void laju_resp_run_command(laju_resp_call *call) {
  char quoted[LAJU_RESP_QUOTED_SIZE];
  if (call->argc == 1 || is_word(call->argv[1], "INFO")) {
    note_commands(call, LAJU_RESP_FORM_INFO);
  } else if (is_word(call->argv[1], "DOCS")) {
    note_commands(call, LAJU_RESP_FORM_DOCS);
  } else if (is_word(call->argv[1], "COUNT") && call->argc == 2) {
    laju_resp_note_format(call, ":%zu\r\n", laju_resp_command_count());
  } else if (is_word(call->argv[1], "LIST") && call->argc == 2) {
    note_command_names(call);
  } else {
    laju_resp_note_error(call, "ERR unknown subcommand or wrong number of arguments for %s of 'command'",
                         laju_resp_quote(quoted, call->argv[1]));
  }
}

/* ---- INFO ---- */

static size_t info_server(const laju_service *service, char *to, size_t size) {
  (void)service;
  return (size_t)snprintf(to, size,
                          "# Server\r\nredis_version:" REDIS_VERSION
                          "\r\nredis_mode:standalone\r\n"
                          "server_name:laju\r\nlaju_version:" LAJU_VERSION "\r\n");
}

static size_t info_persistence(const laju_service *service, char *to, size_t size) {
  bool loading = atomic_load_explicit(&service->stage, memory_order_relaxed) == LAJU_STARTING;
  return (size_t)snprintf(to, size, "# Persistence\r\nloading:%d\r\n", loading);
}

static size_t info_replication(const laju_service *service, char *to, size_t size) {
  (void)service;
  return (size_t)snprintf(to, size, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
}

static size_t info_table(const laju_service *service, char *to, size_t size) {
  laju_table_stats stats;
  laju_table_stats_read(laju_limiter_table(service->limiter), &stats);
  return (size_t)snprintf(
      to, size,
      "# Table\r\nrules:%zu\r\nkeys:%llu\r\nslots:%llu\r\nevicted_fresh:%llu\r\nevicted_used:%llu\r\n"
      "logs_bytes:%llu\r\nlogs_used_bytes:%llu\r\nlogs_evicted_fresh:%llu\r\nlogs_evicted_used:%llu\r\n",
      laju_ruleset_count(laju_service_terms(service)->rules), (unsigned long long)stats.keys,
      (unsigned long long)stats.slots, (unsigned long long)stats.evicted_fresh, (unsigned long long)stats.evicted_used,
      (unsigned long long)stats.logs_bytes, (unsigned long long)stats.logs_used_bytes,
      (unsigned long long)stats.logs_evicted_fresh, (unsigned long long)stats.logs_evicted_used);
}

static size_t info_auth(const laju_service *service, char *to, size_t size) {
  uint64_t untrusted = atomic_load_explicit(&service->untrusted_forwards, memory_order_relaxed);
  return (size_t)snprintf(to, size, "# Auth\r\nuntrusted_forwards:%llu\r\n", (unsigned long long)untrusted);
}

/* Is a section asked for? By its name, or all of them. */
static bool wants(const laju_resp_call *call, const char *section) {
  if (call->argc == 1) return true;
  for (size_t i = 1; i < call->argc; i++) {
    laju_resp_argument word = call->argv[i];
    if (is_word(word, section) || is_word(word, "all") || is_word(word, "default") || is_word(word, "everything")) {
      return true;
    }
  }
  return false;
}

void laju_resp_run_info(laju_resp_call *call) {
  static const struct section {
    const char *name;
    size_t (*write)(const laju_service *service, char *to, size_t size);
  } sections[] = {
      {"server", info_server},
      {"persistence", info_persistence},
      {"replication", info_replication},
      {"table", info_table},
      {"auth", info_auth},
  };
  char text[2048]; /* twice what all of it takes with the longest numbers */
  size_t len = 0;
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
    if (!wants(call, sections[i].name)) continue;
    if (len > 0) len += (size_t)snprintf(text + len, sizeof text - len, "\r\n");
    len += sections[i].write(call->connection->service, text + len, sizeof text - len);
  }
  laju_resp_note_bulk(call, text, len);
}
