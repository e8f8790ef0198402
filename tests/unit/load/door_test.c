#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load/door.h"

static void is_door(const char *text, const char *shown) {
  laju_load_door door;
  char why[LAJU_TEXT_SIZE], to[LAJU_LOAD_DOOR_SIZE];
  assert_int_equal(laju_load_door_parse(text, &door, why), 0);
  laju_load_door_show(&door, to);
  assert_string_equal(to, shown);
}

static void is_refused(const char *text, const char *problem) {
  laju_load_door door;
  char why[LAJU_TEXT_SIZE] = "";
  memset(&door, 7, sizeof door);
  assert_int_equal(laju_load_door_parse(text, &door, why), -1);
  assert_non_null(strstr(why, problem));
  assert_int_equal(door.address.port, 0x0707); /* written only on success */
}

static void an_address_alone_is_for_redis_clients(void **unused) {
  (void)unused;
  is_door("127.0.0.1:6380", "resp://127.0.0.1:6380");
  is_door("unix:/run/laju.sock", "resp://unix:/run/laju.sock");
  is_door("localhost:1", "resp://localhost:1");
}

static void a_scheme_says_the_protocol(void **unused) {
  (void)unused;
  is_door("resp://[::1]:6380", "resp://[::1]:6380");
  is_door("redis://10.0.0.1:6379", "resp://10.0.0.1:6379");
  is_door("http://127.0.0.1:8080", "http://127.0.0.1:8080");
  is_door("http://127.0.0.1:8080/", "http://127.0.0.1:8080");
  is_door("http://unix:/run/http.sock", "http://unix:/run/http.sock");
}

static void a_scheme_says_that_it_is_tls(void **unused) {
  (void)unused;
  laju_load_door door;
  char why[LAJU_TEXT_SIZE];
  is_door("https://[::1]:8080/", "https://[::1]:8080");
  is_door("rediss://laju.example:6380", "rediss://laju.example:6380");
  is_door("resps://laju.example:6380", "rediss://laju.example:6380");
  assert_int_equal(laju_load_door_parse("resps://unix:/run/laju.sock", &door, why), 0);
  assert_true(door.tls);
  assert_string_equal(laju_load_door_host(&door), "localhost");
  assert_int_equal(laju_load_door_parse("https://[::1]:8080", &door, why), 0);
  assert_string_equal(laju_load_door_host(&door), "::1");
  assert_int_equal(laju_load_door_parse("http://[::1]:8080", &door, why), 0);
  assert_false(door.tls);
}

static void every_interface_is_this_machine(void **unused) {
  (void)unused;
  is_door("http://:8080", "http://127.0.0.1:8080");
  is_door("*:6380", "resp://127.0.0.1:6380");
}

static void what_is_no_door_is_refused_in_words(void **unused) {
  (void)unused;
  is_refused("httpss://127.0.0.1:8080", "has a scheme that is not known here");
  is_refused("http://127.0.0.1:8080/v1/check", "has a path, which belongs into --command");
  is_refused("https://127.0.0.1:8080/v1/check", "has a path, which belongs into --command");
  is_refused("http://127.0.0.1", "has no port");
  is_refused("127.0.0.1:0", "is no door that can be reached");
  is_refused("off", "is no door that can be reached");
  is_refused("", "is no door that can be reached");
  is_refused("/run/laju.sock", "path");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_address_alone_is_for_redis_clients), cmocka_unit_test(a_scheme_says_the_protocol),
      cmocka_unit_test(a_scheme_says_that_it_is_tls),          cmocka_unit_test(every_interface_is_this_machine),
      cmocka_unit_test(what_is_no_door_is_refused_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
