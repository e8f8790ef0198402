/* What a call means on a real Redis: requests all or none, each for itself, and what is no state is left alone. */
#include "redis/fixture.h"

#include "vectors/keeper.h"

static int64_t ask(const laju_script_ask *asks, size_t count, laju_script_answer *answers) {
  return redis_ask(&server, asks, count, &(laju_script_pin){.now_us = NOON}, answers);
}

static void assert_stored(const char *name, const void *bytes, size_t len) {
  redisReply *reply = redis_command(&server, "GET %s", name);
  assert_int_equal(reply->type, REDIS_REPLY_STRING);
  assert_int_equal(reply->len, len);
  assert_memory_equal(reply->str, bytes, len);
  freeReplyObject(reply);
}

static void store_bytes(const char *name, const void *bytes, size_t len) {
  freeReplyObject(redisCommand(server.link, "SET %s %b", name, bytes, len)); /* %b is hiredis' own */
}

static bool exists(const char *name) {
  return redis_integer(&server, "EXISTS %s", name) == 1;
}

static int64_t redis_now_us(void) {
  redisReply *reply = redis_command(&server, "TIME");
  int64_t us = strtoll(reply->element[0]->str, NULL, 10) * SECOND + strtoll(reply->element[1]->str, NULL, 10);
  freeReplyObject(reply);
  return us;
}

/* ---- time ---- */

static void the_time_is_redis_own(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, MINUTE, 0);
  laju_script_ask one = ask_of(&rule, "key", 1);
  laju_script_answer answer;
  int64_t before = redis_now_us();
  int64_t now_us = redis_ask(&server, &one, 1, NULL, &answer);
  assert_in_range(now_us, before, redis_now_us());
  assert_int_equal(answer.decision.remaining, 9);
}

/* ---- requests ---- */

static void the_eleventh_of_ten_is_refused(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    for (int i = 1; i <= 11; i++) {
      laju_script_answer answer = ask_at(&rule, "key", 1, NOON);
      assert_int_equal(answer.decision.allowed, i <= 10);
      assert_int_equal(answer.taken, i <= 10);
    }
    empty(NULL);
  }
}

static void the_same_key_in_one_batch_is_one_key(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0), other = rule_of(LAJU_FIXED_WINDOW, 5, MINUTE, 0);
    laju_script_ask asks[22];
    laju_script_answer answers[22];
    for (size_t i = 0; i < 22; i++) asks[i] = i % 2 ? ask_of(&other, "other", 0) : ask_of(&rule, "key", 1);
    ask(asks, 22, answers);
    for (size_t i = 0; i < 22; i++) {
      assert_int_equal(answers[i].decision.allowed, i != 20);
      if (i % 2 == 0) assert_int_equal(answers[i].decision.remaining, i < 20 ? 9 - i / 2 : 0);
    }
    empty(NULL);
  }
}

static void all_are_charged_or_none(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule wide = rule_of(every_algorithm[a], 10, MINUTE, 0), narrow = rule_of(every_algorithm[a], 2, MINUTE, 0);
    laju_script_answer answers[2];
    for (int i = 1; i <= 3; i++) {
      laju_script_ask asks[] = {ask_of(&wide, "wide", 1), ask_of(&narrow, "narrow", 1)};
      asks[0].joined = true;
      ask(asks, 2, answers);
      assert_true(answers[0].decision.allowed); /* as it answered at its turn */
      assert_int_equal(answers[0].decision.remaining, 10 - i);
      assert_int_equal(answers[1].decision.allowed, i <= 2);
    }
    assert_int_equal(ask_at(&wide, "wide", 0, NOON).decision.remaining, 8);
    empty(NULL);
  }
}

static void repeats_see_what_the_earlier_would_leave(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    laju_script_ask asks[4];
    laju_script_answer answers[4];
    for (size_t i = 0; i < 4; i++) asks[i] = ask_of(&rule, "key", i == 2 ? 5 : 3);
    for (size_t i = 0; i < 3; i++) asks[i].joined = true;
    ask(asks, 4, answers); /* 3 and 3 of 10 pass, 5 does not, 3 more would */
    assert_int_equal(answers[0].decision.remaining, 7);
    assert_int_equal(answers[1].decision.remaining, 4);
    assert_false(answers[2].decision.allowed);
    assert_int_equal(answers[2].decision.remaining, 4);
    assert_true(answers[3].decision.allowed);
    assert_int_equal(answers[3].decision.remaining, 1);
    assert_false(exists("key"));

    asks[2].cost = 1;
    ask(asks, 4, answers);
    for (size_t i = 0; i < 4; i++) assert_true(answers[i].decision.allowed);
    assert_int_equal(ask_at(&rule, "key", 0, NOON).decision.remaining, 0);
    empty(NULL);
  }
}

