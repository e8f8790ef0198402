#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t of(const char *text) {
  return laju_utf8_length(text, strlen(text));
}

static void a_character_has_one_to_four_bytes(void **state) {
  (void)state;
  assert_int_equal(of("a"), 1);
  assert_int_equal(of("\x7f"), 1);
  assert_int_equal(of("\xc3\xa9"), 2);
  assert_int_equal(of("\xe2\x82\xac"), 3);
  assert_int_equal(of("\xf4\x8f\xbf\xbf"), 4);
}

static void what_is_cut_too_long_or_no_character_is_none(void **state) {
  (void)state;
  static const char *const bad[] = {"\x80",
                                    "\xc3",
                                    "\xc3z",
                                    "\xc0\x80",
                                    "\xe2\x82",
                                    "\xe0\x80\x80",
                                    "\xed\xa0\x80",
                                    "\xff",
                                    "\xf4\x90\x80\x80",
                                    "\xf0\x80\x80\x80",
                                    "\xf5\x80\x80\x80"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(of(bad[i]), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_character_has_one_to_four_bytes),
      cmocka_unit_test(what_is_cut_too_long_or_no_character_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
