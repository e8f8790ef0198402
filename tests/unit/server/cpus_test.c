#include "server/cpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_quota_of_one_and_a_half_cpus_is_two_workers(void **state) {
  (void)state;
  assert_int_equal(laju_cpus_quota_v2("150000 100000\n"), 2);
  assert_int_equal(laju_cpus_quota_v1("150000\n", "100000\n"), 2);
}

static void whole_cpus_are_not_rounded_up(void **state) {
  (void)state;
  assert_int_equal(laju_cpus_quota_v2("400000 100000\n"), 4);
  assert_int_equal(laju_cpus_quota_v1("100000\n", "100000\n"), 1);
}

static void a_tenth_of_a_cpu_is_one_worker(void **state) {
  (void)state;
  assert_int_equal(laju_cpus_quota_v2("10000 100000\n"), 1);
}

static void no_quota_is_none(void **state) {
  (void)state;
  assert_int_equal(laju_cpus_quota_v2("max 100000\n"), 0);
  assert_int_equal(laju_cpus_quota_v1("-1\n", "100000\n"), 0);
}

static void what_cannot_be_read_is_no_quota(void **state) {
  (void)state;
  assert_int_equal(laju_cpus_quota_v2(""), 0);
  assert_int_equal(laju_cpus_quota_v2("100000"), 0);
  assert_int_equal(laju_cpus_quota_v2("100000 0"), 0);
  assert_int_equal(laju_cpus_quota_v1("100000", "junk"), 0);
  assert_int_equal(laju_cpus_quota_v2("9223372036854775807 1"), 0);
}

static const char groups[] =
    "9:name=systemd:/\n"
    "5:cpuset:/elsewhere\n"
    "4:cpu,cpuacct:/docker/abc\n"
    "0::/system.slice/laju.service\n";

static void the_cpu_controller_is_found_among_others(void **state) {
  (void)state;
  char path[64];
  assert_int_equal(laju_cpus_cgroup(groups, "cpu", path, sizeof path), strlen("/docker/abc"));
  assert_string_equal(path, "/docker/abc");
  assert_int_equal(laju_cpus_cgroup(groups, "cpuacct", path, sizeof path), strlen("/docker/abc"));
}

static void version_two_is_the_line_without_controllers(void **state) {
  (void)state;
  char path[64];
  assert_true(laju_cpus_cgroup(groups, "", path, sizeof path) > 0);
  assert_string_equal(path, "/system.slice/laju.service");
}

static void a_path_that_does_not_fit_is_none(void **state) {
  (void)state;
  char path[11];
  assert_int_equal(laju_cpus_cgroup(groups, "cpu", path, sizeof path), 0);
  assert_int_equal(laju_cpus_cgroup(groups, "memory", path, sizeof path), 0);
  assert_int_equal(laju_cpus_cgroup("no colons here", "cpu", path, sizeof path), 0);
}

static void there_is_always_at_least_one(void **state) {
  (void)state;
  assert_true(laju_cpus_allowed() >= 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quota_of_one_and_a_half_cpus_is_two_workers),
      cmocka_unit_test(whole_cpus_are_not_rounded_up),
      cmocka_unit_test(a_tenth_of_a_cpu_is_one_worker),
      cmocka_unit_test(no_quota_is_none),
      cmocka_unit_test(what_cannot_be_read_is_no_quota),
      cmocka_unit_test(the_cpu_controller_is_found_among_others),
      cmocka_unit_test(version_two_is_the_line_without_controllers),
      cmocka_unit_test(a_path_that_does_not_fit_is_none),
      cmocka_unit_test(there_is_always_at_least_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
