/* atomicity: transaction, on a Redis whose access rules forbid scripts. */
#include "redis/store_fixture.h"

#include "core/decide.h"
#include "redis/transaction.h"

#define CROWD 8
#define EACH 50

static const laju_algorithm counters_alone[] = {LAJU_FIXED_WINDOW, LAJU_SLIDING_WINDOW_COUNTER};

static laju_store_options options_poor(void) {
  char url[128];
  snprintf(url, sizeof url, "redis://poor:secret@127.0.0.1:%s", server.arguments[1]);
  laju_store_options options = options_of(url);
  options.transaction = true;
  options.timeout_us = 5 * SECOND;
  return options;
}

static int open_poor(void **unused) {
  (void)unused;
  open_and_wait(options_poor());
  return 0;
}

static int start_poor(void **unused) {
  (void)unused;
  redis_start_with(&server, (const char *const[]){"--port", redis_free_port(), NULL});
  freeReplyObject(redis_command(&server, "ACL SETUSER poor on >secret ~* +@all -@scripting"));
  return 0;
}

static int assert_all_expire_and_close(void **unused) {
  redisReply *keys = redis_command(&server, "KEYS *");
  for (size_t i = 0; i < keys->elements; i++) {
    assert_int_not_equal(redis_integer(&server, "PTTL %s", keys->element[i]->str), -1);
    assert_string_equal(keys->element[i]->str + keys->element[i]->len - 2, ":t");
  }
  freeReplyObject(keys);
  return close_and_empty(unused);
}

static void the_eleventh_of_ten_is_refused_and_taken_back(void **unused) {
  (void)unused;
  for (size_t a = 0; a < 2; a++) {
    laju_rule rule = rule_of(counters_alone[a], 10, 7200 * SECOND, 0);
    const char *name = a == 0 ? "fixed" : "sliding";
    for (int i = 1; i <= 100; i++) {
      errand e;
      assert_int_equal(check(&e, &rule, name, 1), LAJU_STORE_ANSWERED);
      assert_null(e.answers[0].error);
      assert_int_equal(e.answers[0].decision.allowed, i <= 10);
    }
    errand peek;
    assert_int_equal(check(&peek, &rule, name, 0), LAJU_STORE_ANSWERED);
    assert_int_equal(peek.answers[0].found.window.curr, 10); /* refusals are not counted */
  }
  assert_int_equal(counters->failures, 0);
  assert_int_equal(counters->commands, 2 * 101);
}

/* One after the other, each decision is the law's, with windows that pass by the dozen. */
static void alone_it_decides_as_the_law_does(void **unused) {
  (void)unused;
  uint64_t random = 7;
  for (size_t a = 0; a < 2; a++) {
    laju_rule rule = rule_of(counters_alone[a], 40, 20000, 0);
    laju_state state = {0};
    int refused = 0;
    for (int i = 0; i < 1500; i++) {
      uint32_t cost = (uint32_t)random_below(&random, 9) == 0 ? 41 : (uint32_t)random_below(&random, 5);
      errand e;
      laju_decision wanted;
      assert_int_equal(check(&e, &rule, a == 0 ? "fixed" : "sliding", cost), LAJU_STORE_ANSWERED);
      laju_decide(&rule, &state, e.answers[0].now_us, cost, &wanted);
      assert_int_equal(e.answers[0].decision.allowed, wanted.allowed);
      assert_int_equal(e.answers[0].decision.remaining, wanted.remaining);
      assert_int_equal(e.answers[0].decision.retry_after_us, wanted.retry_after_us);
      assert_int_equal(e.answers[0].decision.reset_after_us, wanted.reset_after_us);
      refused += !wanted.allowed && cost <= 40;
    }
    assert_in_range(refused, 1, 1499);
  }
}

