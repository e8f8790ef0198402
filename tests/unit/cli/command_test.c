#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <getopt.h>

#include "cli/cli.h"
#include "cli/command.h"

enum { CONFIG, HTTP, QUIET, OPTIONS };

static const laju_option options[OPTIONS] = {
    [CONFIG] = {"config", "FILE", "a file", 'c'},
    [HTTP] = {"http", "ADDR", "an address", 0},
    [QUIET] = {"quiet", NULL, "say less", 'q'},
};

static const laju_command command = {.name = "try",
                                     .operands = "WORD",
                                     .about = "Tries.\n",
                                     .examples = "  laju try\n",
                                     .options = options,
                                     .option_count = OPTIONS};

#define ARGV_MAX 8

static char *argv[ARGV_MAX + 1];
static int argc;

/* The words of a command line, after the command's own. */
static void line(const char *words) {
  static char text[256];
  snprintf(text, sizeof text, "try %s", words);
  argc = 0;
  for (char *at = text, *word; (word = strsep(&at, " ")) != NULL;) {
    if (word[0] != '\0' && argc < ARGV_MAX) argv[argc++] = word;
  }
  argv[argc] = NULL;
}

static int next(bool start, const char *value) {
  const char *got = NULL;
  int option = laju_option_next(&command, argc, argv, start, &got);
  if (value == NULL) {
    assert_null(got);
  } else {
    assert_string_equal(got, value);
  }
  return option;
}

/* What is written to `stream` by the first option of a line that returns `result`. */
static const char *said(FILE *stream, const char *words, int result) {
  static char text[4096];
  const char *value;
  line(words);
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stream);
  int kept = dup(fileno(stream));
  dup2(fileno(file), fileno(stream));
  int option = laju_option_next(&command, argc, argv, true, &value);
  fflush(stream);
  dup2(kept, fileno(stream));
  close(kept);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_int_equal(option, result);
  return text;
}

static void options_come_in_order_with_their_values(void **state) {
  (void)state;
  line("--config a.yaml -q --http=127.0.0.1:1 -cb.yaml -c c.yaml");
  assert_int_equal(next(true, "a.yaml"), CONFIG);
  assert_int_equal(next(false, NULL), QUIET);
  assert_int_equal(next(false, "127.0.0.1:1"), HTTP);
  assert_int_equal(next(false, "b.yaml"), CONFIG);
  assert_int_equal(next(false, "c.yaml"), CONFIG);
  assert_int_equal(next(false, NULL), LAJU_OPTION_END);
}

static void operands_may_stand_between(void **state) {
  (void)state;
  line("one -q two");
  assert_int_equal(next(true, NULL), QUIET);
  assert_int_equal(next(false, NULL), LAJU_OPTION_END);
  assert_int_equal(argc - optind, 2);
  assert_string_equal(argv[optind], "one");
}

static void two_dashes_end_the_options(void **state) {
  (void)state;
  line("-- -q");
  assert_int_equal(next(true, NULL), LAJU_OPTION_END);
  assert_string_equal(argv[optind], "-q");
}

static void a_second_pass_sees_all_again(void **state) {
  (void)state;
  line("x --config a -q");
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(next(true, "a"), CONFIG);
    assert_int_equal(next(false, NULL), QUIET);
    assert_int_equal(next(false, NULL), LAJU_OPTION_END);
  }
}

static void an_unknown_option_is_told_the_nearest(void **state) {
  (void)state;
  assert_string_equal(said(stderr, "--confg a", LAJU_OPTION_BAD),
                      "laju try: unknown option \"--confg\"; did you mean \"--config\"? see laju try --help\n");
  assert_string_equal(said(stderr, "--htp=1", LAJU_OPTION_BAD),
                      "laju try: unknown option \"--htp\"; did you mean \"--http\"? see laju try --help\n");
  assert_string_equal(said(stderr, "--colour", LAJU_OPTION_BAD),
                      "laju try: unknown option \"--colour\"; see laju try --help\n");
  assert_string_equal(said(stderr, "-z", LAJU_OPTION_BAD), "laju try: unknown option \"-z\"; see laju try --help\n");
}

static void a_value_that_is_missing_or_too_much_is_told(void **state) {
  (void)state;
  assert_string_equal(said(stderr, "--config", LAJU_OPTION_BAD),
                      "laju try: --config needs a value; see laju try --help\n");
  assert_string_equal(said(stderr, "-c", LAJU_OPTION_BAD), "laju try: -c needs a value; see laju try --help\n");
  assert_string_equal(said(stderr, "--quiet=1", LAJU_OPTION_BAD),
                      "laju try: --quiet takes no value; see laju try --help\n");
}

static void help_holds_all_there_is(void **state) {
  (void)state;
  assert_string_equal(said(stdout, "--help", LAJU_OPTION_HELP),
                      "Usage: laju try [OPTION]... WORD\n\n"
                      "Tries.\n\n"
                      "Options:\n"
                      "  -c, --config FILE              a file\n"
                      "      --http ADDR                an address\n"
                      "  -q, --quiet                    say less\n"
                      "  -h, --help                     show this help\n\n"
                      "Examples:\n"
                      "  laju try\n");
  assert_int_equal(laju_option_exit(LAJU_OPTION_HELP), 0);
  assert_int_equal(laju_option_exit(LAJU_OPTION_BAD), LAJU_EXIT_ERROR);
}

static int read_word(void *to, int option, const char *value, char why[LAJU_WHY_SIZE]) {
  char *all = to;
  if (option == HTTP && strcmp(value, "bad") == 0) {
    snprintf(why, LAJU_WHY_SIZE, "it is bad");
    return -1;
  }
  snprintf(all + strlen(all), 64 - strlen(all), "%s=%s ", options[option].name, value != NULL ? value : "");
  return 0;
}

static void all_options_are_read_until_one_is_refused(void **state) {
  (void)state;
  char all[64] = "";
  line("--http a word -q --http b");
  assert_int_equal(laju_options_read(&command, argc, argv, read_word, all), LAJU_OPTION_END);
  assert_string_equal(all, "http=a quiet= http=b ");
  all[0] = '\0';
  line("-q --http bad --http b");
  assert_int_equal(laju_options_read(&command, argc, argv, read_word, all), LAJU_OPTION_BAD);
  assert_string_equal(all, "quiet= ");
}

static void a_file_is_found_wherever_it_stands_and_only_once(void **state) {
  (void)state;
  const char *path = "before";
  line("--http a word");
  assert_int_equal(laju_option_find_file(&command, argc, argv, CONFIG, &path), LAJU_OPTION_END);
  assert_null(path);
  line("word -q -c laju.yaml");
  assert_int_equal(laju_option_find_file(&command, argc, argv, CONFIG, &path), LAJU_OPTION_END);
  assert_string_equal(path, "laju.yaml");
  line("-c laju.yaml -c laju.yaml");
  assert_int_equal(laju_option_find_file(&command, argc, argv, CONFIG, &path), LAJU_OPTION_BAD);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_come_in_order_with_their_values),
      cmocka_unit_test(operands_may_stand_between),
      cmocka_unit_test(two_dashes_end_the_options),
      cmocka_unit_test(a_second_pass_sees_all_again),
      cmocka_unit_test(an_unknown_option_is_told_the_nearest),
      cmocka_unit_test(a_value_that_is_missing_or_too_much_is_told),
      cmocka_unit_test(help_holds_all_there_is),
      cmocka_unit_test(all_options_are_read_until_one_is_refused),
      cmocka_unit_test(a_file_is_found_wherever_it_stands_and_only_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
