/* laju check: one question to a running laju, for scripts and for people. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/tls_options.h"
#include "config/value.h"

#define SERVER_DEFAULT "127.0.0.1:6380"
#define TIMEOUT_DEFAULT_US INT64_C(1000000)
#define TIMEOUT_MIN_US INT64_C(1000)
#define TIMEOUT_MAX_US INT64_C(3600000000)

enum { SERVER, PASSWORD, COST, PEEK, JSON, TIMEOUT, TLS, OPTIONS = TLS + LAJU_TLS_OPTIONS };

static const laju_option options[OPTIONS] = {
    [SERVER] = {"server", "ADDR", "where laju's resp door is (" SERVER_DEFAULT "); rediss://ADDR by TLS", 's'},
    [PASSWORD] = {"password", "TEXT", "its resp_password; LAJU_PASSWORD in the environment is safer", 0},
    [COST] = {"cost", "N", "tokens to take; 0 takes none (the rule's cost)", 'n'},
    [PEEK] = {"peek", NULL, "take none: only say how things stand", 'p'},
    [JSON] = {"json", NULL, "print the decision as JSON", 'j'},
    [TIMEOUT] = {"timeout", "TIME", "how long to wait for the server, 1ms to 1h (1s)", 't'},
    [TLS] = LAJU_TLS_OPTION_ROWS,
};

typedef struct arguments {
  laju_load_door server;
  laju_question question;
  bool json;
} arguments;

/* Reads an option's value: 0, or -1 with `why`. */
static int read_option(void *context, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  arguments *to = context;
  uint64_t cost;
  if (option >= TLS) return laju_tls_option_read(&to->question.tls, option - TLS, value, why);
  switch (option) {
    case SERVER: return laju_load_door_parse(value, &to->server, why);
    case PASSWORD: to->question.password = value; return 0;
    case PEEK: to->question.peek = true; return 0;
    case JSON: to->json = true; return 0;
    case COST:
      to->question.cost = value;
      return laju_value_count(value, strlen(value), LAJU_TOKENS_MAX, laju_error_allowed(LAJU_ERR_COST), &cost, why);
    default:
      return laju_value_duration(value, strlen(value), TIMEOUT_MIN_US, TIMEOUT_MAX_US, "1ms to 1h",
                                 &to->question.timeout_us, why);
  }
}

/* What the options must keep together: 0, or the exit code. */
static int verify(const laju_command *command, arguments *to) {
  if (to->question.peek && to->question.cost != NULL) {
    return laju_command_fail(command, "--peek takes nothing, so --cost has no use with it; allowed: one of them");
  }
  if (to->server.protocol != LAJU_LOAD_RESP) {
    return laju_command_fail(command,
                             "--server: HTTP is not asked here; allowed: the resp door, as ADDR or rediss://ADDR");
  }
  return laju_tls_options_verify(command, &to->question.tls, &to->server);
}

static int answer(const laju_command *command, const arguments *from) {
  char why[LAJU_ASK_WHY_SIZE];
  laju_answer decision;
  if (laju_ask(&from->question, &decision, why) < 0) return laju_command_fail(command, "%s", why);
  laju_buffer text = {0};
  if (from->json) {
    laju_answer_print_json(&text, from->question.rule, &decision);
  } else {
    laju_answer_print(&text, &decision);
  }
  bool failed = text.failed;
  if (!failed) fwrite(text.data, 1, text.len, stdout);
  laju_buffer_deinit(&text);
  if (failed) return laju_command_fail(command, "memory ran out");
  return decision.allowed ? 0 : LAJU_EXIT_NO;
}

static int run(const laju_command *command, int argc, char **argv) {
  char why[LAJU_TEXT_SIZE];
  const char *password = getenv("LAJU_PASSWORD");
  arguments from = {.question = {.timeout_us = TIMEOUT_DEFAULT_US}};
  if (password != NULL && password[0] != '\0') from.question.password = password;
  laju_load_door_parse(SERVER_DEFAULT, &from.server, why);
  from.question.server = &from.server;

  int found = laju_options_read(command, argc, argv, read_option, &from);
  if (found != LAJU_OPTION_END) return laju_option_exit(found);
  int error = verify(command, &from);
  if (error != 0) return error;
  if (argc - optind != 2) return laju_command_fail(command, "RULE and KEY are needed; see laju check --help");
  from.question.rule = argv[optind];
  from.question.key = argv[optind + 1];
  return answer(command, &from);
}

const laju_command laju_command_check = {
    .name = "check",
    .operands = "RULE KEY",
    .summary = "ask a running laju for a decision",
    .about =
        "Asks a running laju whether KEY may go on under RULE, takes its tokens if so, and prints the\n"
        "decision. A key that begins with a dash stands after --.\n"
        "Exits 0 where it is allowed, 1 where it is denied, 2 where there is no decision.\n",
    .examples =
        "  laju check login user:42\n"
        "  laju check --cost 5 --json login user:42\n"
        "  laju check --peek --server unix:/run/laju.sock login user:42\n"
        "  laju check --server rediss://laju.example.com:6380 --ca /etc/laju/ca.pem login user:42\n"
        "  laju check mail root && sendmail root <report\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