static void what_travels_together_is_decided_in_order(void **unused) {
  (void)unused;
  static errand many[1000];
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 100, 7200 * SECOND, 0);
  errands_done = 0;
  for (int i = 0; i < 1000; i++) assert_true(begin_check(&many[i], &rule, "key", 1 + (uint32_t)i % 3));
  assert_true(COMES_TRUE(loop, errands_done == 1000));
  uint32_t taken = 0;
  for (int i = 0; i < 1000; i++) taken += many[i].answers[0].taken;
  assert_in_range(taken, 1,
                  100); /* of those that travelled behind a refusal some may be refused that would have passed */
  assert_true(COMES_TRUE(loop, remaining_of(&rule, "key") == 100 - taken));
  while (taken < 100) {
    errand e;
    check(&e, &rule, "key", 1);
    assert_true(e.answers[0].decision.allowed); /* nothing has stayed charged */
    taken++;
  }
  assert_int_equal(remaining_of(&rule, "key"), 0);
}

static void a_request_is_charged_whole_or_not_at_all(void **unused) {
  (void)unused;
  laju_rule wide = rule_of(LAJU_FIXED_WINDOW, 1000, 7200 * SECOND, 0);
  laju_rule narrow = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 5, 7200 * SECOND, 0);
  for (int i = 1; i <= 20; i++) {
    errand e;
    e.asks[0] = ask_of(&wide, "wide", 3);
    e.asks[1] = ask_of(&narrow, "narrow", 1);
    e.asks[2] = ask_of(&wide, "wide", 2);
    e.asks[0].joined = e.asks[1].joined = true;
    assert_true(begin_errand(&e, 3));
    assert_true(COMES_TRUE(loop, e.done));
    assert_true(e.answers[0].decision.allowed);
    assert_int_equal(e.answers[1].decision.allowed, i <= 5);
  }
  assert_int_equal(remaining_of(&wide, "wide"), 1000 - 25);
  assert_int_equal(remaining_of(&narrow, "narrow"), 0);
}

static int forgotten;

static void on_forgotten(laju_store_command *command, const redisReply *reply) {
  (void)command;
  assert_non_null(reply);
  forgotten = (int)reply->integer;
}

static void what_is_forgotten_is_as_good_as_new(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_SLIDING_WINDOW_COUNTER, 10, 7200 * SECOND, 0);
  errand e;
  assert_int_equal(check(&e, &rule, "key", 4), LAJU_STORE_ANSWERED);
  laju_buffer bytes = {0};
  laju_transaction_forget(&rule, "key", 3, e.answers[0].now_us, &bytes);
  laju_store_command forget = {.bytes = bytes.data, .len = bytes.len, .key = "key", .key_len = 3, .done = on_forgotten};
  assert_true(laju_store_send(the_store, &forget));
  laju_buffer_deinit(&bytes);
  assert_int_equal(remaining_of(&rule, "key"), 10);
  assert_int_equal(forgotten, 1);
}

/* ---- many at once ---- */

static laju_store *crowd[CROWD];
static errand crowd_errands[CROWD][EACH];

static int admit_all(const laju_rule *rule) {
  errands_done = 0;
  for (int s = 0; s < CROWD; s++) {
    for (int i = 0; i < EACH; i++) {
      errand *e = &crowd_errands[s][i];
      the_store = crowd[s];
      assert_true(begin_check(e, rule, "key", 1));
    }
  }
  assert_true(COMES_TRUE(loop, errands_done == CROWD * EACH));
  int admitted = 0;
  for (int s = 0; s < CROWD; s++) {
    for (int i = 0; i < EACH; i++) {
      assert_int_equal(crowd_errands[s][i].outcomes[0], LAJU_STORE_ANSWERED);
      admitted += crowd_errands[s][i].answers[0].decision.allowed;
    }
  }
  return admitted;
}

static void a_crowd_never_gets_more_than_the_limit(void **unused) {
  (void)unused;
  laju_store *own = the_store;
  for (int s = 0; s < CROWD; s++) {
    open_and_wait(options_poor());
    crowd[s] = the_store;
  }
  for (size_t a = 0; a < 2; a++) {
    laju_rule rule = rule_of(counters_alone[a], 30, 7200 * SECOND, 0);
    int admitted = admit_all(&rule), before = -1;
    while (admitted > before && admitted < 30) { /* whom a refusal under way has refused comes again */
      before = admitted;
      admitted += admit_all(&rule);
    }
    assert_int_equal(admitted, 30);
    empty(NULL);
  }
  for (int s = 0; s < CROWD; s++) {
    the_store = crowd[s];
    close_store();
  }
  the_store = own;
}

