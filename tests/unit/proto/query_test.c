#include "proto/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_percent_sign_and_two_digits_are_a_byte_and_a_plus_is_a_space(void **state) {
  char text[] = "a%3ab+c%2Bd%zz%4";
  (void)state;
  size_t len = laju_query_decode(text, (laju_slice){text, strlen(text)});
  assert_int_equal(len, 12);
  assert_memory_equal(text, "a:b c+d%zz%4", 12);
}

static void names_are_compared_decoded(void **state) {
  (void)state;
  assert_true(laju_query_is_named((laju_slice){"r%75le", 6}, "rule"));
  assert_false(laju_query_is_named((laju_slice){"rules", 5}, "rule"));
  assert_false(laju_query_is_named((laju_slice){"rul", 3}, "rule"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_percent_sign_and_two_digits_are_a_byte_and_a_plus_is_a_space),
      cmocka_unit_test(names_are_compared_decoded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
