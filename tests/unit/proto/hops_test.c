#include "proto/hops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static laju_network trusted[3];
static const laju_terms terms = {.trusted = trusted, .trusted_count = 3};

static int trust(void **state) {
  (void)state;
  assert_int_equal(laju_network_parse("127.0.0.0/8", 11, &trusted[0]), 0);
  assert_int_equal(laju_network_parse("10.0.0.0/8", 10, &trusted[1]), 0);
  assert_int_equal(laju_network_parse("fd00::/8", 8, &trusted[2]), 0);
  return 0;
}

static void is(const laju_hops *hops, const char *expected) {
  char text[LAJU_IP_TEXT_SIZE];
  assert_int_equal(hops->known, expected != NULL);
  if (expected == NULL) return;
  laju_ip_format(text, &hops->client);
  assert_string_equal(text, expected);
}

/* NULL: the peer itself. */
static void list_is(const char *line, const char *expected) {
  laju_hops hops = {.known = false};
  laju_hops_add_list(&hops, &terms, (laju_slice){line, strlen(line)});
  is(&hops, expected);
}

static void forwarded_is(const char *line, const char *expected) {
  laju_hops hops = {.known = false};
  laju_hops_add_forwarded(&hops, &terms, (laju_slice){line, strlen(line)});
  is(&hops, expected);
}

static void the_client_is_the_first_from_the_right_that_is_not_trusted(void **state) {
  (void)state;
  list_is("192.0.2.1", "192.0.2.1");
  list_is("203.0.113.9, 192.0.2.1", "192.0.2.1");
  list_is("203.0.113.9, 192.0.2.1, 10.1.1.1, 127.0.0.1", "192.0.2.1");
  list_is("10.9.9.9, 192.0.2.1, 10.1.1.1", "192.0.2.1");
  list_is("192.0.2.1,fd00::2", "192.0.2.1");
}

static void where_all_are_trusted_it_is_the_left_most(void **state) {
  (void)state;
  list_is("10.3.3.3, 10.2.2.2, 10.1.1.1", "10.3.3.3");
  list_is("10.3.3.3", "10.3.3.3");
}

static void what_is_no_address_ends_the_reading(void **state) {
  (void)state;
  list_is("unknown", NULL);
  list_is("192.0.2.1, unknown", NULL);
  list_is("192.0.2.1, unknown, 10.1.1.1", "10.1.1.1");
  list_is("192.0.2.1, unknown, 10.2.2.2, 10.1.1.1", "10.2.2.2");
  list_is("unknown, 192.0.2.1, 10.1.1.1", "192.0.2.1");
  list_is("192.0.2.1 198.51.100.1", NULL);
  list_is("", NULL);
  list_is(" , ,", NULL);
}

static void empty_elements_are_nothing(void **state) {
  (void)state;
  list_is("192.0.2.1,, ,10.1.1.1,", "192.0.2.1");
}

static void addresses_may_have_ports_and_brackets(void **state) {
  (void)state;
  list_is("192.0.2.1:8080", "192.0.2.1");
  list_is("2001:db8::1", "2001:db8::1");
  list_is("[2001:db8::1]", "2001:db8::1");
  list_is("[2001:db8::1]:443", "2001:db8::1");
  list_is("::ffff:192.0.2.1", "192.0.2.1");
  list_is("[192.0.2.1]", NULL);
  list_is("[2001:db8::1", NULL);
  list_is("[2001:db8::1]x", NULL);
  list_is("[2001:db8::1]:", NULL);
  list_is("192.0.2.1:", NULL);
  list_is("192.0.2.1:http", NULL);
  list_is("fe80::1%eth0", NULL);
  list_is("192.0.2.256", NULL);
}

static void several_lines_are_one_list(void **state) {
  (void)state;
  laju_hops hops = {.known = false};
  laju_hops_add_list(&hops, &terms, (laju_slice){"203.0.113.9", 11});
  laju_hops_add_list(&hops, &terms, (laju_slice){"192.0.2.1, 10.1.1.1", 19});
  is(&hops, "192.0.2.1");
}

static void forwarded_tells_the_same(void **state) {
  (void)state;
  forwarded_is("for=192.0.2.1", "192.0.2.1");
  forwarded_is("For=203.0.113.9, FOR=192.0.2.1;proto=https;by=10.1.1.1 , for=10.1.1.1", "192.0.2.1");
  forwarded_is("proto=http; for = 192.0.2.1 ;host=\"a,b;c\"", "192.0.2.1");
  forwarded_is("for=10.2.2.2, for=10.1.1.1", "10.2.2.2");
}

static void forwarded_quotes_what_has_colons(void **state) {
  (void)state;
  forwarded_is("for=\"192.0.2.1:4711\"", "192.0.2.1");
  forwarded_is("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17");
  forwarded_is("for=\"[2001:db8:cafe::17]:_hidden\"", "2001:db8:cafe::17");
  forwarded_is("for=\"\\1\\92.0.2.1\"", "192.0.2.1");
  forwarded_is("for=\"\"", NULL);
}

static void hidden_hops_end_the_reading(void **state) {
  (void)state;
  forwarded_is("for=unknown", NULL);
  forwarded_is("for=_hidden", NULL);
  forwarded_is("for=192.0.2.1, for=_SEVKISEK, for=10.1.1.1", "10.1.1.1");
  forwarded_is("for=192.0.2.1, proto=https", NULL);
  forwarded_is("for=192.0.2.1;for=192.0.2.2", NULL);
  forwarded_is("192.0.2.1", NULL);
  forwarded_is("for", NULL);
  forwarded_is("for=\"192.0.2.1\"x", NULL);
}

static void an_open_quote_swallows_no_hop_behind_it(void **state) {
  (void)state;
  forwarded_is("for=\"x, for=192.0.2.1", "192.0.2.1");
  forwarded_is("for=\"x, for=\"[2001:db8::1]:80\"", "2001:db8::1");
  forwarded_is("for=\"\\, for=192.0.2.1", "192.0.2.1");
  forwarded_is("for=\"a, b\", for=192.0.2.1", "192.0.2.1");
  forwarded_is("for=\"192.0.2.1, for=", NULL);
}

static void a_node_of_any_length_is_harmless(void **state) {
  (void)state;
  char line[400];
  memset(line, '1', sizeof line);
  memcpy(line, "for=\"", 5);
  line[sizeof line - 1] = '"';
  laju_hops hops = {.known = false};
  laju_hops_add_forwarded(&hops, &terms, (laju_slice){line, sizeof line});
  is(&hops, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_client_is_the_first_from_the_right_that_is_not_trusted),
      cmocka_unit_test(where_all_are_trusted_it_is_the_left_most),
      cmocka_unit_test(what_is_no_address_ends_the_reading),
      cmocka_unit_test(empty_elements_are_nothing),
      cmocka_unit_test(addresses_may_have_ports_and_brackets),
      cmocka_unit_test(several_lines_are_one_list),
      cmocka_unit_test(forwarded_tells_the_same),
      cmocka_unit_test(forwarded_quotes_what_has_colons),
      cmocka_unit_test(hidden_hops_end_the_reading),
      cmocka_unit_test(an_open_quote_swallows_no_hop_behind_it),
      cmocka_unit_test(a_node_of_any_length_is_harmless),
  };
  return cmocka_run_group_tests(tests, trust, NULL);
}
