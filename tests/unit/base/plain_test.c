#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/plain.h"

static void plain_text_is_letters_digits_and_five_marks(void **unused) {
  (void)unused;
  assert_true(laju_plain("prod:laju", 9));
  assert_true(laju_plain("AZaz09_.:@-", 11));
  const char others[] = " !\"#$%&'()*+,/;<=>?[\\]^`{|}~\x7f\x80";
  for (size_t i = 0; i < sizeof others; i++) assert_false(laju_plain(&others[i], 1)); /* the 0 too */
}

static void plain_text_is_one_to_sixty_four_bytes_long(void **unused) {
  (void)unused;
  char text[65];
  memset(text, 'a', sizeof text);
  assert_false(laju_plain(text, 0));
  assert_true(laju_plain(text, 64));
  assert_false(laju_plain(text, 65));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_text_is_letters_digits_and_five_marks),
      cmocka_unit_test(plain_text_is_one_to_sixty_four_bytes_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
