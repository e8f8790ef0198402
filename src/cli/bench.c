/* laju bench: puts load on a door, and says what it answered and how fast. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bench_report.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/tls_options.h"
#include "config/value.h"
#include "load/keys.h"
#include "load/load.h"
#include "load/schedule.h"

#define DOOR_DEFAULT "resp://127.0.0.1:6380"
#define RULE_DEFAULT "default"
#define DURATION_MIN_US INT64_C(100000)
#define DURATION_MAX_US (INT64_C(86400) * 1000000)

enum {
  CONNECTIONS,
  PIPELINE,
  THREADS,
  KEYS,
  ZIPF,
  RATE,
  DURATION,
  RULE,
  COST,
  COMMAND,
  HEADER,
  PASSWORD,
  JSON,
  TLS,
  OPTIONS = TLS + LAJU_TLS_OPTIONS
};

static const laju_option options[OPTIONS] = {
    [CONNECTIONS] = {"connections", "N", "how many at once, 1 to 10000 (50)", 'c'},
    [PIPELINE] = {"pipeline", "N", "requests that a connection sends before replies, 1 to 1024 (1)", 'P'},
    [THREADS] = {"threads", "N", "of the load, 1 to 256 (1)", 't'},
    [KEYS] = {"keys", "N", "how many different keys, 1 to 1000000000 (10000)", 'k'},
    [ZIPF] = {"zipf", "S", "key of rank r comes in proportion to 1/r^S, 0 to 10 (0: all alike)", 'z'},
    [RATE] = {"rate", "N", "requests a second, due whatever the server does (none)", 'R'},
    [DURATION] = {"duration", "TIME", "how long, 100ms to 1d (10s)", 'd'},
    [RULE] = {"rule", "NAME", "the rule to check (" RULE_DEFAULT ")", 'r'},
    [COST] = {"cost", "N", "tokens of a check (the rule's cost)", 'n'},
    [COMMAND] = {"command", "TEXT", "what to send instead of a check; see below", 0},
    [HEADER] = {"header", "TEXT", "\"Name: value\" to send along over HTTP; up to 16", 'H'},
    [PASSWORD] = {"password", "TEXT", "for AUTH; LAJU_PASSWORD in the environment is safer", 0},
    [JSON] = {"json", NULL, "print the result as JSON", 'j'},
    [TLS] = LAJU_TLS_OPTION_ROWS,
};

typedef struct arguments {
  laju_load_plan plan;
  laju_load_wish wish;
  const char *headers[LAJU_LOAD_HEADERS_MAX];
  bool json;
} arguments;

static int read_number(const char *value, uint64_t min, uint64_t max, const char *allowed, uint64_t *out,
                       char why[LAJU_TEXT_SIZE]) {
  uint64_t number = 0;
  if (laju_value_count(value, strlen(value), max, allowed, &number, why) < 0) return -1;
  if (number < min) return laju_complain(why, value, strlen(value), "is out of range", NULL, allowed);
  *out = number;
  return 0;
}

static int read_small(const char *value, unsigned max, const char *allowed, unsigned *out, char why[LAJU_TEXT_SIZE]) {
  uint64_t number = 0;
  if (read_number(value, 1, max, allowed, &number, why) < 0) return -1;
  *out = (unsigned)number;
  return 0;
}

static int read_skew(const char *value, double *out, char why[LAJU_TEXT_SIZE]) {
  char *end;
  double skew = strtod(value, &end);
  bool plain = value[0] >= '0' && value[0] <= '9' && strspn(value, "0123456789.") == strlen(value);
  if (!plain || *end != '\0' || !(skew <= LAJU_LOAD_SKEW_MAX)) {
    return laju_complain(why, value, strlen(value), "is out of range", NULL, "0 to 10, such as 0.99");
  }
  *out = skew;
  return 0;
}

static int read_rule(const char *value, const char **out, char why[LAJU_TEXT_SIZE]) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  size_t len = strlen(value);
  if (len < 1 || len > LAJU_NAME_MAX || strspn(value, letters) != len) {
    return laju_complain(why, value, len, "is no rule's name", NULL, laju_error_allowed(LAJU_ERR_NAME));
  }
  *out = value;
  return 0;
}

static int read_header(arguments *to, const char *value, char why[LAJU_TEXT_SIZE]) {
  size_t len = strlen(value), name = strcspn(value, ": ");
  bool plain = true;
  for (size_t i = 0; i < len; i++) plain &= (unsigned char)value[i] >= ' ' && value[i] != 0x7f;
  if (name == 0 || value[name] != ':' || !plain) {
    return laju_complain(why, value, len, "is no header", NULL, "\"Name: value\", no control characters");
  }
  if (to->wish.header_count == LAJU_LOAD_HEADERS_MAX) {
    return laju_complain(why, value, strlen(value), "is one too many", NULL, "up to 16");
  }
  to->headers[to->wish.header_count++] = value;
  return 0;
}

static int read_load(laju_load_plan *plan, int option, const char *value, char why[LAJU_TEXT_SIZE]) {
  switch (option) {
    case CONNECTIONS: return read_small(value, LAJU_LOAD_CONNECTIONS_MAX, "1 to 10000", &plan->connections, why);
    case PIPELINE: return read_small(value, LAJU_LOAD_PIPELINE_MAX, "1 to 1024", &plan->pipeline, why);
    case THREADS: return read_small(value, LAJU_LOAD_THREADS_MAX, "1 to 256", &plan->threads, why);
    case KEYS: return read_number(value, 1, LAJU_LOAD_KEYS_MAX, "1 to 1000000000", &plan->keys, why);
    case ZIPF: return read_skew(value, &plan->skew, why);
    case RATE: return read_number(value, 1, LAJU_LOAD_RATE_MAX, "1 to 10000000", &plan->rate, why);
    default:
      return laju_value_duration(value, strlen(value), DURATION_MIN_US, DURATION_MAX_US, "100ms to 1d",
                                 &plan->duration_us, why);
  }
}

/* Reads an option's value: 0, or -1 with `why`. */
static int read_option(void *context, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  arguments *to = context;
  uint64_t cost;
  if (option >= TLS) return laju_tls_option_read(&to->plan.tls, option - TLS, value, why);
  switch (option) {
    case RULE: return read_rule(value, &to->wish.rule, why);
    case COST:
      to->wish.cost = value;
      return laju_value_count(value, strlen(value), LAJU_TOKENS_MAX, laju_error_allowed(LAJU_ERR_COST), &cost, why);
    case COMMAND: to->wish.command = value; return 0;
    case HEADER: return read_header(to, value, why);
    case PASSWORD: to->plan.password = value; return 0;
    case JSON: to->json = true; return 0;
    default: return read_load(&to->plan, option, value, why);
  }
}

