/* laju serve: the file, then the command line over it, then the server. */
#include <getopt.h>
#include <string.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "config/config.h"
#include "limiter/ruleset.h"
#include "server/server.h"

_Static_assert(LAJU_CONFIG_RULES_MAX <= LAJU_RULES_MAX, "what a file may hold, the limiter can");

enum {
  CONFIG,
  RULE,
  HTTP,
  RESP,
  ADMIN,
  WORKERS,
  MEMORY,
  MEMORY_LOGS,
  SNAPSHOT,
  SNAPSHOT_INTERVAL,
  STORE,
  STORE_PASSWORD_FILE,
  STORE_TIMEOUT,
  NO_INLINE_LIMITS,
  RESP_ADMIN,
  OPTIONS,
};

static const laju_option options[OPTIONS] = {
    [CONFIG] = {"config", "FILE", "read settings and rules from a YAML file", 'c'},
    [RULE] = {"rule", "TEXT", "add a rule: NAME=LIMIT/PERIOD [ALGORITHM] [burst N] [cost N]", 'r'},
    [HTTP] = {"http", "ADDR", "listen for HTTP; off: do not (127.0.0.1:8080)", 0},
    [RESP] = {"resp", "ADDR", "listen for Redis clients; off: do not (127.0.0.1:6380)", 0},
    [ADMIN] = {"admin", "ADDR", "show how it does, to operators; off: do not (127.0.0.1:8082)", 0},
    [WORKERS] = {"workers", "N", "threads that answer; 0: as many as CPUs allow (0)", 0},
    [MEMORY] = {"memory", "SIZE", "the most that keys may take, 1MiB to 1TiB (256MiB)", 0},
    [MEMORY_LOGS] = {"memory-logs", "SHARE", "the part of it for sliding-window logs, N% or a size (25%)", 0},
    [SNAPSHOT] = {"snapshot", "PATH", "keep the keys in this file over a restart", 0},
    [SNAPSHOT_INTERVAL] = {"snapshot-interval", "TIME", "how often it is written, 100ms to 1d (10s)", 0},
    [STORE] = {"store", "URL", "share exact limits by this Redis; off: do not", 0},
    [STORE_PASSWORD_FILE] = {"store-password-file", "PATH", "the file that holds the password for it", 0},
    [STORE_TIMEOUT] = {"store-timeout", "TIME", "the longest that a check waits for it, 1ms to 10s (50ms)", 0},
    [NO_INLINE_LIMITS] = {"no-inline-limits", NULL, "refuse checks that bring a limit of their own", 0},
    [RESP_ADMIN] = {"resp-admin", NULL, "allow LAJU.RESET without a password", 0},
};

/* The setting that an option writes, and the text it writes where it takes no value. */
static const struct {
  const char *key, *text;
} settings[OPTIONS] = {
    [HTTP] = {"listen.http", NULL},
    [RESP] = {"listen.resp", NULL},
    [ADMIN] = {"listen.admin", NULL},
    [WORKERS] = {"workers", NULL},
    [MEMORY] = {"memory", NULL},
    [MEMORY_LOGS] = {"memory_logs", NULL},
    [SNAPSHOT] = {"snapshot.path", NULL},
    [SNAPSHOT_INTERVAL] = {"snapshot.interval", NULL},
    [STORE] = {"store.redis", NULL},
    [STORE_PASSWORD_FILE] = {"store.password_file", NULL},
    [STORE_TIMEOUT] = {"store.timeout", NULL},
    [NO_INLINE_LIMITS] = {"inline_limits", "false"},
    [RESP_ADMIN] = {"resp_admin", "true"},
};

/* The first pass: the file's path, wherever its option stands; no option, or an exit code above it. */
static int find_file(const laju_command *command, int argc, char **argv, const char **path) {
  int option = laju_option_find_file(command, argc, argv, CONFIG, path);
  if (option != LAJU_OPTION_END) return option;
  if (optind == argc) return LAJU_OPTION_END;
  laju_command_fail(command, "\"%s\" is not expected; a file is given by --config %s; see laju serve --help",
                    argv[optind], argv[optind]);
  return LAJU_OPTION_BAD;
}

/* The second pass: what the other options say, over the file. 0, or -1 with `why`. */
static int apply_options(const laju_command *command, int argc, char **argv, laju_config *config,
                         char why[LAJU_WHY_SIZE]) {
  const char *value;
  char fault[LAJU_WHY_SIZE];
  int option;
  for (bool start = true; (option = laju_option_next(command, argc, argv, start, &value)) >= 0; start = false) {
    if (option == CONFIG) continue;
    if (value == NULL) value = settings[option].text;
    int error = option == RULE ? laju_config_add_rule(config, value, fault)
                               : laju_config_set(config, settings[option].key, value, fault);
    if (error == 0) continue;
    const char *shown = option == RULE ? value : "";
    snprintf(why, LAJU_WHY_SIZE, "--%s%s%.200s%s: %.700s", options[option].name, shown[0] != '\0' ? " \"" : "", shown,
             shown[0] != '\0' ? "\"" : "", fault);
    return -1;
  }
  return laju_config_verify(config, why);
}

