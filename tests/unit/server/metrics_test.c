#include "server/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_readings *readings;
static laju_rule_names *names;
static laju_ledger *ledgers[2];
static laju_buffer out;

static int make(void **state) {
  (void)state;
  readings = calloc(1, sizeof *readings);
  names = laju_rule_names_new();
  ledgers[0] = laju_ledger_new();
  ledgers[1] = laju_ledger_new();
  readings->names = names;
  readings->ledgers = ledgers;
  readings->ledger_count = 2;
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_buffer_deinit(&out);
  laju_ledger_free(ledgers[0]);
  laju_ledger_free(ledgers[1]);
  laju_rule_names_free(names);
  free(readings);
  return 0;
}

static const char *page(void) {
  laju_buffer_clear(&out);
  laju_metrics_write(readings, &out);
  laju_buffer_add(&out, "", 1);
  assert_false(out.failed);
  return out.data;
}

static void assert_line(const char *line) {
  char whole[256];
  snprintf(whole, sizeof whole, "\n%s\n", line);
  if (strstr(page(), whole) == NULL) fail_msg("no line \"%s\" in\n%s", line, out.data);
}

static void a_rule_s_checks_are_added_up_over_the_workers(void **state) {
  (void)state;
  uint32_t login = laju_rule_names_number(names, "login");
  laju_ledger_count(ledgers[0], login, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledgers[1], login, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledgers[1], 0, LAJU_VERDICT_DENIED);
  assert_line("laju_checks_total{rule=\"login\",decision=\"allowed\"} 2");
  assert_line("laju_checks_total{rule=\"login\",decision=\"denied\"} 0");
  assert_line("laju_checks_total{rule=\"(other)\",decision=\"denied\"} 1");
  assert_null(strstr(out.data, "shadow_denied"));
  laju_ledger_count(ledgers[0], login, LAJU_VERDICT_SHADOW_DENIED);
  assert_line("laju_checks_total{rule=\"login\",decision=\"shadow_denied\"} 1");
}

static void durations_are_in_seconds_and_cumulative(void **state) {
  (void)state;
  laju_histogram_add(&readings->latency, 20);
  laju_histogram_add(&readings->latency, 3000);
  assert_line("laju_request_duration_seconds_bucket{le=\"2.5e-05\"} 1");
  assert_line("laju_request_duration_seconds_bucket{le=\"0.0025\"} 1");
  assert_line("laju_request_duration_seconds_bucket{le=\"0.005\"} 2");
  assert_line("laju_request_duration_seconds_bucket{le=\"+Inf\"} 2");
  assert_line("laju_request_duration_seconds_sum 0.003020");
}

static void the_store_is_told_of_where_there_is_one(void **state) {
  (void)state;
  assert_null(strstr(page(), "laju_store_"));
  laju_store_counters *counters = calloc(1, sizeof *counters);
  counters->timeouts = 3;
  laju_readings_add_store(readings, counters);
  laju_readings_add_store(readings, counters);
  free(counters);
  readings->has_store = true;
  assert_line("laju_store_failures_total{reason=\"timeout\"} 6");
}

static void the_process_tells_of_itself(void **state) {
  (void)state;
  readings->started_us = 1700000000500000;
  assert_line("process_start_time_seconds 1700000000.500000");
  assert_line("laju_build_info{version=\"" LAJU_VERSION "\"} 1");
  const char *memory = strstr(page(), "\nprocess_resident_memory_bytes ");
  assert_non_null(memory);
  assert_true(strtoull(memory + strlen("\nprocess_resident_memory_bytes "), NULL, 10) > 4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_rule_s_checks_are_added_up_over_the_workers, make, end),
      cmocka_unit_test_setup_teardown(durations_are_in_seconds_and_cumulative, make, end),
      cmocka_unit_test_setup_teardown(the_store_is_told_of_where_there_is_one, make, end),
      cmocka_unit_test_setup_teardown(the_process_tells_of_itself, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
