#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/duration.h"

#define UNTOUCHED INT64_C(-77)

static int64_t duration(const char *text) {
  int64_t us = UNTOUCHED;
  int error = laju_duration_parse(text, strlen(text), &us);
  assert_int_equal(error, us == UNTOUCHED ? -1 : 0);
  return us;
}

static uint64_t size_of(const char *text) {
  uint64_t bytes = UINT64_MAX;
  int error = laju_size_parse(text, strlen(text), &bytes);
  assert_int_equal(error, bytes == UINT64_MAX ? -1 : 0);
  return bytes;
}

static const char *text_of(int64_t us) {
  static char text[24];
  size_t len = laju_duration_format(text, sizeof text, us);
  assert_int_equal(len, strlen(text));
  return text;
}

static void every_unit_is_read(void **state) {
  (void)state;
  assert_int_equal(duration("7us"), 7);
  assert_int_equal(duration("250ms"), 250000);
  assert_int_equal(duration("90s"), 90000000);
  assert_int_equal(duration("1m"), 60000000);
  assert_int_equal(duration("2h"), INT64_C(7200000000));
  assert_int_equal(duration("366d"), INT64_C(31622400000000));
  assert_int_equal(duration("1w"), INT64_C(604800000000));
  assert_int_equal(duration("0s"), 0);
}

static void what_is_no_duration_is_refused(void **state) {
  (void)state;
  static const char *const refused[] = {"",     "5",  "s",    "1 s",   " 1s",  "1s ",  "-1s", "+1s",
                                        "1.5s", "1S", "1min", "1h30m", "0x1s", "1e3s", "1,0s"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) assert_int_equal(duration(refused[i]), UNTOUCHED);
}

static void the_largest_duration_fits_and_one_more_is_refused(void **state) {
  (void)state;
  assert_int_equal(duration("9223372036854775807us"), INT64_MAX);
  assert_int_equal(duration("9223372036854775808us"), UNTOUCHED);
  assert_int_equal(duration("18446744073709551616us"), UNTOUCHED);
  assert_int_equal(duration("15250285w"), UNTOUCHED);
  assert_int_equal(duration("99999999999999999999999999999999s"), UNTOUCHED);
}

static void only_the_given_length_is_read(void **state) {
  (void)state;
  int64_t us = 0;
  assert_int_equal(laju_duration_parse("10ms", 3, &us), 0);
  assert_int_equal(us, 10 * INT64_C(60000000));
}

static void a_duration_is_written_with_the_largest_unit_that_divides_it(void **state) {
  (void)state;
  assert_string_equal(text_of(0), "0s");
  assert_string_equal(text_of(1), "1us");
  assert_string_equal(text_of(1500), "1500us");
  assert_string_equal(text_of(250000), "250ms");
  assert_string_equal(text_of(90000000), "90s");
  assert_string_equal(text_of(60000000), "1m");
  assert_string_equal(text_of(INT64_C(5400000000)), "90m");
  assert_string_equal(text_of(INT64_C(86400000000)), "1d");
  assert_string_equal(text_of(INT64_C(1209600000000)), "2w");
  assert_string_equal(text_of(INT64_MAX), "9223372036854775807us");
}

static void what_is_written_is_read_back(void **state) {
  (void)state;
  for (int64_t us = 1; us < INT64_MAX / 13; us = us * 13 + 7) assert_int_equal(duration(text_of(us)), us);
}

static void sizes_are_binary_and_carry_their_unit(void **state) {
  (void)state;
  assert_int_equal(size_of("0B"), 0);
  assert_int_equal(size_of("4096B"), 4096);
  assert_int_equal(size_of("64KiB"), 65536);
  assert_int_equal(size_of("256MiB"), 268435456);
  assert_int_equal(size_of("3GiB"), UINT64_C(3221225472));
  assert_int_equal(size_of("1TiB"), UINT64_C(1099511627776));
  assert_int_equal(size_of("16777215TiB"), UINT64_C(16777215) << 40);
  static const char *const refused[] = {"",      "1",     "MiB",    "1MB",         "1mib",
                                        "1 MiB", "-1MiB", "1.5GiB", "16777216TiB", "99999999999999999999B"};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) assert_true(size_of(refused[i]) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_unit_is_read),
      cmocka_unit_test(what_is_no_duration_is_refused),
      cmocka_unit_test(the_largest_duration_fits_and_one_more_is_refused),
      cmocka_unit_test(only_the_given_length_is_read),
      cmocka_unit_test(a_duration_is_written_with_the_largest_unit_that_divides_it),
      cmocka_unit_test(what_is_written_is_read_back),
      cmocka_unit_test(sizes_are_binary_and_carry_their_unit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