/* What the options must keep together: 0, or the exit code. */
static int verify(const laju_command *command, const arguments *from) {
  const laju_load_plan *plan = &from->plan;
  if (plan->threads > plan->connections) {
    return laju_command_fail(command,
                             "--threads: %u is more than the %u connections; allowed: at most one a connection",
                             plan->threads, plan->connections);
  }
  if (from->wish.header_count > 0 && plan->door.protocol != LAJU_LOAD_HTTP) {
    return laju_command_fail(command, "--header: Redis' protocol has none; allowed: with http://ADDR");
  }
  return laju_tls_options_verify(command, &plan->tls, &plan->door);
}

static int print(const laju_command *command, laju_buffer *text, FILE *to) {
  bool failed = text->failed;
  if (!failed && text->len > 0) fwrite(text->data, 1, text->len, to);
  laju_buffer_deinit(text);
  return failed ? laju_command_fail(command, "memory ran out") : 0;
}

static int run_load(const laju_command *command, const arguments *from) {
  const laju_load_plan *plan = &from->plan;
  static laju_load_result result;
  char why[LAJU_TEXT_SIZE];
  laju_buffer text = {0};
  laju_bench_progress progress = {.to = stderr};
  laju_load_watcher watch = isatty(STDERR_FILENO) ? laju_bench_progress_print : NULL;
  if (laju_load_run(plan, watch, &progress, &result, why) < 0) return laju_command_fail(command, "%s", why);
  if (from->json) {
    laju_bench_result_print_json(&text, plan, &result);
  } else {
    laju_bench_result_print(&text, plan, &result);
  }
  if (print(command, &text, stdout) != 0) return LAJU_EXIT_ERROR;
  return result.errors + result.lost + result.unanswered + result.unsent > 0 ? LAJU_EXIT_NO : 0;
}

static int run(const laju_command *command, int argc, char **argv) {
  char why[LAJU_TEXT_SIZE];
  const char *password = getenv("LAJU_PASSWORD");
  arguments from = {
      .plan = {.connections = 50, .pipeline = 1, .threads = 1, .keys = 10000, .duration_us = 10000000},
      .wish = {.rule = RULE_DEFAULT},
  };
  if (password != NULL && password[0] != '\0') from.plan.password = password;
  from.wish.headers = from.headers;

  int found = laju_options_read(command, argc, argv, read_option, &from);
  if (found != LAJU_OPTION_END) return laju_option_exit(found);
  if (argc - optind > 1) return laju_command_fail(command, "one DOOR at most; see laju bench --help");
  const char *door = optind < argc ? argv[optind] : DOOR_DEFAULT;
  if (laju_load_door_parse(door, &from.plan.door, why) < 0) return laju_command_fail(command, "%s", why);
  int error = verify(command, &from);
  if (error != 0) return error;

  laju_load_request request;
  if (laju_load_request_init(&request, &from.plan.door, &from.wish, why) < 0) {
    return laju_command_fail(command, "--command: %s", why);
  }
  from.plan.request = &request;
  error = run_load(command, &from);
  laju_load_request_deinit(&request);
  return error;
}

const laju_command laju_command_bench = {
    .name = "bench",
    .operands = "[DOOR]",
    .summary = "put load on a server and measure it",
    .about = "Puts load on DOOR (" DOOR_DEFAULT
             ") for a while: resp://ADDR, http://ADDR, by TLS\n"
             "rediss://ADDR or https://ADDR, or ADDR alone for resp; ADDR is HOST:PORT or unix:/PATH. Tells\n"
             "throughput, times, and what was allowed and denied.\n"
             "\n"
             "Without --rate every connection sends, waits for its replies and sends again. With --rate requests\n"
             "are due at that rate whatever the server does, and a request's time runs from when it was due:\n"
             "so the times are those that users would have, a stall included.\n"
             "\n"
             "--command is LAJU.CHECK, CL.THROTTLE, PING or any other for Redis' protocol, and METHOD PATH [BODY]\n"
             "over HTTP; {key}, {rule} and {cost} in it are filled in. It stands for checks where it is not given.\n"
             "Exits 0 when all was answered, 1 where it was not or by errors, 2 where there could be no load.\n",
    .examples =
        "  laju bench\n"
        "  laju bench --connections 50 --pipeline 16 --rule login --keys 1000000 --zipf 0.99\n"
        "  laju bench http://127.0.0.1:8080 --rate 20000 --duration 1m\n"
        "  laju bench http://127.0.0.1:8080 --command 'GET /auth' -H 'X-API-Key: {key}'\n"
        "  laju bench rediss://laju.example.com:6380 --ca /etc/laju/ca.pem --pipeline 16\n"
        "  laju bench 127.0.0.1:6379 --command 'INCR {key}' --json\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
