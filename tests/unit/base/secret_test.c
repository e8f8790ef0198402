#include "base/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_same_bytes_are_equal(void **state) {
  (void)state;
  assert_true(laju_secret_equal("sesame", 6, "sesame", 6));
  assert_true(laju_secret_equal("a\0b", 3, "a\0b", 3));
  assert_true(laju_secret_equal("", 0, "", 0));
}

static void one_different_byte_anywhere_is_seen(void **state) {
  (void)state;
  assert_false(laju_secret_equal("sesame", 6, "Sesame", 6));
  assert_false(laju_secret_equal("sesame", 6, "sesbme", 6));
  assert_false(laju_secret_equal("sesame", 6, "sesamf", 6));
  assert_false(laju_secret_equal("a\0b", 3, "a\0c", 3));
}

static void another_length_is_never_equal(void **state) {
  (void)state;
  assert_false(laju_secret_equal("sesame", 6, "sesam", 5));
  assert_false(laju_secret_equal("sesame", 6, "", 0));
  assert_false(laju_secret_equal("sesame", 6, "sesames", 7));
  assert_false(laju_secret_equal("ab", 2, "abab", 4)); /* the secret is walked round and round */
  assert_false(laju_secret_equal("", 0, "\0", 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_bytes_are_equal),
      cmocka_unit_test(one_different_byte_anywhere_is_seen),
      cmocka_unit_test(another_length_is_never_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
