#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static laju_config config;
static char why[LAJU_WHY_SIZE];

static int make(void **state) {
  (void)state;
  laju_config_init(&config);
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_config_deinit(&config);
  return 0;
}

static int parse(const char *text) {
  return laju_config_parse(&config, "laju.yaml", text, strlen(text), why);
}

static void with_a_certificate_every_door_speaks_tls(void **state) {
  (void)state;
  assert_int_equal(parse("tls: {cert: /c.pem}"), 0);
  assert_string_equal(config.tls.cert, "/c.pem");
  assert_string_equal(config.tls.key, "");
  assert_true(config.tls.http && config.tls.resp && config.tls.admin);
}

static void doors_that_are_named_stand_in_the_place_of_all(void **state) {
  (void)state;
  assert_int_equal(parse("tls: {cert: /c.pem, key: /k.pem, client_ca: /a.pem, doors: [http]}"), 0);
  assert_true(config.tls.http);
  assert_false(config.tls.resp || config.tls.admin);
}

static void what_goes_with_a_certificate_is_refused_without(void **state) {
  (void)state;
  assert_int_equal(parse("tls: {key: /k.pem}"), -1);
  assert_non_null(strstr(why, "tls: has a key and no cert"));
  assert_int_equal(parse("tls: {client_ca: /a.pem}"), -1);
  assert_non_null(strstr(why, "tls: has a client_ca and no cert"));
}

static void an_unknown_door_is_told_with_the_nearest(void **state) {
  (void)state;
  assert_int_equal(parse("tls: {cert: /c.pem, doors: [htp]}"), -1);
  assert_non_null(strstr(why, "http"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(with_a_certificate_every_door_speaks_tls, make, end),
      cmocka_unit_test_setup_teardown(doors_that_are_named_stand_in_the_place_of_all, make, end),
      cmocka_unit_test_setup_teardown(what_goes_with_a_certificate_is_refused_without, make, end),
      cmocka_unit_test_setup_teardown(an_unknown_door_is_told_with_the_nearest, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
