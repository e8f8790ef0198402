#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/access_time.h"

#include <laju/laju.h>

#define SECOND INT64_C(1000000)
#define AT (INT64_C(1791640536) * SECOND) /* 2026-10-10 13:55:36 UTC */

static int64_t read(const char *text) {
  int64_t us = -2;
  return laju_access_time_parse((laju_slice){text, strlen(text)}, &us) == 0 ? us : -1;
}

static void the_common_log_formats_zone_counts(void **state) {
  (void)state;
  assert_int_equal(read("10/Oct/2026:13:55:36 +0000"), AT);
  assert_int_equal(read("10/Oct/2026:13:55:36 -0700"), AT + 7 * 3600 * SECOND);
  assert_int_equal(read("10/Oct/2026:19:25:36 +0530"), AT);
  assert_int_equal(read("01/Jan/1970:00:00:00 +0000"), 0);
  assert_int_equal(read("29/Feb/2028:12:00:00 +0000"), INT64_C(1835438400) * SECOND);
}

static void iso_times_may_have_a_fraction_and_a_zone(void **state) {
  (void)state;
  assert_int_equal(read("2026-10-10T13:55:36Z"), AT);
  assert_int_equal(read("2026-10-10 13:55:36"), AT);
  assert_int_equal(read("2026-10-10T15:55:36+02:00"), AT);
  assert_int_equal(read("2026-10-10T15:55:36+0200"), AT);
  assert_int_equal(read("2026-10-10T15:55:36+02"), AT);
  assert_int_equal(read("2026-10-10T13:55:36.5Z"), AT + SECOND / 2);
  assert_int_equal(read("2026-10-10T13:55:36,123456789Z"), AT + 123456);
  assert_int_equal(read("2026-10-10T06:55:36.001-07:00"), AT + 1000);
}

static void how_large_a_number_is_tells_its_unit(void **state) {
  (void)state;
  assert_int_equal(read("1791640536"), AT);
  assert_int_equal(read("1791640536.25"), AT + SECOND / 4);
  assert_int_equal(read("1791640536123"), AT + 123000);
  assert_int_equal(read("1791640536123.5"), AT + 123500);
  assert_int_equal(read("1791640536123456"), AT + 123456);
  assert_int_equal(read("1791640536123456789"), AT + 123456);
  assert_int_equal(read("0"), 0);
}

static void a_leap_second_is_the_next_minutes_first(void **state) {
  (void)state;
  assert_int_equal(read("2016-12-31T23:59:60Z"), read("2017-01-01T00:00:00Z"));
}

static void what_is_no_time_is_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "",
      "-",
      "yesterday",
      "10/Okt/2026:13:55:36 +0000",
      "32/Oct/2026:13:55:36 +0000",
      "29/Feb/2027:13:55:36 +0000",
      "10/Oct/2026:24:55:36 +0000",
      "10/Oct/2026:13:60:36 +0000",
      "10/Oct/2026:13:55:61 +0000",
      "10/Oct/2026:13:55:36 00000",
      "10/Oct/2026:13:55:36 +0060",
      "10/Oct/2026 13:55:36 +0000",
      "10/Oct/2026:13:55:36",
      "2026-10-10",
      "2026-13-10T13:55:36Z",
      "2026-00-10T13:55:36Z",
      "2026-10-10T13:55:36+2",
      "2026-10-10T13:55:36+02-00",
      "2026-10-10T13:55:36.Z",
      "2026-10-10T13:55:36ZZ",
      "2026-10-10T13:55:3",
      "1969-12-31T23:59:59Z",
      "2256-01-01T00:00:00Z",
      "12345678901234567890",
      "1791640536.5x",
      ".5",
      "-1",
      "99999999999",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) assert_int_equal(read(texts[i]), -1);
}

static void writes(int64_t us, const char *text) {
  char to[LAJU_TIME_TEXT_SIZE];
  assert_int_equal(laju_time_format(to, us), strlen(text));
  assert_string_equal(to, text);
}

static void times_are_written_in_utc(void **state) {
  (void)state;
  writes(AT, "2026-10-10T13:55:36Z");
  writes(AT + 7001, "2026-10-10T13:55:36.007Z");
  writes(0, "1970-01-01T00:00:00Z");
  writes(INT64_C(1835438399) * SECOND, "2028-02-29T11:59:59Z");
  writes(INT64_C(1798761599) * SECOND, "2026-12-31T23:59:59Z");
  writes(LAJU_TIME_MAX_US, "2255-06-05T23:47:34.740Z");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_common_log_formats_zone_counts),
      cmocka_unit_test(iso_times_may_have_a_fraction_and_a_zone),
      cmocka_unit_test(how_large_a_number_is_tells_its_unit),
      cmocka_unit_test(a_leap_second_is_the_next_minutes_first),
      cmocka_unit_test(what_is_no_time_is_refused),
      cmocka_unit_test(times_are_written_in_utc),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
