#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "core/rule.h"

static laju_config config;
static char why[LAJU_WHY_SIZE];

static int init(void **state) {
  (void)state;
  laju_config_init(&config);
  why[0] = '\0';
  return 0;
}

static int deinit(void **state) {
  (void)state;
  laju_config_deinit(&config);
  return 0;
}

static void rules_are_added_one_by_one(void **state) {
  (void)state;
  char text[64];
  for (int i = 0; i < 100; i++) {
    snprintf(text, sizeof text, "r%d=%d/1s", i, i);
    assert_int_equal(laju_config_add_rule(&config, text, why), 0);
  }
  assert_int_equal(config.rule_count, 100);
  assert_string_equal(config.rules[99].rule.name, "r99");
  assert_int_equal(config.rules[99].rule.limit, 99);
}

static void a_name_is_taken_once(void **state) {
  (void)state;
  assert_int_equal(laju_config_add_rule(&config, "a=1/1s", why), 0);
  assert_int_equal(laju_config_add_rule(&config, "a=2/1s", why), -1);
  assert_string_equal(why, "\"a\" is the name of rules[0] already; allowed: each name once");
  assert_int_equal(config.rule_count, 1);
  assert_int_equal(config.rules[0].rule.limit, 1);
}

static void a_bad_rule_changes_nothing(void **state) {
  (void)state;
  assert_int_equal(laju_config_add_rule(&config, "a=1/1", why), -1);
  assert_non_null(strstr(why, "per: \"1\" has no unit; did you mean \"1s\"?"));
  assert_int_equal(laju_config_add_rule(&config, "inline=1/1s", why), -1);
  assert_int_equal(config.rule_count, 0);
}

static void the_default_rule_is_for_those_who_gave_none(void **state) {
  (void)state;
  assert_int_equal(laju_config_add_default_rule(&config), 0);
  assert_int_equal(config.rule_count, 1);
  assert_string_equal(config.rules[0].rule.name, "default");
  assert_int_equal(config.rules[0].rule.limit, 100);
  assert_int_equal(laju_rule_period_us(&config.rules[0].rule), 60000000);
  assert_int_equal(laju_config_add_default_rule(&config), 0);
  assert_int_equal(config.rule_count, 1);
}

static void a_setting_is_set_by_its_name(void **state) {
  (void)state;
  assert_int_equal(laju_config_set(&config, "listen.http", "*:80", why), 0);
  assert_string_equal(config.listen_http, "*:80");
  assert_int_equal(laju_config_set(&config, "inline_limits", "false", why), 0);
  assert_false(config.inline_limits);
  assert_int_equal(laju_config_set(&config, "workers", "1025", why), -1);
  assert_string_equal(why, "\"1025\" is out of range; allowed: 0 to 1024 (0: as many as CPUs allow)");
  assert_int_equal(laju_config_set(&config, "listen", "x", why), -1);
  assert_string_equal(why, "is not a setting");
  assert_int_equal(laju_config_set(&config, "trusted_proxies", "::1", why), -1); /* a list */
  assert_string_equal(why, "is not a setting");
}

static void a_share_for_logs_follows_the_memory(void **state) {
  (void)state;
  assert_int_equal(laju_config_set(&config, "memory", "4GiB", why), 0);
  assert_int_equal(config.memory_logs_bytes, 1073741824);
  assert_int_equal(laju_config_set(&config, "memory_logs", "80%", why), 0);
  assert_int_equal(laju_config_set(&config, "memory", "1TiB", why), 0);
  assert_int_equal(config.memory_logs_bytes, INT64_C(879609302220));
  assert_int_equal(laju_config_verify(&config, why), 0);
  assert_int_equal(laju_config_set(&config, "memory_logs", "1MiB", why), 0);
  assert_int_equal(laju_config_set(&config, "memory", "1MiB", why), 0);
  assert_int_equal(laju_config_verify(&config, why), -1);
  assert_string_equal(why,
                      "memory_logs: is more than 80% of memory; allowed: 1% to 80% of memory, or a size from 4KiB");
}

static int doors(const char *http, const char *resp) {
  assert_int_equal(laju_config_set(&config, "listen.http", http, why), 0);
  assert_int_equal(laju_config_set(&config, "listen.resp", resp, why), 0);
  return laju_config_verify(&config, why);
}

