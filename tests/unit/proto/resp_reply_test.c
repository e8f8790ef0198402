#include "proto/resp_reply.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_US 1000000

static laju_rule rule = {.name = "a"};

/* The reply to one ask of one check. */
static const char *answers(laju_ask ask, laju_decision decision) {
  static char text[1024];
  laju_batch *batch = laju_batch_new();
  laju_buffer out = {0};
  assert_non_null(batch);
  ask.count = 1;
  batch->asks[0] = ask;
  batch->checks[0] = (laju_check){.rule = &rule};
  batch->decisions[0] = decision;
  batch->ask_count = batch->check_count = 1;
  laju_resp_encode(batch, &out);
  laju_buffer_add(&out, "", 1);
  assert_true(out.len <= sizeof text);
  memcpy(text, out.data, out.len);
  laju_buffer_deinit(&out);
  laju_batch_free(batch);
  return text;
}

static void a_refusal_for_want_of_the_store_waits_a_second(void **state) {
  (void)state;
  laju_decision denied = {.limit = 5, .retry_after_us = SECOND_US, .basis = LAJU_FALLBACK};
  laju_ask throttle = {.kind = LAJU_ASK_EACH, .form = LAJU_RESP_FORM_THROTTLE};
  laju_ask check = {.kind = LAJU_ASK_EACH, .form = LAJU_RESP_FORM_CHECK};
  assert_string_equal(answers(throttle, denied), "*5\r\n:1\r\n:5\r\n:0\r\n:1\r\n:0\r\n");
  assert_string_equal(answers(check, denied), "*6\r\n:0\r\n:5\r\n:0\r\n:1000\r\n:0\r\n:0\r\n");
}

static void a_request_over_several_slots_is_an_error_with_what_would_help(void **state) {
  (void)state;
  laju_ask split = {.kind = LAJU_ASK_ALL, .form = LAJU_RESP_FORM_ALL, .split = true};
  const char *text = answers(split, (laju_decision){.limit = 0});
  assert_memory_equal(text, "-CROSSSLOT its checks belong to different slots of the Redis Cluster", 68);
  assert_non_null(strstr(text, "`group:`"));
  assert_string_equal(text + strlen(text) - 2, "\r\n");
}

static void a_reset_that_was_not_done_is_an_error(void **state) {
  (void)state;
  laju_ask reset = {.kind = LAJU_ASK_RESET, .form = LAJU_RESP_FORM_RESET, .failed = true};
  assert_string_equal(answers(reset, (laju_decision){.limit = 0}),
                      "-ERR the shared store did not answer: the key may be forgotten, or not\r\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_for_want_of_the_store_waits_a_second),
      cmocka_unit_test(a_request_over_several_slots_is_an_error_with_what_would_help),
      cmocka_unit_test(a_reset_that_was_not_done_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
