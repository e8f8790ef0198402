/* laju config check: what `laju serve --config` would say of a file, without serving. */
#include <getopt.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "config/config.h"
#include "server/certs.h"

static void print_warning(void *context, const char *warning) {
  fprintf(stderr, "%s: warning: %s\n", (const char *)context, warning);
}

/* A certificate is often not where a pipeline checks the file: so what keeps a server from starting is a warning here. */
static size_t warn_of_certs(const laju_config *config, char *path) {
  laju_certs certs;
  char why[LAJU_TEXT_SIZE], warning[LAJU_WHY_SIZE];
  if (laju_certs_init(&certs, &config->tls, why) == 0) {
    laju_certs_deinit(&certs);
    return 0;
  }
  snprintf(warning, sizeof warning, "tls: %s; laju serve would not start here", why);
  print_warning(path, warning);
  return 1;
}

static int run(const laju_command *command, int argc, char **argv) {
  const char *value;
  int option = laju_option_next(command, argc, argv, true, &value);
  if (option != LAJU_OPTION_END) return laju_option_exit(option);
  if (argc - optind != 1) return laju_command_fail(command, "one FILE is needed; see laju config check --help");

  char *path = argv[optind], why[LAJU_WHY_SIZE];
  laju_config config;
  laju_config_init(&config);
  if (laju_config_load(&config, path, why) < 0) {
    fprintf(stderr, "%s\n", why);
    return LAJU_EXIT_NO;
  }
  size_t warnings = laju_config_warn(&config, print_warning, path) + warn_of_certs(&config, path);
  printf("%s: good: %zu rule%s", path, config.rule_count, config.rule_count == 1 ? "" : "s");
  if (config.rule_count == 0) printf(" (default, 100 a minute for each key, stands in)");
  if (warnings > 0) printf(", %zu warning%s", warnings, warnings == 1 ? "" : "s");
  putchar('\n');
  laju_config_deinit(&config);
  return 0;
}

const laju_command laju_command_config_check = {
    .name = "config check",
    .operands = "FILE",
    .summary = "read a configuration file and say what is wrong with it",
    .about =
        "Reads a configuration as laju serve --config does, and says where it is wrong: file, line,\n"
        "column, key, value, and what is allowed. Warns of what is allowed and probably not meant.\n"
        "Exits 0 where the file is good, 1 where it is not, 2 where the command line is not.\n",
    .examples =
        "  laju config check laju.yaml\n"
        "  generate-rules | laju config check /dev/stdin\n",
    .run = run,
};
