#include "redis/transaction.h"

#include "reply.h"

#define NOON INT64_C(1700006400000000) /* window 28333440 of a minute */
#define SECOND INT64_C(1000000)

static laju_rule rule_of(laju_algorithm algorithm, uint64_t limit) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "rule", 4, algorithm, limit, 60 * SECOND, 0), 0);
  return rule;
}

static laju_script_ask ask_of(const laju_rule *rule, const char *name, uint32_t cost) {
  return (laju_script_ask){.rule = rule, .name = name, .name_len = (uint32_t)strlen(name), .cost = cost};
}

static laju_buffer buffer;

/* What was appended, with blanks for the ends of lines and without lengths: "*2 GET key". */
static const char *said(void) {
  static char text[2048];
  size_t len = 0;
  assert_false(buffer.failed);
  for (size_t at = 0; at < buffer.len;) {
    const char *end = memchr(buffer.data + at, '\r', buffer.len - at);
    size_t size = (size_t)(end - buffer.data) - at;
    if (buffer.data[at] != '$') {
      len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", len > 0 ? " " : "", (int)size, buffer.data + at);
    }
    at += size + 2;
  }
  text[len] = '\0';
  laju_buffer_deinit(&buffer);
  return text;
}

/* Ten seconds into the window, which was guessed. */
#define TIME "*2\r\n$10\r\n1700006410\r\n$1\r\n7\r\n"

static laju_transaction_result read_wire(const char *wire, const laju_script_ask *asks, size_t count,
                                         laju_script_answer *answers) {
  static redisReply *reply; /* errors' words live as long */
  if (reply != NULL) freeReplyObject(reply);
  reply = reply_of(wire);
  int64_t now_us = -1;
  laju_transaction_result result = laju_transaction_read(reply, asks, count, NOON, answers, &now_us);
  assert_int_equal(now_us, result == LAJU_TRANSACTION_BROKEN ? -1 : NOON + 10 * SECOND + 7);
  return result;
}

/* ---- commands ---- */

static void a_call_counts_first(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10), sliding = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 3), ask_of(&sliding, "b", 1)};
  assert_int_equal(laju_transaction_call(asks, 2, NOON, &buffer), 8);
  assert_int_equal(laju_transaction_width(asks, 2), 5);
  assert_string_equal(said(),
                      "*1 MULTI *1 TIME *3 INCRBY a:28333440:t 3 *3 PEXPIRE a:28333440:t 120001 *2 GET b:28333439:t "
                      "*3 INCRBY b:28333440:t 1 *3 PEXPIRE b:28333440:t 240001 *1 EXEC");
}

static void what_cannot_be_admitted_and_peeks_only_read(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10), none = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 0);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 11), ask_of(&fixed, "a", 0), ask_of(&none, "b", 1),
                            ask_of(&none, "b", 9)};
  asks[3].at_most = true;
  assert_int_equal(laju_transaction_call(asks, 4, NOON, &buffer), 9);
  assert_string_equal(said(),
                      "*1 MULTI *1 TIME *2 GET a:28333440:t *2 GET a:28333440:t *2 GET b:28333439:t "
                      "*2 GET b:28333440:t *2 GET b:28333439:t *2 GET b:28333440:t *1 EXEC");
}

static void at_most_counts_no_more_than_there_can_be(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask ask = ask_of(&fixed, "a", LAJU_TOKENS_MAX);
  ask.at_most = true;
  laju_transaction_call(&ask, 1, NOON, &buffer);
  assert_string_equal(said(), "*1 MULTI *1 TIME *3 INCRBY a:28333440:t 10 *3 PEXPIRE a:28333440:t 120001 *1 EXEC");
}

static void a_life_is_never_longer_than_redis_can_tell(void **unused) {
  (void)unused;
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "r", 1, LAJU_SLIDING_WINDOW_COUNTER, 1, LAJU_PERIOD_MAX_US, 0), 0);
  laju_script_ask ask = ask_of(&rule, "a", 1);
  laju_transaction_call(&ask, 1, NOON, &buffer);
  assert_non_null(strstr(said(), "PEXPIRE a:53:t 126489600001 "));
}

