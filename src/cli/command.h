/* A subcommand as a table: what it is called, which options it takes, what its help says, and what runs it. Help text,
 * getopt's tables and "did you mean" all come from here. */
#ifndef LAJU_CLI_COMMAND_H
#define LAJU_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/config.h"

#define LAJU_OPTIONS_MAX 32 /* of one command, --help included */

typedef struct laju_option {
  const char *name;     /* without its dashes: "config" */
  const char *argument; /* "FILE"; NULL where it takes none */
  const char *help;     /* one line of at most 80 characters */
  char letter;          /* 'c' for -c; 0: none */
} laju_option;

typedef struct laju_command laju_command;
struct laju_command {
  const char *name;     /* "serve", "config check" */
  const char *operands; /* what follows the options: "RULE KEY"; "": nothing */
  const char *summary;  /* one line, for the list of commands */
  const char *about;    /* the help's first part: what it does and says, with its exit codes */
  const char *examples; /* its last part */
  const laju_option *options;
  size_t option_count;
  int (*run)(const laju_command *command, int argc, char **argv); /* argv[0] is the command; returns the exit code */
};

extern const laju_command laju_command_serve;
extern const laju_command laju_command_check;
extern const laju_command laju_command_replay;
extern const laju_command laju_command_bench;
extern const laju_command laju_command_config_check;
extern const laju_command laju_command_demo_race;
extern const laju_command laju_command_version;

/* What laju_option_next returns beside an index into the command's options. */
#define LAJU_OPTION_END (-1)  /* operands follow, from optind on */
#define LAJU_OPTION_HELP (-2) /* --help: printed; exit with 0 */
#define LAJU_OPTION_BAD (-3)  /* said on stderr; exit with LAJU_EXIT_ERROR */

/* The next option of argv, with its `*value` (NULL where it takes none). `start` begins anew. Operands may stand between
 * options; `--` ends the options. */
int laju_option_next(const laju_command *command, int argc, char **argv, bool start, const char **value);

/* Gives every option to `read`, which returns 0, or -1 with `why`. LAJU_OPTION_END, or what laju_option_exit takes. */
typedef int laju_option_reader(void *to, int option, const char *value, char why[LAJU_WHY_SIZE]);
int laju_options_read(const laju_command *command, int argc, char **argv, laju_option_reader *read, void *to);

/* The value of `wanted`, the option that names a file, wherever it stands; NULL where it does not. `*value` is written always.
 * LAJU_OPTION_END, or what laju_option_exit takes: so where it is given twice. */
int laju_option_find_file(const laju_command *command, int argc, char **argv, int wanted, const char **value);

/* The exit code for LAJU_OPTION_HELP or LAJU_OPTION_BAD. */
int laju_option_exit(int result);

void laju_command_help(const laju_command *command, FILE *to);

/* `laju check: ...` on stderr, one line. Returns LAJU_EXIT_ERROR. */
int laju_command_fail(const laju_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
