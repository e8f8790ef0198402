#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

static laju_config running, fresh;
static char why[LAJU_WHY_SIZE];

static int init(void **state) {
  (void)state;
  laju_config_init(&running);
  laju_config_init(&fresh);
  why[0] = '\0';
  return 0;
}

static int deinit(void **state) {
  (void)state;
  laju_config_deinit(&running);
  laju_config_deinit(&fresh);
  return 0;
}

static void set(const char *key, const char *text) {
  assert_int_equal(laju_config_set(&fresh, key, text, why), 0);
}

static void needs_a_restart(const char *message) {
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 1);
  assert_string_equal(why, message);
}

static void the_same_again_needs_none(void **state) {
  (void)state;
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 0);
  assert_string_equal(why, "");
}

static void a_door_needs_one(void **state) {
  (void)state;
  set("listen.resp", "off");
  needs_a_restart("listen.resp: needs a restart");
  set("listen.http", "127.0.0.1:8081");
  needs_a_restart("listen.http: needs a restart");
}

static void threads_and_memory_need_one(void **state) {
  (void)state;
  set("huge_pages", "true");
  needs_a_restart("huge_pages: needs a restart");
  set("memory_logs", "26%");
  needs_a_restart("memory_logs: needs a restart");
  set("memory", "1GiB");
  needs_a_restart("memory: needs a restart");
  set("workers", "3");
  needs_a_restart("workers: needs a restart");
}

static void another_snapshot_needs_one_but_not_its_interval(void **state) {
  (void)state;
  set("snapshot.interval", "1m");
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 0);
  set("snapshot.path", "/tmp/table.snap");
  needs_a_restart("snapshot.path: needs a restart");
}

static void the_same_memory_said_otherwise_needs_none(void **state) {
  (void)state;
  set("memory", "262144KiB");
  set("memory_logs", "64MiB");
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 0);
}

static void rules_and_what_doors_ask_for_need_none(void **state) {
  (void)state;
  set("inline_limits", "false");
  set("resp_admin", "true");
  set("resp_password", "open sesame");
  assert_int_equal(laju_config_add_rule(&fresh, "api=1/1s", why), 0);
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 0);
}

static void which_certificate_and_for_which_doors_needs_one(void **state) {
  (void)state;
  laju_config_tls *tls = &fresh.tls;
  laju_config_tls before = *tls;
  tls->admin = !tls->admin;
  needs_a_restart("tls.doors: needs a restart");
  *tls = before;
  set("tls.client_ca", "/a");
  needs_a_restart("tls.client_ca: needs a restart");
  set("tls.key", "/k");
  needs_a_restart("tls.key: needs a restart");
  set("tls.cert", "/c");
  needs_a_restart("tls.cert: needs a restart");
}

static void anything_of_the_store_needs_one(void **state) {
  (void)state;
  set("store.tls_server_name", "r");
  needs_a_restart("store.tls_server_name: needs a restart");
  set("store.tls_key", "/k");
  needs_a_restart("store.tls_key: needs a restart");
  set("store.tls_cert", "/c");
  needs_a_restart("store.tls_cert: needs a restart");
  set("store.tls_ca", "/a");
  needs_a_restart("store.tls_ca: needs a restart");
  set("store.nodes", "3");
  needs_a_restart("store.nodes: needs a restart");
  set("store.deny_cache", "false");
  needs_a_restart("store.deny_cache: needs a restart");
  set("store.atomicity", "transaction");
  needs_a_restart("store.atomicity: needs a restart");
  set("store.prefix", "other");
  needs_a_restart("store.prefix: needs a restart");
  set("store.max_inflight", "1");
  needs_a_restart("store.max_inflight: needs a restart");
  set("store.pool", "2");
  needs_a_restart("store.pool: needs a restart");
  set("store.connect_timeout", "1s");
  needs_a_restart("store.connect_timeout: needs a restart");
  set("store.timeout", "1s");
  needs_a_restart("store.timeout: needs a restart");
  set("store.redis", "redis://:a@h");
  needs_a_restart("store.redis: needs a restart");
  memcpy(fresh.store.password, "b", 2);
  needs_a_restart("store.password_file: needs a restart");
}

static void the_same_store_said_otherwise_needs_none(void **state) {
  (void)state;
  assert_int_equal(laju_config_set(&running, "store.redis", "redis://:a@h", why), 0);
  set("store.redis", "redis://:%61@h:6379/0");
  set("store.timeout", "50000us");
  assert_int_equal(laju_config_restart_needed(&running, &fresh, why), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_same_again_needs_none),
      TEST(a_door_needs_one),
      TEST(threads_and_memory_need_one),
      TEST(another_snapshot_needs_one_but_not_its_interval),
      TEST(the_same_memory_said_otherwise_needs_none),
      TEST(which_certificate_and_for_which_doors_needs_one),
      TEST(anything_of_the_store_needs_one),
      TEST(the_same_store_said_otherwise_needs_none),
      TEST(rules_and_what_doors_ask_for_need_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
