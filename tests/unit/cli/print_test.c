#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/print.h"

static void prints(laju_answer answer, const char *text) {
  laju_buffer to = {0};
  laju_answer_print(&to, &answer);
  laju_buffer_add(&to, "", 1);
  assert_string_equal(to.data, text);
  laju_buffer_deinit(&to);
}

static void prints_json(const char *rule, laju_answer answer, const char *text) {
  laju_buffer to = {0};
  laju_answer_print_json(&to, rule, &answer);
  laju_buffer_add(&to, "", 1);
  assert_string_equal(to.data, text);
  laju_buffer_deinit(&to);
}

static void an_admission_says_what_remains(void **state) {
  (void)state;
  prints((laju_answer){.allowed = true, .limit = 10, .remaining = 9, .reset_after_ms = 12000},
         "allowed: 9 of 10 remain; as good as new in 12s\n");
  prints((laju_answer){.allowed = true, .limit = 10, .remaining = 10}, "allowed: 10 of 10 remain\n");
  prints((laju_answer){.allowed = true, .limit = 3, .remaining = 1, .delay_ms = 4997, .reset_after_ms = 9997},
         "allowed: 1 of 3 remain; wait your turn for 5s; as good as new in 10s\n");
}

static void a_denial_says_when_to_try_again(void **state) {
  (void)state;
  prints((laju_answer){.limit = 10, .retry_after_ms = 250, .reset_after_ms = 59901},
         "denied: 0 of 10 remain; try again in 250ms; as good as new in 1m\n");
  prints((laju_answer){.limit = 10, .remaining = 4, .retry_after_ms = LAJU_NEVER},
         "denied: 4 of 10 remain; the cost is above the limit, so waiting cannot help\n");
}

static void waits_are_rounded_up(void **state) {
  (void)state;
  prints((laju_answer){.limit = 1, .retry_after_ms = 1, .reset_after_ms = 999},
         "denied: 0 of 1 remain; try again in 1ms; as good as new in 999ms\n");
  prints((laju_answer){.limit = 1, .retry_after_ms = 12301, .reset_after_ms = 59900},
         "denied: 0 of 1 remain; try again in 12.4s; as good as new in 59.9s\n");
  prints((laju_answer){.limit = 1, .retry_after_ms = 6387001, .reset_after_ms = INT64_C(183600000)},
         "denied: 0 of 1 remain; try again in 1h46m28s; as good as new in 2d3h\n");
}

static void json_has_the_members_of_http(void **state) {
  (void)state;
  prints_json("login", (laju_answer){.allowed = true, .limit = 10, .remaining = 9, .reset_after_ms = 12000},
              "{\"allowed\":true,\"rule\":\"login\",\"limit\":10,\"remaining\":9,\"retry_after_ms\":0,"
              "\"reset_after_ms\":12000,\"delay_ms\":0}\n");
}

static void json_has_null_where_waiting_cannot_help(void **state) {
  (void)state;
  prints_json("login", (laju_answer){.limit = 10, .retry_after_ms = LAJU_NEVER},
              "{\"allowed\":false,\"rule\":\"login\",\"limit\":10,\"remaining\":0,\"retry_after_ms\":null,"
              "\"reset_after_ms\":0,\"delay_ms\":0}\n");
}

static void json_escapes_what_it_must(void **state) {
  (void)state;
  prints_json(
      "a\"b\\c\n\x01", (laju_answer){.allowed = true},
      "{\"allowed\":true,\"rule\":\"a\\\"b\\\\c\\u000a\\u0001\",\"limit\":0,\"remaining\":0,\"retry_after_ms\":0,"
      "\"reset_after_ms\":0,\"delay_ms\":0}\n");
}

static void what_strangers_say_has_no_control_characters(void **state) {
  (void)state;
  char text[] = "a\x1b[31mb\n\x7f\xc3\xa9";
  laju_text_clean(text);
  assert_string_equal(text, "a?[31mb??\xc3\xa9");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_admission_says_what_remains),
      cmocka_unit_test(a_denial_says_when_to_try_again),
      cmocka_unit_test(waits_are_rounded_up),
      cmocka_unit_test(json_has_the_members_of_http),
      cmocka_unit_test(json_has_null_where_waiting_cannot_help),
      cmocka_unit_test(json_escapes_what_it_must),
      cmocka_unit_test(what_strangers_say_has_no_control_characters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