static void denials_and_peeks_write_nothing(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0), none = rule_of(every_algorithm[a], 0, MINUTE, 0);
    assert_true(ask_at(&rule, "key", 0, NOON).decision.allowed);
    assert_int_equal(ask_at(&rule, "key", 11, NOON).decision.retry_after_us, LAJU_NEVER);
    assert_true(ask_at(&none, "key", 0, NOON).decision.allowed);
    assert_int_equal(ask_at(&none, "key", 1, NOON).decision.retry_after_us, LAJU_NEVER);
    assert_int_equal(ask_at(&none, "key", LAJU_TOKENS_MAX, NOON).decision.retry_after_us, LAJU_NEVER);
    assert_false(exists("key"));
  }
}

static void at_most_takes_what_there_is(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0), none = rule_of(every_algorithm[a], 0, MINUTE, 0);
    laju_script_ask asks[4];
    for (size_t i = 0; i < 3; i++) asks[i] = ask_of(&rule, "key", i == 0 ? 6 : LAJU_TOKENS_MAX);
    asks[3] = ask_of(&none, "none", 3);
    for (size_t i = 0; i < 4; i++) asks[i].at_most = true;
    laju_script_answer answers[4];
    ask(asks, 4, answers);
    const uint32_t taken[] = {6, 4, 0, 0}, remaining[] = {4, 0, 0, 0};
    for (size_t i = 0; i < 4; i++) {
      assert_true(answers[i].decision.allowed);
      assert_int_equal(answers[i].taken, taken[i]);
      assert_int_equal(answers[i].decision.remaining, remaining[i]);
    }
    empty(NULL);
  }
}

static void a_call_of_the_largest_size_is_decided(void **unused) {
  (void)unused;
  static laju_script_ask asks[LAJU_SCRIPT_CHECKS_MAX];
  static laju_script_answer answers[LAJU_SCRIPT_CHECKS_MAX];
  static char names[LAJU_SCRIPT_CHECKS_MAX][16];
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, MINUTE, 0), log = rule_of(LAJU_SLIDING_WINDOW_LOG, 10, MINUTE, 0);
  for (size_t i = 0; i < LAJU_SCRIPT_CHECKS_MAX; i++) {
    snprintf(names[i], sizeof names[i], "key:%zu", i);
    asks[i] = ask_of(&rule, names[i], 1);
  }
  for (uint32_t round = 1; round <= 2; round++) {
    ask(asks, LAJU_SCRIPT_CHECKS_MAX, answers);
    for (size_t i = 0; i < LAJU_SCRIPT_CHECKS_MAX; i++) assert_int_equal(answers[i].decision.remaining, 10 - round);
  }
  asks[77].rule = &log; /* then keys are read one by one; this one holds a bucket */
  ask(asks, LAJU_SCRIPT_CHECKS_MAX, answers);
  for (size_t i = 0; i < LAJU_SCRIPT_CHECKS_MAX; i++) {
    if (i == 77) {
      assert_non_null(answers[i].error);
    } else {
      assert_int_equal(answers[i].decision.remaining, 7);
    }
  }
}

/* A minute's rule has ticks of 100 us; windows' time is their start. */
static void a_state_ahead_by_the_period_holds_and_by_a_tick_more_is_a_mistake(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    ask_at(&rule, "key", 10, NOON + MINUTE);
    assert_int_equal(ask_at(&rule, "key", 0, NOON).decision.remaining, 0);
    assert_int_equal(ask_at(&rule, "key", 1, NOON - 100).decision.remaining, 9);
    assert_int_equal(ask_at(&rule, "key", 0, NOON - 100).decision.remaining, 9);
    empty(NULL);
  }
}

/* ---- what is no state ---- */

static void a_key_of_another_type_answers_its_own_request_alone(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    freeReplyObject(redis_command(&server, "RPUSH list 1"));
    laju_script_ask asks[] = {ask_of(&rule, "before", 1), ask_of(&rule, "first", 1), ask_of(&rule, "list", 1),
                              ask_of(&rule, "last", 1), ask_of(&rule, "after", 1)};
    asks[1].joined = asks[2].joined = true;
    laju_script_answer answers[5];
    ask(asks, 5, answers);
    for (size_t i = 1; i < 4; i++) {
      assert_non_null(answers[i].error);
      assert_memory_equal(answers[i].error, "WRONGTYPE", 9);
    }
    assert_null(answers[0].error);
    assert_null(answers[4].error);
    assert_int_equal(answers[4].decision.remaining, 9);
    assert_true(exists("before") && exists("after"));
    assert_false(exists("first") || exists("last"));
    assert_int_equal(redis_integer(&server, "LLEN list"), 1);
    empty(NULL);
  }
}

