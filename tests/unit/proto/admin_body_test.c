#include "proto/admin_body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/admin.h"
#include "proto/made.h"

static laju_new_override fresh;
static laju_problem problem;
static char body[512];

static bool read_as(const char *line, const char *text) {
  laju_rule rule = made_rule(line);
  memcpy(body, text, strlen(text) + 1);
  return laju_admin_read_override(&fresh, &rule, body, strlen(text), &problem);
}

static bool read(const char *text) {
  return read_as("login=5/1m token-bucket burst 10", text);
}

static void refused_as(const char *line, const char *text, const char *field, const char *detail) {
  assert_false(read_as(line, text));
  assert_int_equal(problem.status, 400);
  assert_int_equal(problem.field.len, strlen(field));
  assert_memory_equal(problem.field.text, field, problem.field.len);
  assert_string_equal(problem.detail, detail);
}

static void refused(const char *text, const char *field, const char *detail) {
  refused_as("login=5/1m token-bucket burst 10", text, field, detail);
}

static void an_override_is_a_limit_for_a_while(void **state) {
  (void)state;
  assert_true(read("{\"limit\":100,\"burst\":200,\"expires_in\":\"90s\"}"));
  assert_int_equal(fresh.limit, 100);
  assert_int_equal(fresh.burst, 200);
  assert_int_equal(fresh.expires_in_us, 90000000);
}

static void a_burst_that_is_left_out_is_the_limit(void **state) {
  (void)state;
  assert_true(read("{\"expires_in\":\"30d\",\"limit\":7}"));
  assert_int_equal(fresh.burst, 7);
  assert_true(read("{\"limit\":0,\"expires_in\":\"1s\"}"));
  assert_int_equal(fresh.limit, 0);
}

static void what_is_missing_unknown_or_out_of_range_is_named(void **state) {
  (void)state;
  refused("{\"limit\":1}", "expires_in", "is missing");
  refused("{\"expires_in\":\"1h\"}", "limit", "is missing");
  refused("{\"limit\":1,\"limit\":1,\"expires_in\":\"1h\"}", "limit", "is given twice");
  refused("{\"limit\":1,\"token\":\"x\",\"expires_in\":\"1h\"}", "token", "is not known");
  refused("{\"limit\":\"1\",\"expires_in\":\"1h\"}", "limit", "is of the wrong type");
  refused("{\"limit\":1.5,\"expires_in\":\"1h\"}", "limit", "is of the wrong type");
  refused("{\"limit\":-1,\"expires_in\":\"1h\"}", "limit", "is out of range");
  refused("{\"limit\":4294967296,\"expires_in\":\"1h\"}", "limit", "is out of range");
  refused("{\"limit\":1,\"burst\":0,\"expires_in\":\"1h\"}", "burst", "is out of range");
  refused("{\"limit\":1,\"expires_in\":\"1\"}", "expires_in", "cannot be read");
  refused("{\"limit\":1,\"expires_in\":\"999ms\"}", "expires_in", "is out of range");
  refused("{\"limit\":1,\"expires_in\":\"31d\"}", "expires_in", "is out of range");
  refused("[]", "body", "is of the wrong type");
  refused("{\"limit\":1,\"expires_in\":\"1h\"} x", "body", "something follows the document");
  assert_false(read(""));
  assert_false(read("{\"limit\":1,"));
  assert_true(problem.at_byte > 0);
}

static void numbers_that_the_law_cannot_decide_by_are_refused(void **state) {
  (void)state;
  refused_as("w=5/1m fixed-window", "{\"limit\":5,\"burst\":6,\"expires_in\":\"1h\"}", "burst",
             "is not for a rule of this algorithm");
  refused_as("w=5/1m sliding-window-log", "{\"limit\":65537,\"expires_in\":\"1h\"}", "limit",
             "is not for a rule of this algorithm");
  assert_true(read_as("w=5/1m fixed-window", "{\"limit\":5,\"burst\":5,\"expires_in\":\"1h\"}"));
}

static void a_token_is_a_string(void **state) {
  (void)state;
  laju_slice token;
  memcpy(body, "{\"token\":\"a\\u0062c\"}", 21);
  assert_true(laju_admin_read_token(&token, body, 20, &problem));
  assert_true(laju_slice_equal(token, made_slice("abc")));
  memcpy(body, "{\"token\":7}", 12);
  assert_false(laju_admin_read_token(&token, body, 11, &problem));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_override_is_a_limit_for_a_while),
      cmocka_unit_test(a_burst_that_is_left_out_is_the_limit),
      cmocka_unit_test(what_is_missing_unknown_or_out_of_range_is_named),
      cmocka_unit_test(numbers_that_the_law_cannot_decide_by_are_refused),
      cmocka_unit_test(a_token_is_a_string),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
