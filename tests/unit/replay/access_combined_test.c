#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/reading.h"

#define TIME "[10/Oct/2026:13:55:36 +0000]"
#define AT INT64_C(1791640536000000)

static void nginx_combined(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("192.0.2.7 - ada " TIME " \"GET /a?b=c HTTP/1.1\" 200 5316 \"https://example.com/\" \"curl/8.5\"");
  client_is("192.0.2.7");
  assert_int_equal(request.time_us, AT);
  is(request.method, "GET");
  is(request.target, "/a?b=c");
  is(request.host, "");
  assert_int_equal(request.header_count, 2);
  header_is(0, "referer", "https://example.com/");
  header_is(1, "user-agent", "curl/8.5");
}

static void what_is_behind_the_request_may_be_missing(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 200 12");
  assert_int_equal(request.header_count, 0);
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\"");
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 304 - \"-\" \"-\"");
  assert_int_equal(request.header_count, 0);
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 200 12 \"-\" \"curl\" \"203.0.113.9, 10.0.0.1\" 0.004 \"x\"\r");
  assert_int_equal(request.header_count, 2);
  header_is(1, "x-forwarded-for", "203.0.113.9, 10.0.0.1");
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 200 12 \"-\" \"never ends");
  assert_int_equal(request.header_count, 0);
}

static void escaped_bytes_are_bytes(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("192.0.2.7 - - " TIME " \"GET /\\x22\\xC3\\xa9\\\\\\\"x HTTP/1.1\" 200 1 \"a\\tb\\q\\x4\" \"c\\x20d\"");
  is(request.target, "/\"\xc3\xa9\\\"x");
  header_is(0, "referer", "a\tb\\q\\x4");
  header_is(1, "user-agent", "c d");
}

static void addresses_of_both_families_and_unix_sockets(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("2001:db8::7 - - " TIME " \"GET / HTTP/2.0\" 200 1");
  client_is("2001:db8::7");
  reads("::ffff:192.0.2.7 - - " TIME " \"GET / HTTP/2.0\" 200 1");
  client_is("192.0.2.7");
  reads("unix: - - " TIME " \"GET / HTTP/1.0\" 200 1");
  assert_false(request.addressed);
}

static void a_host_may_stand_before_the_address(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("www.example.com:443 192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 200 1");
  is(request.host, "www.example.com:443");
  client_is("192.0.2.7");
  reads("192.0.2.7 - - " TIME " \"GET / HTTP/1.1\" 200 1");
  is(request.host, "");
}

static void whatever_the_user_is_called(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("192.0.2.7 - a [b] c[1 " TIME " \"GET / HTTP/1.1\" 200 1");
  assert_int_equal(request.time_us, AT);
  is(request.target, "/");
}

static void a_target_may_hold_spaces_and_the_protocol_may_be_missing(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  reads("192.0.2.7 - - " TIME " \"GET /a b HTTP/1.1\" 400 1");
  is(request.target, "/a b");
  reads("192.0.2.7 - - " TIME " \"GET /a\" 400 1");
  is(request.target, "/a");
}

static void what_cannot_be_read_says_why(void **state) {
  (void)state;
  begin(LAJU_FORMAT_COMBINED);
  refuses("example.com example.org - - " TIME " \"GET / HTTP/1.1\"", "it does not begin with an address");
  refuses("192.0.2.7", "no time in brackets, as [10/Oct/2026:13:55:36 +0000]");
  refuses("192.0.2.7 - - [10/Oct/2026:13:55:36 +0000", "no time in brackets, as [10/Oct/2026:13:55:36 +0000]");
  refuses("192.0.2.7 - - [10/Oct/2026:13:55:99 +0000] \"GET / HTTP/1.1\"",
          "no time in brackets, as [10/Oct/2026:13:55:36 +0000]");
  refuses("192.0.2.7 - - " TIME, "no request in quotes behind the time");
  refuses("192.0.2.7 - - " TIME " \"GET / HTTP/1.1", "no request in quotes behind the time");
  refuses("192.0.2.7 - - " TIME " \"\" 400 0", "the request is not METHOD TARGET PROTOCOL");
  refuses("192.0.2.7 - - " TIME " \"-\" 408 0", "the request is not METHOD TARGET PROTOCOL");
  refuses("192.0.2.7 - - " TIME " \"\\x16\\x03\\x01\" 400 0", "the request is not METHOD TARGET PROTOCOL");
  refuses("192.0.2.7 - - " TIME " \"GET  HTTP/1.1\" 400 0", "the request is not METHOD TARGET PROTOCOL");
}

static void a_request_may_have_16000_bytes(void **state) {
  (void)state;
  char line[20000] = "192.0.2.7 - - " TIME " \"GET /";
  size_t begun = strlen(line), more = LAJU_ACCESS_REQUEST_MAX - strlen("GET/");
  begin(LAJU_FORMAT_COMBINED);
  memset(line + begun, 'a', more);
  memcpy(line + begun + more, " HTTP/1.1\"", 11);
  reads(line);
  assert_int_equal(request.target.len, more + 1);
  memcpy(line + begun + more, "a HTTP/1.1\"", 12);
  refuses(line, "the request is longer than 16000 bytes");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nginx_combined),
      cmocka_unit_test(what_is_behind_the_request_may_be_missing),
      cmocka_unit_test(escaped_bytes_are_bytes),
      cmocka_unit_test(addresses_of_both_families_and_unix_sockets),
      cmocka_unit_test(a_host_may_stand_before_the_address),
      cmocka_unit_test(whatever_the_user_is_called),
      cmocka_unit_test(a_target_may_hold_spaces_and_the_protocol_may_be_missing),
      cmocka_unit_test(what_cannot_be_read_says_why),
      cmocka_unit_test(a_request_may_have_16000_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
