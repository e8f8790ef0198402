#include "proto/http_problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void writes(const laju_problem *problem, const char *expected) {
  char text[LAJU_PROBLEM_MAX + 1];
  text[laju_problem_write(problem, text)] = '\0';
  assert_string_equal(text, expected);
}

static laju_problem problem_of(int status, const char *detail) {
  return (laju_problem){.status = status, .detail = detail, .list = "", .index = LAJU_PROBLEM_NO_INDEX};
}

static void a_problem_has_type_title_status_and_detail(void **state) {
  (void)state;
  laju_problem problem = problem_of(408, "the request took too long to come");
  writes(&problem,
         "{\"type\":\"about:blank\",\"title\":\"Request Timeout\",\"status\":408,"
         "\"detail\":\"the request took too long to come\"}");
}

static void it_names_the_field_the_value_and_what_is_allowed(void **state) {
  (void)state;
  laju_problem problem = problem_of(400, "is out of range");
  problem.list = "checks";
  problem.index = 2;
  problem.field = (laju_shown){"cost", 4};
  problem.literal = (laju_shown){"-1", 2};
  problem.allowed = "0 to 9";
  writes(&problem,
         "{\"type\":\"about:blank\",\"title\":\"Bad Request\",\"status\":400,"
         "\"detail\":\"checks[2].cost is out of range; allowed: 0 to 9\","
         "\"field\":\"checks[2].cost\",\"value\":-1,\"allowed\":\"0 to 9\"}");
}

static void shows(const char *value, size_t len, const char *expected) {
  char text[LAJU_PROBLEM_MAX + 1];
  laju_problem problem = problem_of(400, "is odd");
  problem.value = (laju_shown){value, len};
  text[laju_problem_write(&problem, text)] = '\0';
  const char *found = strstr(text, "\"value\":");
  assert_non_null(found);
  assert_string_equal(found + strlen("\"value\":"), expected);
}

static void what_a_client_sent_is_escaped(void **state) {
  (void)state;
  shows("a\"b\\c\n\0\x7f", 8, "\"a\\\"b\\\\c\\u000a\\u0000\\u007f\"}");
  shows("\xc3\xa9\xff\xe2\x82", 5, "\"\xc3\xa9???\"}");
}

static void what_a_client_sent_is_cut_after_64_bytes_between_characters(void **state) {
  (void)state;
  char value[200], expected[200] = "\"";
  memset(value, 'v', sizeof value);
  memset(expected + 1, 'v', 64);
  memcpy(expected + 65, "\"}", 3);
  shows(value, 64, expected);
  memcpy(expected + 65, "...\"}", 6);
  shows(value, 65, expected);
  memcpy(value + 63, "\xc3\xa9", 2);
  memcpy(expected + 64, "...\"}", 6);
  shows(value, sizeof value, expected);
}

static void the_longest_document_fits(void **state) {
  (void)state;
  char worst[300], text[LAJU_PROBLEM_MAX];
  memset(worst, '"', sizeof worst - 1);
  worst[sizeof worst - 1] = '\0';
  char control[64];
  memset(control, 1, sizeof control);
  laju_problem problem = {.status = 431, .detail = worst, .list = "checks", .index = SIZE_MAX - 1, .allowed = worst};
  problem.field = problem.value = (laju_shown){control, sizeof control};
  problem.at_byte = SIZE_MAX / 2;
  assert_in_range(laju_problem_write(&problem, text), 1000, LAJU_PROBLEM_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_problem_has_type_title_status_and_detail),
      cmocka_unit_test(it_names_the_field_the_value_and_what_is_allowed),
      cmocka_unit_test(what_a_client_sent_is_escaped),
      cmocka_unit_test(what_a_client_sent_is_cut_after_64_bytes_between_characters),
      cmocka_unit_test(the_longest_document_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
