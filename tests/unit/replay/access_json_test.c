#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "replay/reading.h"

#define AT INT64_C(1791640536000000)

static void members_are_known_by_their_names(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads(
      "{\"time\":\"2026-10-10T13:55:36Z\",\"remote_addr\":\"192.0.2.7\",\"status\":200,\"request_method\":\"POST\","
      "\"request_uri\":\"/a?b\",\"host\":\"Example.com\",\"http_user_agent\":\"curl\",\"http_x_api_key\":\"k\"}");
  assert_int_equal(request.time_us, AT);
  client_is("192.0.2.7");
  is(request.method, "POST");
  is(request.target, "/a?b");
  is(request.host, "Example.com");
  header_is(0, "user-agent", "curl");
  header_is(1, "x-api-key", "k");
}

static void a_time_may_be_a_number(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads("{\"ts\":1791640536.25,\"ip\":\"192.0.2.7:4711\"}");
  assert_int_equal(request.time_us, AT + 250000);
  client_is("192.0.2.7");
  reads("{\"ts\":1791640536123,\"ip\":\"[2001:db8::1]:80\"}");
  assert_int_equal(request.time_us, AT + 123000);
  client_is("2001:db8::1");
}

static void caddys_own_log(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads(
      "{\"level\":\"info\",\"ts\":1791640536.5,\"logger\":\"http.log.access\",\"request\":{\"remote_ip\":\"10.0.0.1\","
      "\"remote_port\":\"4711\",\"client_ip\":\"192.0.2.7\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":"
      "\"localhost\",\"uri\":\"/x\",\"headers\":{\"User-Agent\":[\"curl\"],\"X-Key\":[\"a\",\"b\"],\"Odd\":[[1],{}]},"
      "\"tls\":{\"resumed\":false,\"uri\":\"/no\"}},\"duration\":0.004,\"status\":200}");
  client_is("192.0.2.7");
  is(request.target, "/x");
  is(request.host, "localhost");
  assert_int_equal(request.header_count, 3);
  header_is(0, "User-Agent", "curl");
  header_is(1, "X-Key", "a");
  header_is(2, "X-Key", "b");
}

static void headers_may_be_texts(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads("{\"headers\":{\"Cookie\":\"s=1\",\"N\":5,\"E\":\"\",\"O\":{\"a\":[]}},\"ts\":1,\"ip\":\"::1\"}");
  assert_int_equal(request.header_count, 1);
  header_is(0, "Cookie", "s=1");
}

static void a_requests_line_tells_method_and_target_where_nothing_else_does(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads("{\"ts\":1,\"ip\":\"::1\",\"request\":\"PUT /a HTTP/1.1\"}");
  is(request.method, "PUT");
  is(request.target, "/a");
  reads("{\"ts\":1,\"ip\":\"::1\",\"request\":\"PUT /a HTTP/1.1\",\"path\":\"/b\"}");
  is(request.method, "PUT");
  is(request.target, "/b");
  reads("{\"ts\":1,\"ip\":\"::1\",\"method\":\"GET\",\"request\":\"PUT /a HTTP/1.1\"}");
  is(request.method, "GET");
  is(request.target, "/a");
  refuses("{\"ts\":1,\"ip\":\"::1\",\"request\":\"junk\"}", "the request is not METHOD TARGET PROTOCOL");
}

static void the_better_name_counts_wherever_it_stands(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads("{\"ts\":1,\"client_ip\":\"192.0.2.1\",\"remote_addr\":\"192.0.2.2\"}");
  client_is("192.0.2.1");
  reads("{\"ts\":1,\"remote_addr\":\"192.0.2.2\",\"client_ip\":\"192.0.2.1\"}");
  client_is("192.0.2.1");
  reads("{\"ts\":1,\"remote_addr\":\"192.0.2.2\",\"client_ip\":\"-\"}");
  client_is("192.0.2.2");
}