static void forgetting_takes_the_windows_around_along(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10), bucket = rule_of(LAJU_TOKEN_BUCKET, 10);
  laju_transaction_forget(&fixed, "a", 1, NOON, &buffer);
  assert_string_equal(said(), "*5 DEL a a:28333439:t a:28333440:t a:28333441:t");
  laju_transaction_forget(&bucket, "a", 1, NOON, &buffer);
  assert_string_equal(said(), "*2 DEL a");
}

/* ---- replies ---- */

static void what_was_there_before_decides(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10), sliding = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 3), ask_of(&fixed, "b", 3), ask_of(&sliding, "c", 1),
                            ask_of(&fixed, "d", 0)};
  laju_script_answer answers[4];
  const char *wire = "*9\r\n" TIME ":10\r\n:1\r\n:11\r\n:1\r\n$1\r\n6\r\n:6\r\n:1\r\n$1\r\n4\r\n";
  assert_int_equal(read_wire(wire, asks, 4, answers), LAJU_TRANSACTION_DECIDED);
  assert_true(answers[0].decision.allowed); /* seven before */
  assert_int_equal(answers[0].decision.remaining, 0);
  assert_int_equal(answers[0].taken, 3);
  assert_int_equal(answers[0].found.window.curr, 7);
  assert_int_equal(answers[0].now_us, NOON + 10 * SECOND + 7);
  assert_false(answers[1].decision.allowed); /* eight before */
  assert_int_equal(answers[1].decision.remaining, 2);
  assert_int_equal(answers[1].decision.retry_after_us, 50 * SECOND);
  assert_false(answers[2].decision.allowed); /* five, and six in the minute before, of which five weigh still */
  assert_int_equal(answers[2].found.window.prev, 6);
  assert_int_equal(answers[3].decision.remaining, 6);

  laju_transaction_take_back(asks, 4, answers, NOON, &buffer);
  assert_string_equal(said(),
                      "*1 MULTI *6 SET b:28333440:t 3 PX 120001 NX *3 DECRBY b:28333440:t 3 "
                      "*6 SET c:28333440:t 1 PX 240001 NX *3 DECRBY c:28333440:t 1 *1 EXEC");
}

static void a_window_without_counters_is_fresh(void **unused) {
  (void)unused;
  laju_rule sliding = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 10);
  laju_script_ask asks[] = {ask_of(&sliding, "a", 0), ask_of(&sliding, "b", 4)};
  laju_script_answer answers[2];
  assert_int_equal(read_wire("*6\r\n" TIME "$-1\r\n$-1\r\n$-1\r\n:4\r\n:1\r\n", asks, 2, answers),
                   LAJU_TRANSACTION_DECIDED);
  assert_int_equal(answers[0].decision.remaining, 10);
  assert_int_equal(answers[1].decision.remaining, 6);
  assert_int_equal(laju_transaction_take_back(asks, 2, answers, NOON, &buffer), 0);
  assert_int_equal(buffer.len, 0);
}

/* Nine before; the first three ask for 2, 1, 1, each alone; they happen at once, so what the first counted in vain is known. */
static void who_is_refused_takes_nothing_from_those_behind(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 2), ask_of(&fixed, "a", 1), ask_of(&fixed, "a", 1)};
  laju_script_answer answers[3];
  assert_int_equal(read_wire("*7\r\n" TIME ":11\r\n:1\r\n:12\r\n:1\r\n:13\r\n:1\r\n", asks, 3, answers),
                   LAJU_TRANSACTION_DECIDED);
  assert_false(answers[0].decision.allowed);
  assert_true(answers[1].decision.allowed);
  assert_false(answers[2].decision.allowed);
  assert_int_equal(laju_transaction_take_back(asks, 3, answers, NOON, &buffer), 6);
  assert_string_equal(said(),
                      "*1 MULTI *6 SET a:28333440:t 2 PX 120001 NX *3 DECRBY a:28333440:t 2 "
                      "*6 SET a:28333440:t 1 PX 120001 NX *3 DECRBY a:28333440:t 1 *1 EXEC");
}

