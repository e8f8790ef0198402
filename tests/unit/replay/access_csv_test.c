#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/reading.h"

#define AT INT64_C(1791640536000000)

static void the_first_line_names_the_columns(void **state) {
  (void)state;
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("time,status,ip,method,path,user_agent", 37), 0);
  reads("1791640536,200,192.0.2.7,GET,/a,curl");
  assert_int_equal(request.time_us, AT);
  client_is("192.0.2.7");
  is(request.method, "GET");
  is(request.target, "/a");
  header_is(0, "user-agent", "curl");
  reads("1791640537,200,192.0.2.8,,-,");
  is(request.method, "");
  is(request.target, "");
  assert_int_equal(request.header_count, 0);
}

static void other_separators_and_a_byte_order_mark(void **state) {
  (void)state;
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("\xef\xbb\xbf\"time\"; ip ;uri\r", 19), 0);
  reads("1791640536;192.0.2.7;/a,b\r");
  is(request.target, "/a,b");
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("time\tip\turi", 11), 0);
  reads("1791640536\t192.0.2.7\t/a,b;c");
  is(request.target, "/a,b;c");
}

static void quotes_are_as_rfc_4180_has_them(void **state) {
  (void)state;
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("time,ip,uri,agent", 17), 0);
  reads("\"1791640536\",192.0.2.7,\"/a,\"\"b\"\"\",\"\"");
  is(request.target, "/a,\"b\"");
  assert_int_equal(request.header_count, 0);
  refuses("1791640536,192.0.2.7,\"/a", "quotes do not end where a cell does");
  refuses("1791640536,192.0.2.7,\"/a\"b,x", "quotes do not end where a cell does");
}

static void a_row_may_be_shorter_or_longer_than_the_first(void **state) {
  (void)state;
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("time,ip,uri", 11), 0);
  reads("1791640536,192.0.2.7");
  is(request.target, "");
  reads("1791640536,192.0.2.7,/a,more,and more");
  is(request.target, "/a");
  refuses("1791640536", "no field is known for the client; --fields client=NAME names one");
}

static void without_a_time_column_no_row_can_be_read(void **state) {
  (void)state;
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed("when,ip", 7), 0);
  refuses("1791640536,192.0.2.7", "no field is known for the time; --fields time=NAME names one");
}

static void columns_beyond_the_128th_are_nothing_to_us(void **state) {
  (void)state;
  char names[1024], row[1024];
  size_t len = 0;
  for (int i = 0; i < 126; i++, len += 2) memcpy(names + len, "x,", 2);
  memcpy(names + len, "time,ip,uri", 11);
  memcpy(row, names, len);
  memcpy(row + len, "1791640536,192.0.2.7,/a", 24);
  begin(LAJU_FORMAT_CSV);
  assert_int_equal(feed(names, len + 11), 0);
  assert_int_equal(reader.column_count, 128);
  reads(row);
  is(request.target, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_line_names_the_columns),
      cmocka_unit_test(other_separators_and_a_byte_order_mark),
      cmocka_unit_test(quotes_are_as_rfc_4180_has_them),
      cmocka_unit_test(a_row_may_be_shorter_or_longer_than_the_first),
      cmocka_unit_test(without_a_time_column_no_row_can_be_read),
      cmocka_unit_test(columns_beyond_the_128th_are_nothing_to_us),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