static void names_that_are_given_count(void **state) {
  (void)state;
  laju_access_names names;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_access_names_parse(&names, "time=when,client=src,header:x-tenant=tenant", why), 0);
  laju_access_reader_init(&reader, LAJU_FORMAT_JSON, &names);
  reads("{\"when\":1791640536,\"src\":\"192.0.2.7\",\"tenant\":\"t\",\"time\":\"never\"}");
  assert_int_equal(request.time_us, AT);
  header_is(0, "x-tenant", "t");
}

static void members_may_change_their_order(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  reads("{\"ts\":1,\"ip\":\"192.0.2.1\",\"uri\":\"/a\",\"x\":1}");
  reads("{\"x\":1,\"uri\":\"/b\",\"ip\":\"192.0.2.2\",\"ts\":2,\"y\":null}");
  is(request.target, "/b");
  client_is("192.0.2.2");
  assert_int_equal(request.time_us, 2000000);
}

static void a_log_with_ever_new_names_is_read_on(void **state) {
  (void)state;
  char line[256];
  begin(LAJU_FORMAT_JSON);
  for (int i = 0; i < 1000; i++) {
    snprintf(line, sizeof line, "{\"junk%d\":1,\"http_h%d\":\"v\",\"ts\":%d,\"ip\":\"192.0.2.1\"}", i, i % 30, i);
    reads(line);
    assert_int_equal(request.time_us, i * INT64_C(1000000));
    assert_int_equal(request.header_count, 1);
  }
  assert_true(reader.column_count <= LAJU_ACCESS_COLUMNS_MAX);
}

static void what_cannot_be_read_says_why(void **state) {
  (void)state;
  begin(LAJU_FORMAT_JSON);
  refuses("[]", "an object is missing");
  refuses("{", "the text ends too early");
  refuses("{\"ts\":1,\"ip\":\"::1\"} x", "something follows the document");
  refuses("{\"ts\":1}", "no field is known for the client; --fields client=NAME names one");
  refuses("{\"ip\":\"::1\"}", "no field is known for the time; --fields time=NAME names one");
  refuses("{\"ts\":\"soon\",\"ip\":\"::1\"}", "the time cannot be read");
  refuses("{\"ts\":1,\"ip\":\"localhost\"}", "the client is no address");
  refuses("{\"ts\":1,\"ip\":\"::1\",\"uri\":\"\xff\"}", "bytes that are not UTF-8");
  refuses("{\"headers\":{\"a\":[\"b\"", "the text ends too early");
}

static void a_hundred_headers_are_read_and_no_more(void **state) {
  (void)state;
  char line[4096];
  begin(LAJU_FORMAT_JSON);
  for (int more = 0; more < 2; more++) {
    size_t len = (size_t)snprintf(line, sizeof line, "{\"ts\":1,\"ip\":\"::1\",\"headers\":{\"a\":[\"b\"");
    for (int i = 1; i < 100 + more; i++) len += (size_t)snprintf(line + len, sizeof line - len, ",\"b\"");
    snprintf(line + len, sizeof line - len, "]}}");
    if (more == 0) {
      reads(line);
      assert_int_equal(request.header_count, 100);
    } else {
      refuses(line, "more than 100 headers");
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_are_known_by_their_names),
      cmocka_unit_test(a_time_may_be_a_number),
      cmocka_unit_test(caddys_own_log),
      cmocka_unit_test(headers_may_be_texts),
      cmocka_unit_test(a_requests_line_tells_method_and_target_where_nothing_else_does),
      cmocka_unit_test(the_better_name_counts_wherever_it_stands),
      cmocka_unit_test(names_that_are_given_count),
      cmocka_unit_test(members_may_change_their_order),
      cmocka_unit_test(a_log_with_ever_new_names_is_read_on),
      cmocka_unit_test(what_cannot_be_read_says_why),
      cmocka_unit_test(a_hundred_headers_are_read_and_no_more),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
