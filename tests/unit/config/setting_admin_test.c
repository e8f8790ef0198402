#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/setting_admin.h"

static laju_config config;
static char why[LAJU_WHY_SIZE];

static int fresh(void **state) {
  (void)state;
  laju_config_init(&config);
  why[0] = '\0';
  return 0;
}

static int set(const char *key, const char *text) {
  return laju_config_set(&config, key, text, why);
}

static void a_door_that_others_reach_needs_a_token(void **state) {
  (void)state;
  static const char *const open[] = {"0.0.0.0:8082", "*:8082", "[::]:8082", "192.0.2.1:8082"};
  static const char *const closed[] = {"127.0.0.1:8082", "[::1]:8082", "unix:/run/laju.sock", "off"};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(set("listen.admin", open[i]), 0);
    assert_int_equal(laju_config_verify(&config, why), -1);
    assert_non_null(strstr(why, open[i]));
    assert_non_null(strstr(why, "admin.token or admin.token_file"));
    assert_int_equal(set("listen.admin", closed[i]), 0);
    assert_int_equal(laju_config_verify(&config, why), 0);
  }
  assert_int_equal(set("admin.token", "open barley"), 0);
  assert_int_equal(set("listen.admin", "*:8082"), 0);
  assert_int_equal(laju_config_verify(&config, why), 0);
}

static void doors_do_not_share_an_address(void **state) {
  (void)state;
  assert_int_equal(set("listen.admin", "127.0.0.1:8080"), 0);
  assert_int_equal(laju_config_verify(&config, why), -1);
  assert_non_null(strstr(why, "is taken by http and by admin"));
}

static void a_token_comes_from_the_file_or_from_a_file_of_its_own(void **state) {
  (void)state;
  char path[] = "/tmp/laju-token-XXXXXX";
  int fd = mkstemp(path);
  assert_int_equal(write(fd, "open sesame\n", 12), 12);
  close(fd);
  assert_int_equal(set("admin.token", "open barley"), 0);
  assert_int_equal(set("admin.token_file", path), 0);
  assert_string_equal(config.admin.token, "open sesame");
  unlink(path);
  assert_int_equal(set("admin.token_file", path), -1);
  assert_non_null(strstr(why, "a file that holds the token"));
  assert_int_equal(set("admin.token", ""), -1);
  assert_null(strstr(why, "open"));
}

static void names_are_names_without_a_port(void **state) {
  (void)state;
  char long_name[300];
  memset(long_name, 'a', sizeof long_name);
  assert_int_equal(laju_admin_add_host(&config, "Laju.Example.com", 16, why), 0);
  assert_string_equal(config.admin.hosts[0], "laju.example.com");
  assert_int_equal(laju_admin_add_host(&config, "laju:8082", 9, why), -1);
  assert_int_equal(laju_admin_add_host(&config, "", 0, why), -1);
  assert_int_equal(laju_admin_add_host(&config, ".laju", 5, why), -1);
  assert_int_equal(laju_admin_add_host(&config, long_name, 254, why), -1);
  assert_int_equal(laju_admin_add_host(&config, long_name, 253, why), 0);
  while (config.admin.host_count < LAJU_CONFIG_HOSTS_MAX) laju_admin_add_host(&config, "a", 1, why);
  assert_int_equal(laju_admin_add_host(&config, "a", 1, why), -1);
  laju_admin_clear_hosts(&config);
  assert_int_equal(config.admin.host_count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_door_that_others_reach_needs_a_token, fresh),
      cmocka_unit_test_setup(doors_do_not_share_an_address, fresh),
      cmocka_unit_test_setup(a_token_comes_from_the_file_or_from_a_file_of_its_own, fresh),
      cmocka_unit_test_setup(names_are_names_without_a_port, fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