static void print_warning(void *context, const char *warning) {
  (void)context;
  laju_log(LAJU_LOG_WARN, warning, NULL);
}

/* What it takes to configure again, for a reload. */
typedef struct again {
  const laju_command *command;
  int argc;
  char **argv;
  const char *path;
} again;

static int configure_again(void *context, laju_config *out, char why[LAJU_WHY_SIZE]) {
  const again *from = context;
  if (from->path != NULL && laju_config_load(out, from->path, why) < 0) return -1;
  if (apply_options(from->command, from->argc, from->argv, out, why) < 0) return -1;
  if (laju_config_add_default_rule(out) < 0) {
    snprintf(why, LAJU_WHY_SIZE, "memory ran out");
    return -1;
  }
  laju_config_warn(out, print_warning, NULL);
  return 0;
}

/* 0, or the exit code. */
static int configure(const laju_command *command, int argc, char **argv, const char *path, laju_config *config) {
  char why[LAJU_WHY_SIZE];
  if (path != NULL && laju_config_load(config, path, why) < 0) {
    fprintf(stderr, "%s\n", why);
    return LAJU_EXIT_NO;
  }
  if (apply_options(command, argc, argv, config, why) < 0) return laju_command_fail(command, "%s", why);
  if (laju_config_add_default_rule(config) < 0) return laju_command_fail(command, "memory ran out");
  laju_config_warn(config, print_warning, NULL);
  return 0;
}

static int run(const laju_command *command, int argc, char **argv) {
  const char *path;
  int found = find_file(command, argc, argv, &path);
  if (found != LAJU_OPTION_END) return laju_option_exit(found);
  laju_config config;
  laju_config_init(&config);
  laju_sighting seen = path != NULL ? laju_sighting_of(path) : (laju_sighting){0};
  int code = configure(command, argc, argv, path, &config);
  again context = {.command = command, .argc = argc, .argv = argv, .path = path};
  laju_source source = {.path = path, .seen = seen, .load = configure_again, .context = &context};
  if (code == 0) code = laju_server_run(&config, &source);
  laju_config_deinit(&config);
  return code;
}

const laju_command laju_command_serve = {
    .name = "serve",
    .operands = "",
    .summary = "run the limiter as a service, over HTTP and for Redis clients",
    .about =
        "Answers checks over HTTP (POST /v1/check) and to Redis clients (LAJU.CHECK, CL.THROTTLE) until\n"
        "SIGTERM or SIGINT; then it finishes what has begun and writes its snapshot.\n"
        "\n"
        "What the options say goes over what the file says; rules are added to the file's. Where there is\n"
        "no rule at all, there is one named default: 100 a minute for each key.\n"
        "\n"
        "ADDR is HOST:PORT, with an IPv4 address, an IPv6 address in [ ] or * for all interfaces;\n"
        "unix:/PATH; or off. Port 0 takes a free one, which is told at the start.\n"
        "ALGORITHM is token-bucket, leaky-bucket, fixed-window, sliding-window-counter (where none is\n"
        "given) or sliding-window-log. burst is for the two buckets.\n"
        "PERIOD and TIME are a whole number and a unit: us, ms, s, m, h, d or w.\n"
        "URL is redis://HOST:PORT, rediss:// (TLS), unix:/PATH, redis+sentinel://H1,H2/NAME or\n"
        "redis+cluster://H1,H2. With a store, rules are exact across all that share it, unless they say\n"
        "mode: embedded.\n"
        "Passwords stand in files, where other users cannot see them: in the configuration (resp_password,\n"
        "store.redis), or the store's in one of its own (--store-password-file).\n"
        "\n"
        "Exits 0 after SIGTERM, 1 where the file is bad or the server cannot start, 2 where the command\n"
        "line is wrong.\n",
    .examples =
        "  laju serve\n"
        "  laju serve --rule api=100/1m --rule 'login=5/1m token-bucket burst 10'\n"
        "  laju serve --config laju.yaml --http 0.0.0.0:8080 --snapshot /var/lib/laju/table.snap\n"
        "  laju serve --store redis://10.0.0.7 --rule api=100/1m\n"
        "  laju serve --resp unix:/run/laju.sock --http off\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
