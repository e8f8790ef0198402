/* laju version */
#include <laju/laju.h>

#include "cli/cli.h"
#include "cli/command.h"

#include <getopt.h>

static int run(const laju_command *command, int argc, char **argv) {
  const char *value;
  int option = laju_option_next(command, argc, argv, true, &value);
  if (option != LAJU_OPTION_END) return laju_option_exit(option);
  if (optind < argc) return laju_command_fail(command, "\"%s\" is not expected; see laju version --help", argv[optind]);
  printf("laju %s\n", laju_version());
  return 0;
}

const laju_command laju_command_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .about = "Prints the version.\n",
    .examples = "  laju version\n",
    .run = run,
};
