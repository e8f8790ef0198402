#include "base/base64url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void is(const char *bytes, const char *expected) {
  char to[64];
  size_t len = laju_base64url(to, (const unsigned char *)bytes, strlen(bytes));
  assert_int_equal(len, strlen(expected));
  assert_int_equal(len, LAJU_BASE64URL_LEN(strlen(bytes)));
  assert_memory_equal(to, expected, len);
}

static void the_rfcs_examples_without_padding(void **state) {
  (void)state;
  is("", "");
  is("f", "Zg");
  is("fo", "Zm8");
  is("foo", "Zm9v");
  is("foob", "Zm9vYg");
  is("fooba", "Zm9vYmE");
  is("foobar", "Zm9vYmFy");
}

static void the_last_two_digits_are_for_urls(void **state) {
  (void)state;
  is("\xfb\xff\xfe", "-__-");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rfcs_examples_without_padding),
      cmocka_unit_test(the_last_two_digits_are_for_urls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