/* ---- what may go wrong ---- */

static void a_clock_that_is_another_than_was_thought_is_asked_again(void **unused) {
  (void)unused;
  laju_rule rule =
      rule_of(LAJU_FIXED_WINDOW, 1000, 1000, 0); /* windows of a millisecond: every guess is nearly stale */
  int answered = 0;
  for (int i = 0; i < 300; i++) {
    errand e;
    answered += check(&e, &rule, "key", 1) == LAJU_STORE_ANSWERED;
  }
  assert_in_range(answered, 150, 300);
  assert_int_equal(counters->timeouts, 0);
}

/* It stands still until the window that was thought of is over. */
static void what_was_counted_in_a_window_that_is_over_is_taken_back(void **unused) {
  (void)unused;
  const int64_t window_us = SECOND / 5;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, window_us, 0);
  errand e;
  assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_ANSWERED); /* the time is known from now on */
  empty(NULL);
  kill(server.pid, SIGSTOP);
  assert_true(begin_check(&e, &rule, "key", 3));
  let_pass(loop, window_us / 1000 + 10);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, e.done));
  assert_int_equal(e.outcomes[0], LAJU_STORE_ANSWERED);
  assert_int_equal(e.answers[0].decision.remaining, 7);
  redisReply *keys = redis_command(&server, "KEYS *");
  int64_t sum = 0;
  for (size_t i = 0; i < keys->elements; i++) {
    redisReply *count = redis_command(&server, "GET %s", keys->element[i]->str);
    sum += count->type == REDIS_REPLY_STRING ? strtoll(count->str, NULL, 10) : 0;
    freeReplyObject(count);
  }
  freeReplyObject(keys);
  assert_int_equal(sum, 3);
}

static void a_key_of_another_type_is_an_error_of_its_own_request(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 7200 * SECOND, 0);
  errand e, other;
  assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_ANSWERED);
  char name[64];
  snprintf(name, sizeof name, "list:%lld:t", (long long)e.answers[0].found.window.window);
  freeReplyObject(redis_command(&server, "RPUSH %s 1", name));
  assert_true(begin_check(&e, &rule, "list", 1));
  assert_true(begin_check(&other, &rule, "key", 1));
  assert_true(COMES_TRUE(loop, e.done && other.done));
  assert_memory_equal(e.error, "WRONGTYPE", 9);
  assert_int_equal(other.answers[0].decision.remaining, 8);
  freeReplyObject(redis_command(&server, "DEL %s", name));
}

static void a_replica_is_told_by_its_own_words(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 10, 7200 * SECOND, 0);
  assert_int_equal(remaining_of(&rule, "key"), 10);
  freeReplyObject(redis_command(&server, "REPLICAOF 127.0.0.1 1"));
  errand e;
  assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_FAILED);
  assert_memory_equal(laju_store_why(the_store), "READONLY", 8);
  assert_true(COMES_TRUE(loop, counters->connects == 2));
  freeReplyObject(redis_command(&server, "REPLICAOF NO ONE"));
  assert_true(COMES_TRUE(loop, check(&e, &rule, "key", 1) == LAJU_STORE_ANSWERED));
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, open_poor, assert_all_expire_and_close)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(the_eleventh_of_ten_is_refused_and_taken_back),
      CLAIM(alone_it_decides_as_the_law_does),
      CLAIM(what_travels_together_is_decided_in_order),
      CLAIM(a_request_is_charged_whole_or_not_at_all),
      CLAIM(what_is_forgotten_is_as_good_as_new),
      CLAIM(a_crowd_never_gets_more_than_the_limit),
      CLAIM(a_clock_that_is_another_than_was_thought_is_asked_again),
      CLAIM(what_was_counted_in_a_window_that_is_over_is_taken_back),
      CLAIM(a_key_of_another_type_is_an_error_of_its_own_request),
      CLAIM(a_replica_is_told_by_its_own_words),
  };
  return cmocka_run_group_tests(tests, start_poor, stop);
}
