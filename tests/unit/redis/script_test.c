#include "redis/script.h"

#include "redis/script_text.h"
#include "reply.h"

#define NOON INT64_C(1700006400000000)

static laju_rule rule_of(laju_algorithm algorithm, uint64_t limit, uint64_t burst) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "rule", 4, algorithm, limit, 60000000, burst), 0);
  return rule;
}

static laju_script_ask ask_of(const laju_rule *rule, const char *name, uint32_t cost) {
  return (laju_script_ask){.rule = rule, .name = name, .name_len = (uint32_t)strlen(name), .cost = cost};
}

/* ---- commands ---- */

static const laju_script script = {.sha1 = "0123456789012345678901234567890123456789"};

#define HEAD "$7\r\nEVALSHA\r\n$40\r\n0123456789012345678901234567890123456789\r\n"

static void assert_call(const laju_script_ask *asks, size_t count, const laju_script_pin *pin, const char *wanted,
                        size_t len) {
  laju_buffer buffer = {0};
  laju_script_call(&script, asks, count, pin, &buffer);
  assert_false(buffer.failed);
  assert_int_equal(buffer.len, len);
  assert_memory_equal(buffer.data, wanted, len);
  laju_buffer_deinit(&buffer);
}

#define ASSERT_CALL(asks, count, pin, wanted) assert_call(asks, count, pin, wanted, sizeof(wanted) - 1)

/* algorithm, flags, count, period 600000, limit 10, capacity 20, tick 100, cost 3 */
#define RECORD(algorithm, flags, count) \
  algorithm flags count "\x00\xc0\x27\x09\x00\x0a\x00\x00\x00\x14\x00\x00\x00\x64\x00\x00\x00\x03\x00\x00\x00"

static void one_check_is_one_key_and_one_record(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_LEAKY_BUCKET, 10, 20);
  laju_script_ask one = ask_of(&rule, "key", 3);
  ASSERT_CALL(&one, 1, NULL, "*5\r\n" HEAD "$1\r\n1\r\n$3\r\nkey\r\n$24\r\n" RECORD("\x01", "\x00", "\x01") "\r\n");
}

static void checks_that_are_alike_share_a_record(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, 20), same = rule;
  laju_script_ask asks[] = {ask_of(&rule, "a", 3), ask_of(&same, "b", 3), ask_of(&rule, "c", 3)};
  ASSERT_CALL(asks, 3, NULL,
              "*7\r\n" HEAD
              "$1\r\n3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$24\r\n" RECORD("\x00", "\x04", "\x03") "\r\n");
  asks[0].joined = asks[1].at_most = true; /* a request of two; then one alone */
  ASSERT_CALL(asks, 3, NULL,
              "*7\r\n" HEAD "$1\r\n3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$72\r\n" RECORD("\x00", "\x05", "\x01")
                  RECORD("\x00", "\x06", "\x01") RECORD("\x00", "\x04", "\x01") "\r\n");
}

static void a_call_with_a_log_does_not_read_at_once(void **unused) {
  (void)unused;
  laju_rule bucket = rule_of(LAJU_TOKEN_BUCKET, 10, 20), log = rule_of(LAJU_SLIDING_WINDOW_LOG, 10, 0);
  log.capacity = 20; /* so that its record looks like the bucket's */
  laju_script_ask asks[] = {ask_of(&bucket, "a", 3), ask_of(&log, "b", 3)};
  ASSERT_CALL(asks, 2, NULL,
              "*6\r\n" HEAD "$1\r\n2\r\n$1\r\na\r\n$1\r\nb\r\n$48\r\n" RECORD("\x00", "\x00", "\x01")
                  RECORD("\x04", "\x00", "\x01") "\r\n");
}

static void only_tests_bring_the_time(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, 20);
  laju_script_ask one = ask_of(&rule, "k", 3);
  laju_script_pin time = {.now_us = 77}, both = {.now_us = 77, .px_ms = 1234};
  ASSERT_CALL(&one, 1, &time,
              "*6\r\n" HEAD "$1\r\n1\r\n$1\r\nk\r\n$24\r\n" RECORD("\x00", "\x00", "\x01") "\r\n$2\r\n77\r\n");
  ASSERT_CALL(&one, 1, &both,
              "*7\r\n" HEAD
              "$1\r\n1\r\n$1\r\nk\r\n$24\r\n" RECORD("\x00", "\x00", "\x01") "\r\n$2\r\n77\r\n$4\r\n1234\r\n");
}

