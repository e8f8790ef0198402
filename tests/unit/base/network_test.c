#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/network.h"

static laju_ip ip(const char *text) {
  laju_ip address;
  assert_int_equal(laju_ip_parse(text, strlen(text), &address), 0);
  return address;
}

static laju_network network(const char *text) {
  laju_network found;
  assert_int_equal(laju_network_parse(text, strlen(text), &found), 0);
  return found;
}

static void assert_in(const char *net, const char *address, bool in) {
  laju_network n = network(net);
  laju_ip a = ip(address);
  assert_int_equal(laju_network_has(&n, &a), in);
}

static void a_mapped_address_is_the_v4_address(void **unused) {
  (void)unused;
  laju_ip v4 = ip("1.2.3.4"), mapped = ip("::ffff:1.2.3.4"), hex = ip("::ffff:102:304");
  assert_memory_equal(&v4, &mapped, sizeof v4);
  assert_memory_equal(&v4, &hex, sizeof v4);
  char text[LAJU_IP_TEXT_SIZE];
  assert_int_equal(laju_ip_format(text, &mapped), 7);
  assert_string_equal(text, "1.2.3.4");
}

static void neighbours_of_one_64_are_cut_to_one(void **unused) {
  (void)unused;
  laju_ip a = ip("2001:db8:1:2::1"), b = ip("2001:db8:1:2:ffff::9"), c = ip("2001:db8:1:3::1");
  a = laju_ip_cut(&a, 64);
  b = laju_ip_cut(&b, 64);
  c = laju_ip_cut(&c, 64);
  assert_memory_equal(&a, &b, sizeof a);
  assert_memory_not_equal(&a, &c, sizeof a);
}

static void a_prefix_may_end_inside_a_byte(void **unused) {
  (void)unused;
  assert_in("172.16.0.0/12", "172.31.255.255", true);
  assert_in("172.16.0.0/12", "172.32.0.0", false);
  assert_in("2001:db8::/33", "2001:db8:7fff::1", true);
  assert_in("2001:db8::/33", "2001:db8:8000::1", false);
}

static void the_whole_of_127_and_one_v6_address_are_this_machine(void **unused) {
  (void)unused;
  static const char *const here[] = {"127.0.0.1", "127.255.0.9", "::ffff:127.0.0.1", "::1"};
  static const char *const elsewhere[] = {"126.0.0.1", "128.0.0.1", "::", "::2", "1::1", "0.0.0.0"};
  for (size_t i = 0; i < sizeof here / sizeof here[0]; i++) {
    laju_ip address = ip(here[i]);
    assert_true(laju_ip_is_loopback(&address));
  }
  for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
    laju_ip address = ip(elsewhere[i]);
    assert_false(laju_ip_is_loopback(&address));
  }
}

static void the_whole_of_v4_is_not_the_whole_of_v6(void **unused) {
  (void)unused;
  assert_in("0.0.0.0/0", "203.0.113.9", true);
  assert_in("0.0.0.0/0", "2001:db8::1", false);
  assert_in("::/0", "203.0.113.9", true);
  assert_in("::1", "::1", true);
  assert_in("::1", "::2", false);
}

static void what_is_no_address_or_network_is_refused(void **unused) {
  (void)unused;
  static const char *const addresses[] = {"",         "1.2.3",    "1.2.3.4.5", "256.1.1.1", "[::1]",
                                          "::1%eth0", "1.2.3.4 ", "01.2.3.4",  "localhost"};
  static const char *const networks[] = {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08",
                                         "10.0.0.1/8",  "::/129",    "/8",          "10.0.0.0/8/8"};
  laju_ip address;
  laju_network found;
  for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
    assert_int_equal(laju_ip_parse(addresses[i], strlen(addresses[i]), &address), -1);
  }
  for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
    assert_int_equal(laju_network_parse(networks[i], strlen(networks[i]), &found), -1);
  }
  assert_int_equal(laju_ip_parse("1.2.3.4\0", 8, &address), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mapped_address_is_the_v4_address),
      cmocka_unit_test(neighbours_of_one_64_are_cut_to_one),
      cmocka_unit_test(a_prefix_may_end_inside_a_byte),
      cmocka_unit_test(the_whole_of_127_and_one_v6_address_are_this_machine),
      cmocka_unit_test(the_whole_of_v4_is_not_the_whole_of_v6),
      cmocka_unit_test(what_is_no_address_or_network_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
