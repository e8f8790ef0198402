#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/address.h"

static laju_address address;

static void is(const char *text, laju_address_kind kind, const char *host, uint16_t port) {
  char why[LAJU_TEXT_SIZE] = "";
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), 0);
  assert_int_equal(address.kind, kind);
  assert_string_equal(address.host, host);
  assert_int_equal(address.port, port);
}

static void refused(const char *text, const char *problem) {
  char why[LAJU_TEXT_SIZE] = "", whole[LAJU_TEXT_SIZE];
  laju_address before = address;
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), -1);
  snprintf(whole, sizeof whole, "%s allowed: " LAJU_ADDRESS_ALLOWED, problem);
  assert_string_equal(why, whole);
  assert_memory_equal(&before, &address, sizeof address);
}

static void each_kind_is_read(void **state) {
  (void)state;
  is("127.0.0.1:8080", LAJU_ADDRESS_IPV4, "127.0.0.1", 8080);
  is("0.0.0.0:0", LAJU_ADDRESS_IPV4, "0.0.0.0", 0);
  is("[::1]:65535", LAJU_ADDRESS_IPV6, "::1", 65535);
  is("*:80", LAJU_ADDRESS_ALL, "*", 80);
  is(":80", LAJU_ADDRESS_ALL, "*", 80);
  is("localhost:80", LAJU_ADDRESS_NAME, "localhost", 80);
  is("rate-1.example.org:80", LAJU_ADDRESS_NAME, "rate-1.example.org", 80);
  is("unix:/run/laju.sock", LAJU_ADDRESS_UNIX, "/run/laju.sock", 0);
  is("off", LAJU_ADDRESS_OFF, "", 0);
  is("", LAJU_ADDRESS_OFF, "", 0);
}

static void what_is_wrong_is_said(void **state) {
  (void)state;
  refused("127.0.0.1", "\"127.0.0.1\" has no port;");
  refused("8080", "\"8080\" has no port; did you mean \"127.0.0.1:8080\"?");
  refused("redis://127.0.0.1:6380", "\"redis://127.0.0.1:6380\" has a scheme; did you mean \"127.0.0.1:6380\"?");
  refused("[::1]", "\"[::1]\" has no port;");
  refused("[::1]8080", "\"[::1]8080\" has no port;");
  refused("[::1:8080", "\"[::1:8080\" has no closing bracket;");
  refused("::1:8080", "\"::1:8080\" has several colons; did you mean \"[IPv6]:PORT\"?");
  refused("127.0.0.1:", "\"127.0.0.1:\" has a port that is not 0 to 65535;");
  refused("127.0.0.1:65536", "\"127.0.0.1:65536\" has a port that is not 0 to 65535;");
  refused("127.0.0.1:80a", "\"127.0.0.1:80a\" has a port that is not 0 to 65535;");
  refused("127.0.0.1:-1", "\"127.0.0.1:-1\" has a port that is not 0 to 65535;");
  refused("127.0.0.256:80", "\"127.0.0.256:80\" has a host that is no address;");
  refused("1.2.3:80", "\"1.2.3:80\" has a host that is no address;");
  refused("[127.0.0.1]:80", "\"[127.0.0.1]:80\" has a host that is no address;");
  refused("[]:80", "\"[]:80\" has a host that is no address;");
  refused("a b:80", "\"a b:80\" has a host that is no address;");
  refused("http://127.0.0.1:80", "\"http://127.0.0.1:80\" has a scheme; did you mean \"127.0.0.1:80\"?");
  refused("/run/laju.sock", "\"/run/laju.sock\" is a path; did you mean \"unix:/PATH\"?");
  refused("unix:laju.sock", "\"unix:laju.sock\" has no absolute path;");
  refused("unix:", "\"unix:\" has no absolute path;");
}

static void a_socket_path_has_at_most_107_bytes(void **state) {
  (void)state;
  char text[128] = "unix:/", why[LAJU_TEXT_SIZE];
  memset(text + 6, 'p', 106);
  is(text, LAJU_ADDRESS_UNIX, text + 5, 0);
  text[112] = 'p';
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), -1);
  assert_string_equal(why, "is too long; allowed: 1 to 107 bytes, no control characters");
}

static void a_host_name_has_at_most_255_bytes(void **state) {
  (void)state;
  char text[300], why[LAJU_TEXT_SIZE];
  memset(text, 'h', 256);
  memcpy(text + 255, ":1", 3);
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), 0);
  text[255] = 'h';
  memcpy(text + 256, ":1", 3);
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), -1);
}

static void bytes_that_are_no_text_are_refused(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_address_parse("127.0.0.1\0:80", 13, &address, why), -1);
  assert_int_equal(laju_address_parse("unix:/a\0b", 9, &address, why), -1);
  assert_int_equal(laju_address_parse("unix:/a\nb", 9, &address, why), -1);
}

static bool local(const char *text) {
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_address_parse(text, strlen(text), &address, why), 0);
  return laju_address_is_local(&address);
}

static void only_this_machine_reaches_loopback(void **state) {
  (void)state;
  assert_true(local("127.0.0.1:1"));
  assert_true(local("127.1.2.3:1"));
  assert_true(local("[::1]:1"));
  assert_true(local("unix:/a"));
  assert_true(local("off"));
  assert_true(local("localhost:1"));
  assert_false(local("*:1"));
  assert_false(local("0.0.0.0:1"));
  assert_false(local("[::]:1"));
  assert_false(local("10.0.0.1:1"));
  assert_false(local("example.org:1"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_is_read),
      cmocka_unit_test(what_is_wrong_is_said),
      cmocka_unit_test(a_socket_path_has_at_most_107_bytes),
      cmocka_unit_test(a_host_name_has_at_most_255_bytes),
      cmocka_unit_test(bytes_that_are_no_text_are_refused),
      cmocka_unit_test(only_this_machine_reaches_loopback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
