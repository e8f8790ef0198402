#include "cli/command.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

#define FIRST_VALUE 256 /* getopt's answers for long options: above every letter */
#define HELP_VALUE (FIRST_VALUE + LAJU_OPTIONS_MAX)

static const laju_option help_option = {"help", NULL, "show this help", 'h'};

int laju_command_fail(const laju_command *command, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "laju %s: %s\n", command->name, text);
  return LAJU_EXIT_ERROR;
}

/* ---- help ---------------------------------------------------------------------------------------------------------- */

static void print_option(const laju_option *option, FILE *to) {
  char start[64], letter[8] = "    ";
  if (option->letter != 0) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  snprintf(start, sizeof start, "%s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
           option->argument != NULL ? option->argument : "");
  fprintf(to, "  %-30s %s\n", start, option->help);
}

void laju_command_help(const laju_command *command, FILE *to) {
  fprintf(to, "Usage: laju %s%s%s%s\n\n%s\nOptions:\n", command->name, command->option_count > 0 ? " [OPTION]..." : "",
          command->operands[0] != '\0' ? " " : "", command->operands, command->about);
  for (size_t i = 0; i < command->option_count; i++) print_option(&command->options[i], to);
  print_option(&help_option, to);
  fprintf(to, "\nExamples:\n%s", command->examples);
}

/* ---- options ------------------------------------------------------------------------------------------------------- */

typedef struct tables {
  struct option longs[LAJU_OPTIONS_MAX + 2];
  char letters[2 * LAJU_OPTIONS_MAX + 4];
} tables;

/* The leading ':' makes getopt tell a missing value from an unknown option. */
static void make_tables(const laju_command *command, tables *out) {
  size_t letters = 0;
  *out = (tables){0};
  out->letters[letters++] = ':';
  out->letters[letters++] = 'h';
  for (size_t i = 0; i < command->option_count; i++) {
    const laju_option *option = &command->options[i];
    int takes = option->argument != NULL ? required_argument : no_argument;
    out->longs[i] = (struct option){option->name, takes, NULL, FIRST_VALUE + (int)i};
    if (option->letter == 0) continue;
    out->letters[letters++] = option->letter;
    if (takes == required_argument) out->letters[letters++] = ':';
  }
  out->longs[command->option_count] = (struct option){"help", no_argument, NULL, HELP_VALUE};
}

static int find_letter(const laju_command *command, int letter) {
  for (size_t i = 0; i < command->option_count; i++) {
    if (command->options[i].letter == letter) return (int)i;
  }
  return LAJU_OPTION_BAD;
}

/* `written` is what stands on the command line: "--htp=x", "-x". */
static void complain_unknown(const laju_command *command, const char *written) {
  const char *names[LAJU_OPTIONS_MAX + 1];
  size_t len = strcspn(written, "=");
  for (size_t i = 0; i < command->option_count; i++) names[i] = command->options[i].name;
  names[command->option_count] = "help";
  bool is_long = strncmp(written, "--", 2) == 0;
  const char *hint = is_long ? laju_nearest(written + 2, len - 2, names, command->option_count + 1) : NULL;
  laju_command_fail(command, "unknown option \"%.*s\";%s%s%s see laju %s --help", (int)len, written,
                    hint != NULL ? " did you mean \"--" : "", hint != NULL ? hint : "", hint != NULL ? "\"?" : "",
                    command->name);
}

/* getopt's '?' and ':' with what it left behind. */
static int complain(const laju_command *command, int found, char **argv) {
  const char *written = argv[optind - 1];
  char letter[3] = {'-', (char)optopt, '\0'};
  bool is_letter = optopt > 0 && optopt < FIRST_VALUE;
  if (is_letter) written = letter;
  if (found == ':') {
    laju_command_fail(command, "%s needs a value; see laju %s --help", written, command->name);
  } else if (optopt >= FIRST_VALUE) {
    laju_command_fail(command, "%.*s takes no value; see laju %s --help", (int)strcspn(written, "="), written,
                      command->name);
  } else {
    complain_unknown(command, written);
  }
  return LAJU_OPTION_BAD;
}

int laju_option_next(const laju_command *command, int argc, char **argv, bool start, const char **value) {
  tables all;
  make_tables(command, &all);
  if (start) optind = 0; /* glibc: forget the last command line entirely */
  opterr = 0;
  int found = getopt_long(argc, argv, all.letters, all.longs, NULL);
  *value = optarg;
  if (found == -1) return LAJU_OPTION_END;
  if (found == '?' || found == ':') return complain(command, found, argv);
  if (found == 'h' || found == HELP_VALUE) {
    laju_command_help(command, stdout);
    return LAJU_OPTION_HELP;
  }
  return found >= FIRST_VALUE ? found - FIRST_VALUE : find_letter(command, found);
}

int laju_options_read(const laju_command *command, int argc, char **argv, laju_option_reader *read, void *to) {
  const char *value;
  char why[LAJU_WHY_SIZE];
  int option;
  for (bool start = true; (option = laju_option_next(command, argc, argv, start, &value)) >= 0; start = false) {
    if (read(to, option, value, why) == 0) continue;
    laju_command_fail(command, "--%s: %s", command->options[option].name, why);
    return LAJU_OPTION_BAD;
  }
  return option;
}

int laju_option_find_file(const laju_command *command, int argc, char **argv, int wanted, const char **value) {
  const char *found;
  int option;
  *value = NULL;
  for (bool start = true; (option = laju_option_next(command, argc, argv, start, &found)) >= 0; start = false) {
    if (option != wanted) continue;
    if (*value != NULL) {
      laju_command_fail(command, "--%s is given twice; allowed: one file", command->options[wanted].name);
      return LAJU_OPTION_BAD;
    }
    *value = found;
  }
  return option;
}

int laju_option_exit(int result) {
  return result == LAJU_OPTION_HELP ? 0 : LAJU_EXIT_ERROR;
}