static void loading_sends_the_whole_text(void **unused) {
  (void)unused;
  laju_buffer buffer = {0};
  laju_script_load(&buffer);
  char head[64];
  int len = snprintf(head, sizeof head, "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$%zu\r\n", laju_script_text_len);
  assert_int_equal(buffer.len, (size_t)len + laju_script_text_len + 2);
  assert_memory_equal(buffer.data, head, (size_t)len);
  assert_memory_equal(buffer.data + len, laju_script_text, laju_script_text_len);
  laju_buffer_deinit(&buffer);
}

static void the_script_is_called_by_its_sha1(void **unused) {
  (void)unused;
  laju_script made;
  assert_int_equal(laju_script_init(&made), 0);
  assert_int_equal(strlen(made.sha1), 40);
  assert_int_equal(strspn(made.sha1, "0123456789abcdef"), 40);
}

/* ---- replies ---- */

static int read_wire(const char *wire, const laju_script_ask *asks, size_t count, laju_script_answer *answers) {
  static redisReply *reply; /* errors' words live as long */
  if (reply != NULL) freeReplyObject(reply);
  reply = reply_of(wire);
  int64_t now_us = -1;
  int error = laju_script_read(reply, asks, count, answers, &now_us);
  assert_int_equal(now_us, error == 0 ? NOON : -1);
  if (error == 0 && answers[0].error == NULL) assert_int_equal(answers[0].now_us, NOON);
  return error;
}

static void a_bucket_is_decided_again_from_what_was_found(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_LEAKY_BUCKET, 10, 20);
  laju_script_ask asks[] = {ask_of(&rule, "a", 3), ask_of(&rule, "a", 18), ask_of(&rule, "b", 3)};
  asks[2].at_most = true;
  laju_script_answer answers[3];
  /* one token stood in the queue at noon; `b` has one place left */
  const char *wire =
      "*7\r\n:1700006400000000\r\n:600000\r\n:17000064000000\r\n:2400000\r\n:17000064000000\r\n"
      ":11400000\r\n:17000064000000\r\n";
  assert_int_equal(read_wire(wire, asks, 3, answers), 0);
  assert_true(answers[0].decision.allowed);
  assert_int_equal(answers[0].taken, 3);
  assert_int_equal(answers[0].decision.remaining, 16);
  assert_int_equal(answers[0].decision.delay_us, 6000000);
  assert_false(answers[1].decision.allowed);
  assert_int_equal(answers[1].taken, 0);
  assert_int_equal(answers[1].decision.retry_after_us, 12000000);
  assert_true(answers[2].decision.allowed);
  assert_int_equal(answers[2].taken, 1);
}

static void a_log_is_told_in_ticks(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_SLIDING_WINDOW_LOG, 10, 0);
  laju_script_ask asks[] = {ask_of(&rule, "a", 3), ask_of(&rule, "a", 11), ask_of(&rule, "a", 9)};
  asks[2].at_most = true;
  laju_script_answer answers[3];
  const char *wire =
      "*17\r\n:1700006400000000\r\n:0\r\n:2\r\n:7\r\n:5\r\n:9\r\n:0\r\n:2\r\n:-1\r\n:5\r\n:9\r\n"
      ":1\r\n:0\r\n:0\r\n:5\r\n:600000\r\n:2\r\n";
  assert_int_equal(read_wire(wire, asks, 3, answers), 0);
  assert_false(answers[0].decision.allowed);
  assert_int_equal(answers[0].decision.limit, 10);
  assert_int_equal(answers[0].decision.remaining, 2);
  assert_int_equal(answers[0].decision.retry_after_us, 700);
  assert_int_equal(answers[0].decision.more_after_us, 500);
  assert_int_equal(answers[0].decision.reset_after_us, 900);
  assert_int_equal(answers[1].decision.retry_after_us, LAJU_NEVER);
  assert_true(answers[2].decision.allowed);
  assert_int_equal(answers[2].taken, 2);
}

static void an_error_is_its_whole_requests_and_no_others(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 0);
  laju_script_ask asks[] = {ask_of(&rule, "a", 1), ask_of(&rule, "b", 1), ask_of(&rule, "c", 1), ask_of(&rule, "d", 1)};
  asks[1].joined = true;
  laju_script_answer answers[4];
  const char *wire =
      "*13\r\n:1700006400000000\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n-WRONGTYPE no\r\n:0\r\n:0\r\n"
      ":28333440\r\n:4\r\n:0\r\n";
  assert_int_equal(read_wire(wire, asks, 4, answers), 0);
  assert_null(answers[0].error);
  assert_int_equal(answers[0].decision.remaining, 9);
  for (size_t i = 1; i < 3; i++) {
    assert_string_equal(answers[i].error, "WRONGTYPE no");
    assert_false(answers[i].decision.allowed);
    assert_int_equal(answers[i].taken, 0);
  }
  assert_null(answers[3].error);
  assert_int_equal(answers[3].decision.remaining, 5);
}

