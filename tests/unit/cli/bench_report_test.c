#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/bench_report.h"

static laju_load_result result;
static laju_load_request request;
static laju_load_plan plan;

static int setup(void **unused) {
  (void)unused;
  char why[LAJU_TEXT_SIZE];
  laju_load_wish wish = {.rule = "api"};
  memset(&result, 0, sizeof result);
  plan = (laju_load_plan){.request = &request, .connections = 50, .pipeline = 16, .threads = 1, .keys = 10000};
  assert_int_equal(laju_load_door_parse("127.0.0.1:6380", &plan.door, why), 0);
  return laju_load_request_init(&request, &plan.door, &wish, why);
}

static int teardown(void **unused) {
  (void)unused;
  laju_load_request_deinit(&request);
  return 0;
}

static void answer(uint64_t allowed, uint64_t denied) {
  result.allowed = allowed;
  result.denied = denied;
  result.in_time = allowed + denied;
  result.elapsed_us = 2000000;
  laju_histogram_add_times(&result.latency, 50, allowed);
  laju_histogram_add_times(&result.latency, 1234567, denied);
}

static void shows(void (*print)(laju_buffer *, const laju_load_plan *, const laju_load_result *), const char *text) {
  laju_buffer to = {0};
  print(&to, &plan, &result);
  laju_buffer_add(&to, "", 1);
  assert_string_equal(to.data, text);
  laju_buffer_deinit(&to);
}

static void people_read_what_was_loaded_and_what_came_of_it(void **unused) {
  (void)unused;
  answer(1999000, 1000);
  plan.skew = 0.99;
  shows(laju_bench_result_print,
        "resp://127.0.0.1:6380: LAJU.CHECK {rule} {key}\n"
        "50 connections, pipeline 16, 1 threads, 10,000 keys (Zipf 0.99), closed loop\n"
        "throughput  1,000,000/s over 2.00 s\n"
        "replies     2,000,000\n"
        "allowed     1,999,000 (99.95%)\n"
        "denied      1,000 (0.05%)\n"
        "latency     p50 50us  p90 50us  p99 50us  p99.9 50us  max 1.23s\n");
}

static void troubles_are_shown_where_there_were_some(void **unused) {
  (void)unused;
  answer(6, 0);
  result.errors = 2;
  result.in_time = 8;
  result.lost = 3;
  result.broken = 1;
  result.unanswered = 4;
  result.unsent = 5;
  memcpy(result.error, "ERR no", 7);
  plan.rate = 4000;
  shows(laju_bench_result_print,
        "resp://127.0.0.1:6380: LAJU.CHECK {rule} {key}\n"
        "50 connections, pipeline 16, 1 threads, 10,000 keys, open loop at 4,000/s\n"
        "throughput  4/s over 2.00 s\n"
        "replies     8\n"
        "allowed     6 (75.00%)\n"
        "denied      0 (0.00%)\n"
        "errors      2 (25.00%)\n"
        "            the first: ERR no\n"
        "lost        3 on 1 connections that ended\n"
        "unanswered  4\n"
        "unsent      5 were due and found no connection free: the server did not keep up with the rate\n"
        "latency     p50 50us  p90 50us  p99 50us  p99.9 50us  max 50us\n");
}

static void programs_read_json(void **unused) {
  (void)unused;
  answer(10, 10);
  shows(
      laju_bench_result_print_json,
      "{\"door\":\"resp://127.0.0.1:6380\",\"command\":\"LAJU.CHECK {rule} {key}\",\"connections\":50,\"pipeline\":16,"
      "\"threads\":1,\"keys\":10000,\"zipf\":0,\"rate\":null,\"seconds\":2.000000,\"throughput\":10.0,\"replies\":20,"
      "\"allowed\":10,\"denied\":10,\"errors\":0,\"lost\":0,\"broken\":0,\"unanswered\":0,\"unsent\":0,"
      "\"latency_us\":{\"mean\":617308.5,\"p50\":50,\"p90\":1234567,\"p99\":1234567,\"p999\":1234567,\"max\":1234567},"
      "\"error\":null}\n");
}

static void a_command_that_decides_nothing_has_no_decisions(void **unused) {
  (void)unused;
  answer(4, 0);
  request.meaning = LAJU_LOAD_ANY;
  plan.rate = 2;
  memcpy(result.error, "\"", 2);
  shows(
      laju_bench_result_print_json,
      "{\"door\":\"resp://127.0.0.1:6380\",\"command\":\"LAJU.CHECK {rule} {key}\",\"connections\":50,\"pipeline\":16,"
      "\"threads\":1,\"keys\":10000,\"zipf\":0,\"rate\":2,\"seconds\":2.000000,\"throughput\":2.0,\"replies\":4,"
      "\"allowed\":null,\"denied\":null,\"errors\":0,\"lost\":0,\"broken\":0,\"unanswered\":0,\"unsent\":0,"
      "\"latency_us\":{\"mean\":50.0,\"p50\":50,\"p90\":50,\"p99\":50,\"p999\":50,\"max\":50},\"error\":\"\\\"\"}\n");
}

static void a_line_tells_of_the_time_since_the_line_before(void **unused) {
  (void)unused;
  char *text;
  size_t len;
  laju_bench_progress progress = {.to = open_memstream(&text, &len)};
  answer(1000, 500);
  result.elapsed_us = 1000000;
  laju_bench_progress_print(&progress, &result);
  result.allowed = 3000;
  result.lost = 7;
  result.elapsed_us = 3000000;
  laju_bench_progress_print(&progress, &result);
  fclose(progress.to);
  assert_string_equal(text,
                      "   1s  1,500/s   so far: p50 50us, p99 1.23s, denied 500, errors 0\n"
                      "   3s  1,000/s   so far: p50 50us, p99 1.23s, denied 500, errors 7\n");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(people_read_what_was_loaded_and_what_came_of_it, setup, teardown),
      cmocka_unit_test_setup_teardown(troubles_are_shown_where_there_were_some, setup, teardown),
      cmocka_unit_test_setup_teardown(programs_read_json, setup, teardown),
      cmocka_unit_test_setup_teardown(a_command_that_decides_nothing_has_no_decisions, setup, teardown),
      cmocka_unit_test_setup_teardown(a_line_tells_of_the_time_since_the_line_before, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
