#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/progress.h"

static void shows(size_t width, laju_progress_state state, const char *text) {
  char line[LAJU_PROGRESS_SIZE];
  assert_int_equal(laju_progress_format(line, width, &state), strlen(text));
  assert_string_equal(line, text);
}

static const laju_progress_state halfway = {.done = 50, .all = 100, .lines = 1200000, .elapsed_us = 2000000};

static void a_bar_with_figures_behind_it(void **state) {
  (void)state;
  shows(72, halfway, "[##########----------]  50%  1,200,000 lines, 600,000 a second, 2s left");
}

static void the_bar_is_at_most_40_columns(void **state) {
  (void)state;
  shows(1000, halfway, "[####################--------------------]  50%  1,200,000 lines, 600,000 a second, 2s left");
}

static void a_narrow_terminal_gets_the_figures_alone_and_no_more_than_fit(void **state) {
  (void)state;
  shows(60, halfway, " 50%  1,200,000 lines, 600,000 a second, 2s left");
  shows(20, halfway, " 50%  1,200,000 line");
  shows(0, halfway, "");
}

static void without_a_size_there_is_no_bar(void **state) {
  (void)state;
  shows(80, (laju_progress_state){.done = 50, .lines = 10, .elapsed_us = 1000000}, "10 lines, 10 a second");
}

static void the_first_moment_divides_by_nothing(void **state) {
  (void)state;
  shows(80, (laju_progress_state){.all = 100}, "[----------------------------------------]   0%  0 lines");
}

static void a_file_that_grew_is_never_more_than_whole(void **state) {
  (void)state;
  shows(30, (laju_progress_state){.done = 150, .all = 100, .lines = 5, .elapsed_us = 1000000},
        "100%  5 lines, 5 a second, 0s ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bar_with_figures_behind_it),
      cmocka_unit_test(the_bar_is_at_most_40_columns),
      cmocka_unit_test(a_narrow_terminal_gets_the_figures_alone_and_no_more_than_fit),
      cmocka_unit_test(without_a_size_there_is_no_bar),
      cmocka_unit_test(the_first_moment_divides_by_nothing),
      cmocka_unit_test(a_file_that_grew_is_never_more_than_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
