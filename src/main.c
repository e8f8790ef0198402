#include "cli/cli.h"

int main(int argc, char **argv) {
  return laju_cli_main(argc, argv);
}