static void what_nobody_wants_any_more_is_skipped(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 0), bucket = rule_of(LAJU_TOKEN_BUCKET, 10, 0);
  laju_script_ask gone[] = {ask_of(&bucket, "a", 1), ask_of(&rule, "b", 1)}, last = ask_of(&rule, "c", 1);
  assert_int_equal(laju_script_width(gone, 2), 5);
  laju_script_ask asks[] = {{.cost = 5}, last};
  laju_script_answer answers[2];
  const char *wire =
      "*9\r\n:1700006400000000\r\n-WRONGTYPE no\r\n:0\r\n+what\r\n:-7\r\n:0\r\n"
      ":28333440\r\n:4\r\n:0\r\n";
  assert_int_equal(read_wire(wire, asks, 2, answers), 0);
  assert_null(answers[0].error);
  assert_int_equal(answers[1].decision.remaining, 5);
}

static void what_is_not_the_scripts_reply_is_refused(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, 0);
  laju_script_ask asks[] = {ask_of(&rule, "a", 1), ask_of(&rule, "b", 1)};
  laju_script_answer answers[2];
  const char *wires[] = {"-NOSCRIPT No matching script.\r\n",
                         "+OK\r\n",
                         ":1700006400000000\r\n",
                         "*0\r\n",
                         "*4\r\n:1700006400000000\r\n:0\r\n:0\r\n:0\r\n",
                         "*6\r\n:1700006400000000\r\n:0\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
                         "*5\r\n$1\r\n1\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
                         "*5\r\n:-1\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
                         "*5\r\n:9007199254740992\r\n:0\r\n:0\r\n:0\r\n:0\r\n"};
  for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) assert_int_equal(read_wire(wires[i], asks, 2, answers), -1);
}

static void assert_odd(laju_algorithm algorithm, size_t count, const char *numbers) {
  laju_rule rule = rule_of(algorithm, 10, 0);
  laju_script_ask one = ask_of(&rule, "a", 1);
  laju_script_answer answer;
  char wire[256];
  snprintf(wire, sizeof wire, "*%zu\r\n:1700006400000000\r\n%s", count + 1, numbers);
  assert_int_equal(read_wire(wire, &one, 1, &answer), 0);
  assert_non_null(answer.error);
  assert_memory_equal(answer.error, "BADSTATE", 8);
}

static void numbers_outside_a_states_range_are_an_error(void **unused) {
  (void)unused;
  assert_odd(LAJU_TOKEN_BUCKET, 2, ":-1\r\n:0\r\n");
  assert_odd(LAJU_TOKEN_BUCKET, 2, ":0\r\n:9007199254740992\r\n");
  assert_odd(LAJU_TOKEN_BUCKET, 2, ":0\r\n$1\r\n0\r\n");
  assert_odd(LAJU_TOKEN_BUCKET, 2, "*1\r\n:0\r\n:0\r\n");
  assert_odd(LAJU_FIXED_WINDOW, 3, ":150119987580\r\n:0\r\n:0\r\n"); /* begins after all times */
  assert_odd(LAJU_FIXED_WINDOW, 3, ":0\r\n:4294967296\r\n:0\r\n");
  assert_odd(LAJU_SLIDING_WINDOW_COUNTER, 3, ":0\r\n:0\r\n:-1\r\n");
  assert_odd(LAJU_SLIDING_WINDOW_LOG, 5, ":2\r\n:0\r\n:0\r\n:0\r\n:0\r\n");
  assert_odd(LAJU_SLIDING_WINDOW_LOG, 5, ":1\r\n:11\r\n:0\r\n:0\r\n:0\r\n");
  assert_odd(LAJU_SLIDING_WINDOW_LOG, 5, ":1\r\n:9\r\n:0\r\n:-1\r\n:0\r\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_check_is_one_key_and_one_record),
      cmocka_unit_test(checks_that_are_alike_share_a_record),
      cmocka_unit_test(a_call_with_a_log_does_not_read_at_once),
      cmocka_unit_test(only_tests_bring_the_time),
      cmocka_unit_test(loading_sends_the_whole_text),
      cmocka_unit_test(the_script_is_called_by_its_sha1),
      cmocka_unit_test(a_bucket_is_decided_again_from_what_was_found),
      cmocka_unit_test(a_log_is_told_in_ticks),
      cmocka_unit_test(an_error_is_its_whole_requests_and_no_others),
      cmocka_unit_test(what_nobody_wants_any_more_is_skipped),
      cmocka_unit_test(what_is_not_the_scripts_reply_is_refused),
      cmocka_unit_test(numbers_outside_a_states_range_are_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
