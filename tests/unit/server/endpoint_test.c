#include "server/endpoint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[LAJU_ENDPOINT_TEXT_SIZE];

static const char *round_trip(const char *written) {
  char why[LAJU_TEXT_SIZE];
  laju_address address;
  laju_endpoint endpoint;
  assert_int_equal(laju_address_parse(written, strlen(written), &address, why), 0);
  assert_int_equal(laju_endpoint_init(&endpoint, &address), 0);
  laju_endpoint_format(&endpoint, text);
  return text;
}

static void an_address_reads_as_it_was_written(void **state) {
  (void)state;
  assert_string_equal(round_trip("127.0.0.1:8080"), "127.0.0.1:8080");
  assert_string_equal(round_trip("[::1]:65535"), "[::1]:65535");
  assert_string_equal(round_trip("unix:/run/laju.sock"), "unix:/run/laju.sock");
}

static void a_star_is_any_address_of_both_families(void **state) {
  (void)state;
  assert_string_equal(round_trip("*:8080"), "[::]:8080");
}

static void any_address_turns_into_ipv4_with_its_port(void **state) {
  (void)state;
  laju_address address = {.kind = LAJU_ADDRESS_ALL, .port = 8080, .host = "*"};
  laju_endpoint endpoint;
  assert_int_equal(laju_endpoint_init(&endpoint, &address), 0);
  laju_endpoint_to_ipv4(&endpoint);
  laju_endpoint_format(&endpoint, text);
  assert_string_equal(text, "0.0.0.0:8080");
}

static void names_and_nothing_are_nowhere_to_listen(void **state) {
  (void)state;
  laju_endpoint endpoint;
  laju_address name = {.kind = LAJU_ADDRESS_NAME, .port = 1, .host = "localhost"};
  laju_address off = {.kind = LAJU_ADDRESS_OFF};
  assert_int_equal(laju_endpoint_init(&endpoint, &name), LAJU_ERR_TEXT);
  assert_int_equal(laju_endpoint_init(&endpoint, &off), LAJU_ERR_TEXT);
}

static void a_path_longer_than_the_kernel_takes_is_refused(void **state) {
  (void)state;
  laju_endpoint endpoint;
  laju_address address = {.kind = LAJU_ADDRESS_UNIX};
  memset(address.host, 'x', 107);
  assert_int_equal(laju_endpoint_init(&endpoint, &address), 0);
  address.host[107] = 'x';
  assert_int_equal(laju_endpoint_init(&endpoint, &address), LAJU_ERR_TEXT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_address_reads_as_it_was_written),
      cmocka_unit_test(a_star_is_any_address_of_both_families),
      cmocka_unit_test(any_address_turns_into_ipv4_with_its_port),
      cmocka_unit_test(names_and_nothing_are_nowhere_to_listen),
      cmocka_unit_test(a_path_longer_than_the_kernel_takes_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