static void assert_bytes_refused(laju_algorithm algorithm, const void *bytes, size_t len) {
  laju_rule rule = rule_of(algorithm, 10, MINUTE, 0);
  empty(NULL);
  store_bytes("odd", bytes, len);
  laju_script_ask asks[] = {ask_of(&rule, "before", 1), ask_of(&rule, "odd", 1), ask_of(&rule, "after", 1)};
  laju_script_answer answers[3];
  ask(asks, 3, answers);
  assert_null(answers[0].error);
  assert_non_null(answers[1].error);
  assert_memory_equal(answers[1].error, "BADSTATE", 8);
  assert_null(answers[2].error);
  assert_stored("odd", bytes, len);
  assert_int_equal(redis_integer(&server, "PTTL odd"), -1);
}

static void a_length_that_is_not_known_is_an_error_and_stays(void **unused) {
  (void)unused;
  static const char zeros[65];
  for (size_t a = 0; a < 4; a++) {
    assert_bytes_refused(every_algorithm[a], zeros, 0);
    assert_bytes_refused(every_algorithm[a], zeros, 15);
    assert_bytes_refused(every_algorithm[a], zeros, 17);
    assert_bytes_refused(every_algorithm[a], zeros, 32);
  }
  const size_t lengths[] = {0, 1, 15, 16, 17, 24, 65};
  for (size_t i = 0; i < 7; i++) assert_bytes_refused(LAJU_SLIDING_WINDOW_LOG, zeros, lengths[i]);
  uint64_t odd[2 + 3] = {3}; /* a ring of three has its length, and is none of ours */
  assert_bytes_refused(LAJU_SLIDING_WINDOW_LOG, odd, sizeof odd);
  static uint64_t large[2 + 2048] = {2049};
  assert_bytes_refused(LAJU_SLIDING_WINDOW_LOG, large, sizeof large);
}

static void numbers_that_no_state_holds_are_an_error(void **unused) {
  (void)unused;
  const uint64_t numbers[2] = {UINT64_C(1) << 60, 0};
  store_bytes("key", numbers, sizeof numbers);
  laju_rule bucket = rule_of(LAJU_TOKEN_BUCKET, 10, MINUTE, 0), window = rule_of(LAJU_FIXED_WINDOW, 10, MINUTE, 0);
  assert_non_null(ask_at(&bucket, "key", 0, NOON).error);
  assert_non_null(ask_at(&window, "key", 0, NOON).error);
}

/* ---- bytes that C wrote, and the log's ring ---- */

static void a_state_that_c_wrote_goes_on(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 100, MINUTE, 0);
    keeper k = {0};
    laju_decision wanted;
    keeper_check(&k, &rule, NOON - SECOND, 30, &wanted);
    size_t len;
    unsigned char *bytes = keeper_bytes(&k, &rule, &len);
    store_bytes("key", bytes, len);
    free(bytes);

    keeper_check(&k, &rule, NOON, 7, &wanted);
    laju_script_answer answer = ask_at(&rule, "key", 7, NOON);
    assert_int_equal(answer.decision.remaining, wanted.remaining);
    assert_int_equal(answer.decision.reset_after_us, wanted.reset_after_us);
    bytes = keeper_bytes(&k, &rule, &len);
    assert_stored("key", bytes, len);
    free(bytes);
    keeper_deinit(&k);
  }
}

/* Longer than the script reads at once: it grows, turns over its end, and expires in part. */
static void the_longest_ring_is_kept_as_c_keeps_it(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_SLIDING_WINDOW_LOG, LAJU_LOG_LIMIT_MAX, MINUTE, 0);
  const uint32_t costs[] = {1, 7, 900, 117, 2000, 30000, 0, 32511, 1, 20000, 3000, 40000, 65536, 1};
  keeper k = {0};
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    int64_t now_us = NOON + (int64_t)i * 9 * SECOND;
    laju_decision wanted;
    keeper_check(&k, &rule, now_us, costs[i], &wanted);
    laju_script_answer answer = ask_at(&rule, "key", costs[i], now_us);
    assert_null(answer.error);
    assert_memory_equal(&answer.decision, &wanted, offsetof(laju_decision, allowed)); /* behind it is padding */
    assert_int_equal(answer.decision.allowed, wanted.allowed);
    size_t len;
    unsigned char *bytes = keeper_bytes(&k, &rule, &len);
    assert_stored("key", bytes, len);
    free(bytes);
  }
  keeper_deinit(&k);
}

