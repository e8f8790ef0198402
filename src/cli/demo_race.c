/* laju demo race: what four ways to share one limit let through, on the user's own Redis. */
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "cli/race.h"
#include "config/config.h"

#define REDIS_DEFAULT "redis://127.0.0.1:6379"

enum { REDIS, PASSWORD_FILE, OPTIONS };

static const laju_option options[OPTIONS] = {
    [REDIS] = {"redis", "URL", "the Redis to race on (" REDIS_DEFAULT ")", 0},
    [PASSWORD_FILE] = {"password-file", "PATH", "the file that holds its password", 0},
};

static const char *const settings[OPTIONS] = {[REDIS] = "store.redis", [PASSWORD_FILE] = "store.password_file"};

static const char *const ways[LAJU_RACE_WAYS] = {
    [LAJU_RACE_LOCAL] = "(a) a limiter in each of them",
    [LAJU_RACE_GET_INCR] = "(b) GET, then INCR",
    [LAJU_RACE_MULTI] = "(c) MULTI, INCR, EXEC",
    [LAJU_RACE_SCRIPT] = "(d) laju's script",
};

static const char explanation[] =
    "(a) Each counts for itself, so together they let through thirty times the limit. Nothing is asked, so\n"
    "    nothing is faster: `mode: embedded` is this.\n"
    "(b) Between one client's GET and its INCR others read the same number. How many get through depends on\n"
    "    luck, from 10 to 39 here; the slower the network, the more.\n"
    "(c) Right for this question: of all counts 10 are not above 10. But a refusal was counted and put off the\n"
    "    end of the hour, so that who keeps trying is never served; one that costs more than what is left takes\n"
    "    it all the same; and where several limits are asked, some are charged though another refuses.\n"
    "(d) Reads, decides and writes in one step, whatever the algorithm, the cost and the number of limits. A\n"
    "    refusal writes nothing. `laju serve` also asks for many checks at once and remembers refusals: most of\n"
    "    these would not have reached Redis.\n";

/* Over the defaults. 0, or the exit code. */
static int verify(const laju_command *command, const laju_config *config) {
  char why[LAJU_WHY_SIZE];
  if (laju_config_verify(config, why) < 0) return laju_command_fail(command, "%s", why);
  const laju_store_url *url = &config->store.url;
  if (url->kind == LAJU_STORE_SINGLE && !url->tls) return 0;
  return laju_command_fail(command, "--redis: the race is run on one server without TLS; allowed: redis:// or unix:");
}

static int read_option(void *config, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  return laju_config_set(config, settings[option], value, why);
}

/* LAJU_OPTION_END, or what laju_option_exit takes. */
static int read_options(const laju_command *command, int argc, char **argv, laju_config *config) {
  int option = laju_options_read(command, argc, argv, read_option, config);
  if (option != LAJU_OPTION_END || optind == argc) return option;
  laju_command_fail(command, "\"%s\" is not expected; see laju demo race --help", argv[optind]);
  return LAJU_OPTION_BAD;
}

static int race_all(const laju_command *command, const laju_store_url *url) {
  char why[LAJU_RACE_WHY_SIZE], server[LAJU_STORE_SHOWN_SIZE];
  laju_store_url_show(server, url);
  printf("%d clients, %d requests at once, one limit: %d an hour; on %s\n\n", LAJU_RACE_CLIENTS, LAJU_RACE_REQUESTS,
         LAJU_RACE_LIMIT, server);
  printf("%-30s %10s %12s %12s\n", "", "admitted", "took", "requests/s");
  for (int way = 0; way < LAJU_RACE_WAYS; way++) {
    laju_race_result result;
    fflush(stdout); /* a row as it comes */
    if (laju_race_run(url, (laju_race_way)way, &result, why) < 0) {
      laju_command_fail(command, "%s", why);
      return LAJU_EXIT_NO;
    }
    int64_t took_us = result.took_us > 0 ? result.took_us : 1;
    printf("%-30s %10" PRIu32 " %9.1f ms %12.0f\n", ways[way], result.admitted, (double)took_us / 1e3,
           LAJU_RACE_REQUESTS * 1e6 / (double)took_us);
  }
  printf("\n%s", explanation);
  return 0;
}

static int run(const laju_command *command, int argc, char **argv) {
  laju_config config;
  char why[LAJU_WHY_SIZE];
  laju_config_init(&config);
  laju_config_set(&config, "store.redis", REDIS_DEFAULT, why);
  int found = read_options(command, argc, argv, &config);
  int code = found != LAJU_OPTION_END ? laju_option_exit(found) : verify(command, &config);
  if (found == LAJU_OPTION_END && code == 0) code = race_all(command, &config.store.url);
  laju_config_deinit(&config);
  return code;
}

const laju_command laju_command_demo_race = {
    .name = "demo race",
    .operands = "",
    .summary = "see on your own Redis what four ways to share a limit let through",
    .about =
        "Thirty clients at once ask 5,000 times whether one more of ten an hour may pass: each by a limiter\n"
        "of its own, by GET and INCR, by MULTI and INCR, and by laju's script. Shows how many of them\n"
        "passed, how long it took, and why. Takes some seconds, and leaves nothing behind: its keys have\n"
        "names of their own, begin with laju-race- and are deleted at the end.\n"
        "\n"
        "URL is redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE] or unix:/PATH.\n"
        "Exits 0 when it was shown, 1 where Redis does not answer, 2 where the command line is wrong.\n",
    .examples =
        "  laju demo race\n"
        "  laju demo race --redis redis://10.0.0.7 --password-file /run/secrets/redis\n",
    .options = options,
    .option_count = OPTIONS,
    .run = run,
};