static void two_doors_never_share_an_address(void **state) {
  (void)state;
  assert_int_equal(doors("127.0.0.1:80", "127.0.0.1:80"), -1);
  assert_int_equal(doors("127.0.0.1:80", "*:80"), -1);
  assert_int_equal(doors("0.0.0.0:80", "10.0.0.1:80"), -1);
  assert_int_equal(doors("[::]:80", "[::1]:80"), -1);
  assert_int_equal(doors("unix:/a", "unix:/a"), -1);
  assert_int_equal(doors("off", "off"), -1);
  assert_int_equal(doors("127.0.0.1:80", "127.0.0.2:80"), 0);
  assert_int_equal(doors("127.0.0.1:80", "127.0.0.1:81"), 0);
  assert_int_equal(doors("*:0", "*:0"), 0);
  assert_int_equal(doors("unix:/a", "unix:/b"), 0);
  assert_int_equal(doors("unix:/a", "off"), 0);
}

static char told[4][LAJU_WHY_SIZE];
static size_t told_count;

static void tell(void *context, const char *warning) {
  assert_ptr_equal(context, &config);
  snprintf(told[told_count++], LAJU_WHY_SIZE, "%s", warning);
}

static size_t warnings(const char *rule) {
  told_count = 0;
  config.rule_count = 0;
  assert_int_equal(laju_config_add_rule(&config, rule, why), 0);
  size_t count = laju_config_warn(&config, tell, &config);
  assert_int_equal(count, told_count);
  return count;
}

static void a_bucket_that_refills_in_gulps_is_warned_of(void **state) {
  (void)state;
  /* a period of 1 ms has 1,000 ticks: a burst of 1 gets more than a hundredth of itself a tick from a limit of 11 on */
  assert_int_equal(warnings("a=10/1ms token-bucket burst 1"), 0);
  assert_int_equal(warnings("a=11/1ms token-bucket burst 1"), 1);
  assert_string_equal(
      told[0],
      "rules[0] (a): burst: each tick of 1us brings more than a hundredth of the burst of 1, so it refills in "
      "gulps; a burst of 2 or more refills evenly");
  assert_int_equal(warnings("a=11/1ms token-bucket burst 2"), 0);
  assert_int_equal(warnings("a=4294967295/366d leaky-bucket burst 1"), 1);
  assert_int_equal(warnings("a=4294967295/366d sliding-window-counter"), 0);
}

static void a_cost_that_makes_no_sense_is_warned_of(void **state) {
  (void)state;
  assert_int_equal(warnings("a=10/1m cost 10"), 0);
  assert_int_equal(warnings("a=10/1m cost 11"), 1);
  assert_string_equal(told[0], "rules[0] (a): cost: 11 is more than can ever be taken at once (10)");
  assert_int_equal(warnings("a=10/1m cost 0"), 1);
  assert_int_equal(warnings("closed=0/1m"), 0);
}

static void a_log_that_has_no_room_is_warned_of(void **state) {
  (void)state;
  assert_int_equal(laju_config_set(&config, "memory_logs", "1MiB", why), 0);
  assert_int_equal(warnings("a=65536/1m sliding-window-log"), 0);
  assert_int_equal(laju_config_set(&config, "memory_logs", "1048575B", why), 0);
  assert_int_equal(warnings("a=65536/1m sliding-window-log"), 1);
  assert_string_equal(
      told[0],
      "rules[0] (a): limit: the log of one key at its limit of 65536 takes up to 1048576 bytes, and memory_logs is "
      "1048575");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(rules_are_added_one_by_one),
      TEST(a_name_is_taken_once),
      TEST(a_bad_rule_changes_nothing),
      TEST(the_default_rule_is_for_those_who_gave_none),
      TEST(a_setting_is_set_by_its_name),
      TEST(a_share_for_logs_follows_the_memory),
      TEST(two_doors_never_share_an_address),
      TEST(a_bucket_that_refills_in_gulps_is_warned_of),
      TEST(a_cost_that_makes_no_sense_is_warned_of),
      TEST(a_log_that_has_no_room_is_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