static void repeats_on_a_log_are_one_admission(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_SLIDING_WINDOW_LOG, 100, MINUTE, 0);
  laju_script_ask asks[3];
  laju_script_answer answers[3];
  for (size_t i = 0; i < 3; i++) asks[i] = ask_of(&rule, "key", 5);
  asks[0].joined = asks[1].joined = true;
  ask(asks, 3, answers);
  keeper k = {0};
  keeper_admit(&k, &rule, NOON, 15);
  k.known = true;
  size_t len;
  unsigned char *bytes = keeper_bytes(&k, &rule, &len);
  assert_stored("key", bytes, len);
  free(bytes);
  keeper_deinit(&k);
}

/* ---- a server that does not write ---- */

/* One key of each algorithm is known before the server stops to write. */
static void admit_first(void) {
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    char known[16];
    snprintf(known, sizeof known, "known:%zu", a);
    assert_int_equal(ask_at(&rule, known, 4, NOON).decision.remaining, 6);
  }
}

static void assert_only_denials_are_answered(const char *word) {
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, MINUTE, 0);
    char known[16];
    snprintf(known, sizeof known, "known:%zu", a);
    laju_script_ask asks[] = {ask_of(&rule, "new", 11), ask_of(&rule, known, 0), ask_of(&rule, "new", 1),
                              ask_of(&rule, known, 1),  ask_of(&rule, "new", 1), ask_of(&rule, "other", 1),
                              ask_of(&rule, known, 1),  ask_of(&rule, "new", 1), ask_of(&rule, known, 0)};
    asks[4].joined = asks[6].joined = true;
    laju_script_answer answers[9];
    ask(asks, 9, answers);
    assert_int_equal(answers[0].decision.retry_after_us, LAJU_NEVER);
    assert_null(answers[1].error);
    for (size_t i = 2; i < 8; i++) {
      assert_non_null(answers[i].error);
      assert_memory_equal(answers[i].error, word, strlen(word));
    }
    assert_null(answers[8].error);
    assert_int_equal(answers[8].decision.remaining, 6);
    assert_false(exists("new"));
  }
}

static void full_memory_charges_nothing(void **unused) {
  (void)unused;
  admit_first();
  freeReplyObject(redis_command(&server, "CONFIG SET maxmemory 1"));
  assert_only_denials_are_answered("OOM");
  freeReplyObject(redis_command(&server, "CONFIG SET maxmemory 0"));
}

static void a_replica_charges_nothing(void **unused) {
  (void)unused;
  admit_first();
  freeReplyObject(redis_command(&server, "REPLICAOF 127.0.0.1 1"));
  assert_only_denials_are_answered("READONLY");
  freeReplyObject(redis_command(&server, "REPLICAOF NO ONE"));
}

static void a_flushed_script_is_told_by_its_error(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "SCRIPT FLUSH"));
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, MINUTE, 0);
  laju_script_ask one = ask_of(&rule, "key", 1);
  redis_send(&server, &one, 1, NULL);
  redisReply *reply = redis_next_reply(&server);
  laju_script_answer answer;
  int64_t now_us;
  assert_int_equal(laju_script_read(reply, &one, 1, &answer, &now_us), -1);
  assert_int_equal(reply->type, REDIS_REPLY_ERROR);
  assert_memory_equal(reply->str, "NOSCRIPT", 8);
  freeReplyObject(reply);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(the_time_is_redis_own, empty),
      cmocka_unit_test_teardown(the_eleventh_of_ten_is_refused, empty),
      cmocka_unit_test_teardown(the_same_key_in_one_batch_is_one_key, empty),
      cmocka_unit_test_teardown(all_are_charged_or_none, empty),
      cmocka_unit_test_teardown(repeats_see_what_the_earlier_would_leave, empty),
      cmocka_unit_test_teardown(denials_and_peeks_write_nothing, empty),
      cmocka_unit_test_teardown(at_most_takes_what_there_is, empty),
      cmocka_unit_test_teardown(a_call_of_the_largest_size_is_decided, empty),
      cmocka_unit_test_teardown(a_state_ahead_by_the_period_holds_and_by_a_tick_more_is_a_mistake, empty),
      cmocka_unit_test_teardown(a_key_of_another_type_answers_its_own_request_alone, empty),
      cmocka_unit_test_teardown(a_length_that_is_not_known_is_an_error_and_stays, empty),
      cmocka_unit_test_teardown(numbers_that_no_state_holds_are_an_error, empty),
      cmocka_unit_test_teardown(a_state_that_c_wrote_goes_on, empty),
      cmocka_unit_test_teardown(the_longest_ring_is_kept_as_c_keeps_it, empty),
      cmocka_unit_test_teardown(repeats_on_a_log_are_one_admission, empty),
      cmocka_unit_test_teardown(full_memory_charges_nothing, empty),
      cmocka_unit_test_teardown(a_replica_charges_nothing, empty),
      cmocka_unit_test(a_flushed_script_is_told_by_its_error),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
