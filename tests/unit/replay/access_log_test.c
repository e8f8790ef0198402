#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/reading.h"

#define COMBINED "192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] \"GET / HTTP/1.1\" 200 1"

static void the_first_unmistakable_line_tells_the_format(void **state) {
  (void)state;
  begin(LAJU_FORMAT_UNKNOWN);
  reads(COMBINED);
  assert_int_equal(reader.format, LAJU_FORMAT_COMBINED);
  begin(LAJU_FORMAT_UNKNOWN);
  reads("{\"ts\":1,\"ip\":\"::1\"}");
  assert_int_equal(reader.format, LAJU_FORMAT_JSON);
  begin(LAJU_FORMAT_UNKNOWN);
  assert_int_equal(feed("ts,ip", 5), 0);
  assert_int_equal(reader.format, LAJU_FORMAT_CSV);
}

static void until_then_lines_cannot_be_read(void **state) {
  (void)state;
  begin(LAJU_FORMAT_UNKNOWN);
  refuses("# a log", "no format is recognised; --format says which");
  refuses("a,b,c", "no format is recognised; --format says which");
  refuses("time,uri", "no format is recognised; --format says which");
  refuses("[10/Oct/2026]", "no format is recognised; --format says which");
  reads(COMBINED);
}

static void a_format_that_was_told_stays(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  refuses("{\"ts\":1,\"ip\":\"::1\"}", "it does not begin with an address");
  begin(LAJU_FORMAT_UNKNOWN);
  reads(COMBINED);
  refuses("{\"ts\":1,\"ip\":\"::1\"}", "it does not begin with an address");
}

static void empty_lines_hold_nothing(void **state) {
  (void)state;
  begin(LAJU_FORMAT_UNKNOWN);
  assert_int_equal(feed("", 0), 0);
  assert_int_equal(feed("\r", 1), 0);
  assert_int_equal(reader.format, LAJU_FORMAT_UNKNOWN);
}

static void a_line_may_have_65536_bytes(void **state) {
  (void)state;
  static char line[LAJU_ACCESS_LINE_MAX + 2];
  memset(line, ' ', sizeof line);
  memcpy(line, COMBINED, strlen(COMBINED));
  begin(LAJU_FORMAT_UNKNOWN);
  assert_int_equal(feed(line, LAJU_ACCESS_LINE_MAX), 1);
  assert_int_equal(feed(line, LAJU_ACCESS_LINE_MAX + 1), -1);
  assert_string_equal(reader.why, "the line is longer than 65536 bytes");
}

static void formats_have_names(void **state) {
  (void)state;
  assert_string_equal(laju_access_format_name(LAJU_FORMAT_COMBINED), "combined");
  assert_string_equal(laju_access_format_name(LAJU_FORMAT_JSON), "json");
  assert_string_equal(laju_access_format_name(LAJU_FORMAT_CSV), "csv");
  assert_null(laju_access_format_name(LAJU_FORMAT_UNKNOWN));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_unmistakable_line_tells_the_format),
      cmocka_unit_test(until_then_lines_cannot_be_read),
      cmocka_unit_test(a_format_that_was_told_stays),
      cmocka_unit_test(empty_lines_hold_nothing),
      cmocka_unit_test(a_line_may_have_65536_bytes),
      cmocka_unit_test(formats_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