static void a_request_is_charged_whole_or_not_at_all(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 2), ask_of(&fixed, "b", 1), ask_of(&fixed, "a", 2)};
  asks[0].joined = true;
  laju_script_answer answers[3];
  assert_int_equal(read_wire("*7\r\n" TIME ":10\r\n:1\r\n:11\r\n:1\r\n:12\r\n:1\r\n", asks, 3, answers),
                   LAJU_TRANSACTION_DECIDED);
  assert_true(answers[0].decision.allowed); /* at its turn */
  assert_false(answers[1].decision.allowed);
  assert_true(answers[2].decision.allowed); /* as the first one's two do not stand */
  laju_transaction_take_back(asks, 3, answers, NOON, &buffer);
  assert_string_equal(said(),
                      "*1 MULTI *6 SET a:28333440:t 2 PX 120001 NX *3 DECRBY a:28333440:t 2 "
                      "*6 SET b:28333440:t 1 PX 120001 NX *3 DECRBY b:28333440:t 1 *1 EXEC");
}

static void at_most_keeps_what_there_is(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 100), ask_of(&fixed, "a", 1)};
  asks[0].at_most = true;
  laju_script_answer answers[2];
  assert_int_equal(read_wire("*5\r\n" TIME ":14\r\n:1\r\n:15\r\n:1\r\n", asks, 2, answers), LAJU_TRANSACTION_DECIDED);
  assert_true(answers[0].decision.allowed);
  assert_int_equal(answers[0].taken, 6); /* four before; ten were counted */
  assert_false(answers[1].decision.allowed);
  assert_int_equal(answers[1].found.window.curr, 10);
  laju_transaction_take_back(asks, 1, answers, NOON, &buffer);
  assert_string_equal(said(), "*1 MULTI *6 SET a:28333440:t 4 PX 120001 NX *3 DECRBY a:28333440:t 4 *1 EXEC");
}

static void an_error_is_its_whole_requests_and_no_others(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask asks[] = {ask_of(&fixed, "a", 1), ask_of(&fixed, "list", 1), ask_of(&fixed, "a", 1)};
  asks[0].joined = true;
  laju_script_answer answers[3];
  assert_int_equal(read_wire("*7\r\n" TIME ":1\r\n:1\r\n-WRONGTYPE no\r\n:1\r\n:2\r\n:1\r\n", asks, 3, answers),
                   LAJU_TRANSACTION_DECIDED);
  for (int i = 0; i < 2; i++) {
    assert_string_equal(answers[i].error, "WRONGTYPE no");
    assert_int_equal(answers[i].taken, 0);
  }
  assert_int_equal(answers[2].decision.remaining, 9);
  assert_int_equal(read_wire("*3\r\n" TIME "*0\r\n:1\r\n", asks + 2, 1, answers), LAJU_TRANSACTION_DECIDED);
  assert_memory_equal(answers[0].error, "BADSTATE", 8);
}

static void counters_out_of_all_bounds_refuse_or_are_none(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask ask = ask_of(&fixed, "a", 1);
  laju_script_answer answer;
  assert_int_equal(read_wire("*3\r\n" TIME ":9223372036854775807\r\n:1\r\n", &ask, 1, &answer),
                   LAJU_TRANSACTION_DECIDED);
  assert_false(answer.decision.allowed);
  assert_int_equal(answer.found.window.curr, UINT32_MAX);
  assert_int_equal(read_wire("*3\r\n" TIME ":-9223372036854775808\r\n:1\r\n", &ask, 1, &answer),
                   LAJU_TRANSACTION_DECIDED);
  assert_true(answer.decision.allowed);
  assert_int_equal(read_wire("*3\r\n" TIME ":-5\r\n:1\r\n", &ask, 1, &answer), LAJU_TRANSACTION_DECIDED);
  assert_int_equal(answer.decision.remaining, 9);
}

