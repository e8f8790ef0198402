#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/grid.h"
#include "replay/printed.h"

static void prints(size_t width, const char *const *cells, size_t count, const char *expected) {
  laju_grid grid = {.columns = 3, .right = 1 << 1, .flexible = 2};
  for (size_t i = 0; i < count; i++) {
    laju_grid_cell(&grid);
    laju_buffer_add_text(&grid.text, cells[i]);
  }
  laju_grid_print(&grid, width, &printed);
  laju_grid_deinit(&grid);
  printed_is(expected);
}

static void columns_are_as_wide_as_they_must_be(void **state) {
  (void)state;
  static const char *const cells[] = {"RULE", "N", "KEY", "r", "1,000", "a", "caf\xc3\xa9s", "5", ""};
  prints(0, cells, 9, "RULE       N  KEY\nr      1,000  a\ncaf\xc3\xa9s      5  \n");
}

static void one_column_gives_way(void **state) {
  (void)state;
  static const char *const cells[] = {"R", "N", "KEY", "r", "1", "0123456789abcdefghij"};
  prints(26, cells, 6, "R  N  KEY\nr  1  0123456789abcdefghij\n");
  prints(25, cells, 6, "R  N  KEY\nr  1  0123456789abcdef...\n");
  prints(18, cells, 6, "R  N  KEY\nr  1  012345678...\n");
  prints(10, cells, 6, "R  N  KEY\nr  1  012345678...\n"); /* not below 12 */
}

#define FOUR "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"

static void characters_are_cut_whole(void **state) {
  (void)state;
  static const char thirteen[] = FOUR FOUR FOUR "\xc3\xa9";
  const char *const cells[] = {"r", "1", thirteen};
  prints(18, cells, 3, "r  1  " FOUR FOUR "\xc3\xa9...\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_as_wide_as_they_must_be),
      cmocka_unit_test(one_column_gives_way),
      cmocka_unit_test(characters_are_cut_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
