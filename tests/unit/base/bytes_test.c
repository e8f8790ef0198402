#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void integers_lie_with_their_low_byte_first(void **state) {
  (void)state;
  unsigned char bytes[8];
  laju_store64(bytes, UINT64_C(0x0807060504030201));
  assert_memory_equal(bytes, "\1\2\3\4\5\6\7\10", 8);
  laju_store32(bytes, 0xfefdfcfb);
  assert_memory_equal(bytes, "\xfb\xfc\xfd\xfe\5\6\7\10", 8);
}

static void they_are_read_at_any_address(void **state) {
  (void)state;
  unsigned char bytes[24] = {0};
  for (size_t at = 0; at < 8; at++) {
    laju_store64(bytes + at, UINT64_C(0xdeadbeef01020304));
    assert_true(laju_load64(bytes + at) == UINT64_C(0xdeadbeef01020304));
    assert_int_equal(laju_load32(bytes + at), 0x01020304);
    assert_int_equal(laju_load32(bytes + at + 4), 0xdeadbeef);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_lie_with_their_low_byte_first),
      cmocka_unit_test(they_are_read_at_any_address),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
