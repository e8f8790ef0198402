#include <laju/laju.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_error_names_a_field_and_what_is_allowed(void **state) {
  (void)state;
  for (int error = LAJU_ERR_SNAPSHOT; error <= LAJU_ERR_LIMIT; error++) {
    assert_true(strlen(laju_error_field(error)) > 0);
    assert_string_not_equal(laju_error_allowed(error), "unknown error");
  }
}

static void what_is_no_error_is_called_unknown(void **state) {
  (void)state;
  int none[] = {0, 1, LAJU_ERR_SNAPSHOT - 1, -1000};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    assert_string_equal(laju_error_field(none[i]), "");
    assert_string_equal(laju_error_allowed(none[i]), "unknown error");
  }
}

static void the_ranges_told_are_those_of_the_header(void **state) {
  (void)state;
  assert_int_equal(LAJU_TOKENS_MAX, UINT64_C(4294967295));
  assert_string_equal(laju_error_allowed(LAJU_ERR_COST), "0 to 4294967295");
  assert_int_equal(LAJU_LOG_LIMIT_MAX, 65536);
  assert_non_null(strstr(laju_error_allowed(LAJU_ERR_LIMIT), "0 to 65536"));
  assert_int_equal(LAJU_PERIOD_MAX_US, INT64_C(366) * 86400 * 1000000);
  assert_string_equal(laju_error_allowed(LAJU_ERR_PERIOD), "1ms to 366d");
  assert_int_equal(LAJU_TIME_MAX_US, INT64_C(9007199254740991));
  assert_non_null(strstr(laju_error_allowed(LAJU_ERR_TIME), "9007199254740991"));
  assert_int_equal(LAJU_KEY_MAX, 1024);
  assert_string_equal(laju_error_allowed(LAJU_ERR_KEY), "1 to 1024 bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_error_names_a_field_and_what_is_allowed),
      cmocka_unit_test(what_is_no_error_is_called_unknown),
      cmocka_unit_test(the_ranges_told_are_those_of_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
