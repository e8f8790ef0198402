#include "server/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

__attribute__((noinline)) static int nobody_exports_this(int seed) {
  static volatile int steps;
  for (int i = 0; i < seed; i++) steps += i * seed;
  return steps;
}

static void a_static_function_has_its_name(void **state) {
  (void)state;
  laju_symbols symbols;
  size_t offset = 77;
  assert_int_equal(laju_symbols_open(&symbols), 0);
  const char *code = (const char *)(uintptr_t)nobody_exports_this;
  assert_non_null(strstr(laju_symbols_find(&symbols, code, &offset), "nobody_exports_this"));
  assert_int_equal(offset, 0);
  assert_non_null(strstr(laju_symbols_find(&symbols, code + 3, &offset), "nobody_exports_this"));
  assert_int_equal(offset, 3);
  assert_int_equal(nobody_exports_this(0), 0);
}

static void what_is_not_our_code_has_none(void **state) {
  (void)state;
  laju_symbols symbols;
  size_t offset;
  char here;
  assert_int_equal(laju_symbols_open(&symbols), 0);
  assert_null(laju_symbols_find(&symbols, &here, &offset));
  assert_null(laju_symbols_find(&symbols, NULL, &offset));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_static_function_has_its_name),
      cmocka_unit_test(what_is_not_our_code_has_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