static void a_time_in_another_window_decides_nothing(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask ask = ask_of(&fixed, "a", 1);
  laju_script_answer answer;
  redisReply *reply = reply_of("*3\r\n" TIME ":1\r\n:1\r\n");
  int64_t now_us;
  assert_int_equal(laju_transaction_read(reply, &ask, 1, NOON - 1, &answer, &now_us), LAJU_TRANSACTION_STALE);
  assert_int_equal(now_us, NOON + 10 * SECOND + 7);
  assert_int_equal(laju_transaction_read(reply, &ask, 1, NOON + 60 * SECOND, &answer, &now_us), LAJU_TRANSACTION_STALE);
  assert_int_equal(laju_transaction_read(reply, &ask, 1, NOON + 59 * SECOND, &answer, &now_us),
                   LAJU_TRANSACTION_DECIDED);
  freeReplyObject(reply);
  laju_transaction_take_back(&ask, 1, NULL, NOON - 1, &buffer);
  assert_string_equal(said(), "*1 MULTI *6 SET a:28333439:t 1 PX 120001 NX *3 DECRBY a:28333439:t 1 *1 EXEC");
}

static void what_nobody_wants_any_more_is_skipped_and_stays(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask asks[] = {{.cost = 3}, ask_of(&fixed, "a", 11)};
  laju_script_answer answers[2];
  assert_int_equal(read_wire("*5\r\n" TIME "-what\r\n*0\r\n:1\r\n$1\r\n2\r\n", asks, 2, answers),
                   LAJU_TRANSACTION_DECIDED);
  assert_int_equal(answers[1].decision.remaining, 8);
  assert_int_equal(answers[1].decision.retry_after_us, LAJU_NEVER);
  assert_int_equal(laju_transaction_take_back(asks, 2, answers, NOON, &buffer), 0);
}

static void what_is_no_such_reply_is_refused(void **unused) {
  (void)unused;
  laju_rule fixed = rule_of(LAJU_FIXED_WINDOW, 10);
  laju_script_ask ask = ask_of(&fixed, "a", 1);
  laju_script_answer answer;
  static const char *const wires[] = {
      "+OK\r\n",
      "*-1\r\n", /* EXEC of a WATCH that failed */
      "*2\r\n" TIME ":1\r\n",
      "*4\r\n" TIME ":1\r\n:1\r\n:1\r\n",
      "*3\r\n:1\r\n:1\r\n:1\r\n",
      "*3\r\n*1\r\n$1\r\n1\r\n:1\r\n:1\r\n",
      "*3\r\n*2\r\n$1\r\n1\r\n$7\r\n1000000\r\n:1\r\n:1\r\n",
      "*3\r\n*2\r\n$2\r\n-1\r\n$1\r\n0\r\n:1\r\n:1\r\n",
      "*3\r\n*2\r\n$10\r\n9999999999\r\n$1\r\n0\r\n:1\r\n:1\r\n",
  };
  for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
    assert_int_equal(read_wire(wires[i], &ask, 1, &answer), LAJU_TRANSACTION_BROKEN);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_call_counts_first),
      cmocka_unit_test(what_cannot_be_admitted_and_peeks_only_read),
      cmocka_unit_test(at_most_counts_no_more_than_there_can_be),
      cmocka_unit_test(a_life_is_never_longer_than_redis_can_tell),
      cmocka_unit_test(forgetting_takes_the_windows_around_along),
      cmocka_unit_test(what_was_there_before_decides),
      cmocka_unit_test(a_window_without_counters_is_fresh),
      cmocka_unit_test(who_is_refused_takes_nothing_from_those_behind),
      cmocka_unit_test(a_request_is_charged_whole_or_not_at_all),
      cmocka_unit_test(at_most_keeps_what_there_is),
      cmocka_unit_test(an_error_is_its_whole_requests_and_no_others),
      cmocka_unit_test(counters_out_of_all_bounds_refuse_or_are_none),
      cmocka_unit_test(a_time_in_another_window_decides_nothing),
      cmocka_unit_test(what_nobody_wants_any_more_is_skipped_and_stays),
      cmocka_unit_test(what_is_no_such_reply_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
