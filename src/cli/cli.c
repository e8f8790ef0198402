#include "cli/cli.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"

static const laju_command *const commands[] = {
    &laju_command_serve,        &laju_command_check,     &laju_command_bench,   &laju_command_replay,
    &laju_command_config_check, &laju_command_demo_race, &laju_command_version, NULL,
};

#define COMMANDS (sizeof commands / sizeof commands[0] - 1)

static void print_help(FILE *to) {
  fputs(
      "Usage: laju COMMAND [OPTION]...\n\n"
      "laju limits rates: it answers whether a caller may do something now.\n\n"
      "Commands:\n",
      to);
  for (size_t i = 0; commands[i] != NULL; i++) fprintf(to, "  %-14s %s\n", commands[i]->name, commands[i]->summary);
  fputs(
      "  help           show this help, or that of a command\n\n"
      "Each command has --help of its own.\n\n"
      "Examples:\n"
      "  laju serve &\n"
      "  curl -d '{\"rule\":\"default\",\"key\":\"user:42\"}' http://127.0.0.1:8080/v1/check\n"
      "  laju check default user:42\n",
      to);
}

/* How many words of argv name the command: 0 where they do not. */
static int match(const laju_command *command, int argc, char **argv) {
  const char *rest = command->name;
  for (int i = 0; i < argc; i++) {
    size_t len = strcspn(rest, " ");
    if (strlen(argv[i]) != len || memcmp(argv[i], rest, len) != 0) return 0;
    if (rest[len] == '\0') return i + 1;
    rest += len + 1;
  }
  return 0;
}

static const laju_command *find(int argc, char **argv, int *words) {
  for (size_t i = 0; commands[i] != NULL; i++) {
    *words = match(commands[i], argc, argv);
    if (*words > 0) return commands[i];
  }
  return NULL;
}

/* The command of two words that begins with this one; NULL where none does. */
static const laju_command *find_group(const char *word) {
  size_t len = strlen(word);
  for (size_t i = 0; commands[i] != NULL; i++) {
    if (strncmp(commands[i]->name, word, len) == 0 && commands[i]->name[len] == ' ') return commands[i];
  }
  return NULL;
}

/* `config` alone, or with another word than `check`, is near to `config check` too. */
static int complain_unknown(int argc, char **argv) {
  const char *names[COMMANDS + 1] = {"help"};
  for (size_t i = 0; commands[i] != NULL; i++) names[i + 1] = commands[i]->name;
  char written[LAJU_NEAREST_WORD_MAX + 1];
  const laju_command *group = find_group(argv[0]);
  bool two = argc > 1 && argv[1][0] != '-' && group != NULL;
  snprintf(written, sizeof written, "%.30s%s%.30s", argv[0], two ? " " : "", two ? argv[1] : "");
  const char *hint = laju_nearest(written, strlen(written), names, COMMANDS + 1);
  if (written[0] == '-') hint = laju_nearest(written, strlen(written), (const char *[]){"--help", "--version"}, 2);
  if (hint == NULL && group != NULL) hint = group->name;
  fprintf(stderr, "laju: unknown command \"%s\";%s%s%s see laju --help\n", written,
          hint != NULL ? " did you mean \"" : "", hint != NULL ? hint : "", hint != NULL ? "\"?" : "");
  return LAJU_EXIT_ERROR;
}

static int help(int argc, char **argv) {
  if (argc == 0) {
    print_help(stdout);
    return 0;
  }
  int words;
  const laju_command *command = find(argc, argv, &words);
  if (command == NULL) return complain_unknown(argc, argv);
  laju_command_help(command, stdout);
  return 0;
}

static bool is_one_of(const char *text, const char *a, const char *b) {
  return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

/* `laju config --help`: the group's only command stands for it. */
static const laju_command *asks_group_help(int argc, char **argv) {
  return argc == 3 && is_one_of(argv[2], "--help", "-h") ? find_group(argv[1]) : NULL;
}

static int run(int argc, char **argv) {
  if (argc < 2) {
    print_help(stderr);
    return LAJU_EXIT_ERROR;
  }
  if (is_one_of(argv[1], "--help", "-h")) return help(0, NULL);
  const laju_command *group = asks_group_help(argc, argv);
  if (group != NULL) {
    laju_command_help(group, stdout);
    return 0;
  }
  if (strcmp(argv[1], "help") == 0) return help(argc - 2, argv + 2);
  if (is_one_of(argv[1], "--version", "-V")) return laju_command_version.run(&laju_command_version, 1, argv);
  int words;
  const laju_command *command = find(argc - 1, argv + 1, &words);
  if (command == NULL) return complain_unknown(argc - 1, argv + 1);
  return command->run(command, argc - words, argv + words);
}

int laju_cli_main(int argc, char **argv) {
  int code = run(argc, argv);
  /* an answer that could not be written was not given */
  if (fflush(stdout) == 0) return code;
  fprintf(stderr, "laju: cannot write to stdout: %s\n", strerror(errno));
  return LAJU_EXIT_ERROR;
}
