/* The store, while Redis is well: every request has its answers, whatever travels together. */
#include "redis/store_fixture.h"

#define MANY 10000
#define KEYS 100

static int open_with(uint32_t pool) {
  laju_store_options options = options_here();
  options.timeout_us = 5 * SECOND; /* this is not about time */
  options.pool = pool;
  open_and_wait(options);
  return 0;
}

static int open_here(void **unused) {
  (void)unused;
  return open_with(1);
}

static int open_pool(void **unused) {
  (void)unused;
  return open_with(4);
}

static void the_eleventh_of_ten_is_refused(void **unused) {
  (void)unused;
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) {
    laju_rule rule = rule_of(every_algorithm[a], 10, 7200 * SECOND, 0);
    char name[16];
    snprintf(name, sizeof name, "key%zu", a);
    for (int i = 1; i <= 11; i++) {
      errand e;
      assert_int_equal(check(&e, &rule, name, 1), LAJU_STORE_ANSWERED);
      assert_int_equal(e.answers[0].decision.allowed, i <= 10);
    }
  }
}

static errand many[MANY];
static char names[KEYS][8];

static void begin_many(const laju_rule *rules) {
  errands_done = 0;
  for (int i = 0; i < KEYS; i++) snprintf(names[i], sizeof names[i], "k%d", i);
  for (int i = 0; i < MANY; i++) {
    assert_true(begin_check(&many[i], &rules[i % LAJU_ALGORITHMS], names[i / LAJU_ALGORITHMS % KEYS], 1));
  }
}

/* Each rule has the same names, but only one rule a name: the fifth part of them each. */
static void ten_thousand_in_one_turn_are_each_answered_as_alone(void **unused) {
  (void)unused;
  laju_rule rules[LAJU_ALGORITHMS];
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) rules[a] = rule_of(every_algorithm[a], 15, 7200 * SECOND, 0);
  errands_done = 0;
  int allowed[LAJU_ALGORITHMS][KEYS] = {0};
  static char own[LAJU_ALGORITHMS][KEYS][16];
  for (int i = 0; i < MANY; i++) {
    int a = i % LAJU_ALGORITHMS, k = i / LAJU_ALGORITHMS % KEYS;
    snprintf(own[a][k], sizeof own[a][k], "k%d:%d", k, a);
    assert_true(begin_check(&many[i], &rules[a], own[a][k], 1));
  }
  assert_int_equal(counters->inflight, MANY);
  assert_int_equal(counters->commands, 0); /* nothing leaves before the turn's end */
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(many[i].outcomes[0], LAJU_STORE_ANSWERED);
    assert_null(many[i].answers[0].error);
    allowed[i % LAJU_ALGORITHMS][i / LAJU_ALGORITHMS % KEYS] += many[i].answers[0].decision.allowed;
  }
  for (int a = 0; a < LAJU_ALGORITHMS; a++) {
    for (int k = 0; k < KEYS; k++) assert_int_equal(allowed[a][k], 15);
  }
  assert_int_equal(counters->checks, MANY);
  assert_in_range(counters->commands, MANY / LAJU_STORE_BATCH, MANY / LAJU_STORE_BATCH + 1);
  assert_int_equal(counters->inflight, 0);
  assert_int_equal(laju_histogram_count(&counters->latency), MANY);
}

static void they_are_decided_in_the_order_of_submits(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, MANY, 7200 * SECOND, 0);
  errands_done = 0;
  for (int i = 0; i < MANY; i++) assert_true(begin_check(&many[i], &rule, "one", 1));
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  for (int i = 0; i < MANY; i++) assert_int_equal(many[i].answers[0].decision.remaining, MANY - 1 - i);
}

/* Runs of seven: a command of fifty cannot hold eight of them, and none may be cut. */
static void a_run_of_joined_asks_is_never_cut(void **unused) {
  (void)unused;
  laju_rule wide = rule_of(LAJU_FIXED_WINDOW, 1000000, 7200 * SECOND, 0);
  laju_rule narrow = rule_of(LAJU_FIXED_WINDOW, 25, 7200 * SECOND, 0);
  static errand e[100];
  errands_done = 0;
  for (int i = 0; i < 100; i++) {
    for (int j = 0; j < 7; j++) e[i].asks[j] = ask_of(j == 6 ? &narrow : &wide, j == 6 ? "narrow" : "wide", 1);
    for (int j = 0; j < 6; j++) e[i].asks[j].joined = true;
    assert_true(begin_errand(&e[i], 7));
  }
  assert_true(COMES_TRUE(loop, errands_done == 100));
  for (int i = 0; i < 100; i++) assert_int_equal(e[i].answers[6].decision.allowed, i < 25);
  assert_int_equal(remaining_of(&wide, "wide"), 1000000 - 6 * 25);
  assert_int_equal(counters->commands, 100 / 7 + 1 + 1);
}

static void a_request_larger_than_a_command_is_answered_whole(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 1000, 7200 * SECOND, 0);
  errand e;
  for (int i = 0; i < ASKS_MAX; i++) e.asks[i] = ask_of(&rule, "key", 1);
  assert_true(begin_errand(&e, ASKS_MAX));
  assert_true(COMES_TRUE(loop, e.done));
  for (int i = 0; i < ASKS_MAX; i++) assert_int_equal(e.answers[i].decision.remaining, 999 - i);
  assert_int_equal(counters->commands, 2);
}

static void a_key_of_another_type_is_an_error_of_its_own_request(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, 1000, 7200 * SECOND, 0);
  freeReplyObject(redis_command(&server, "RPUSH list 1"));
  errand e, large;
  assert_true(begin_check(&e, &rule, "list", 1));
  for (int i = 0; i < ASKS_MAX; i++) large.asks[i] = ask_of(&rule, i == 0 ? "list" : "key", 1);
  assert_true(begin_errand(&large, ASKS_MAX)); /* the error's words come with the first of two replies */
  assert_true(COMES_TRUE(loop, e.done && large.done));
  assert_memory_equal(e.error, "WRONGTYPE", 9);
  assert_memory_equal(large.error, "WRONGTYPE", 9);
  assert_int_equal(large.answers[ASKS_MAX - 1].decision.remaining, 1000 - ASKS_MAX + 1);
  assert_int_equal(counters->breaker_opened, 0);
}

static void a_flushed_script_is_loaded_and_all_sent_again(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_FIXED_WINDOW, MANY, 7200 * SECOND, 0);
  errand first;
  assert_int_equal(check(&first, &rule, "one", 1), LAJU_STORE_ANSWERED);
  freeReplyObject(redis_command(&server, "SCRIPT FLUSH"));
  errands_done = 0;
  for (int i = 0; i < 1000; i++) assert_true(begin_check(&many[i], &rule, "one", 1));
  assert_true(COMES_TRUE(loop, errands_done == 1000));
  for (int i = 0; i < 1000; i++) assert_int_equal(many[i].outcomes[0], LAJU_STORE_ANSWERED);
  assert_int_equal(remaining_of(&rule, "one"), MANY - 1001); /* each charged once */
  assert_int_equal(counters->script_loads, 1);
  assert_int_equal(counters->failures, 0);
}

static long long heard; /* the integer that the last command was answered with */
static int commands_done;

static void on_command_done(laju_store_command *command, const redisReply *reply) {
  (void)command;
  commands_done++;
  heard = reply != NULL && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
}

static void a_command_stands_behind_the_checks_before_it(void **unused) {
  (void)unused;
  laju_rule rule = rule_of(LAJU_TOKEN_BUCKET, 10, 7200 * SECOND, 0);
  errand before, after;
  static const char bytes[] = "*2\r\n$3\r\nDEL\r\n$3\r\nkey\r\n";
  laju_store_command reset = {
      .bytes = bytes, .len = sizeof bytes - 1, .key = "key", .key_len = 3, .done = on_command_done};
  commands_done = 0;
  assert_true(begin_check(&before, &rule, "key", 4));
  assert_true(laju_store_send(the_store, &reset));
  assert_true(begin_check(&after, &rule, "key", 1));
  assert_true(COMES_TRUE(loop, after.done));
  assert_int_equal(before.answers[0].decision.remaining, 6);
  assert_int_equal(commands_done, 1);
  assert_int_equal(heard, 1); /* it was there */
  assert_int_equal(after.answers[0].decision.remaining, 9);
  assert_int_equal(counters->inflight, 0);
}

static void a_command_of_several_replies_hears_the_last(void **unused) {
  (void)unused;
  static const char bytes[] =
      "*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n*1\r\n$4\r\nEXEC\r\n*1\r\n$6\r\nDBSIZE\r\n";
  laju_store_command several = {
      .bytes = bytes, .len = sizeof bytes - 1, .key = "n", .key_len = 1, .replies = 4, .done = on_command_done};
  commands_done = 0;
  assert_true(laju_store_send(the_store, &several));
  assert_true(COMES_TRUE(loop, commands_done == 1));
  assert_int_equal(heard, 1);
}

/* What is submitted from an answer's callback goes out without waiting for another event. */
static errand chain[100];
static laju_rule chain_rule;

static void on_chain_done(laju_store_request *request) {
  errand *e = (errand *)request;
  e->done = true;
  if (e + 1 == chain + 100) return;
  (void)begin_check(e + 1, &chain_rule, "chain", 1);
  e[1].request.done = on_chain_done;
}

static void a_callback_may_submit(void **unused) {
  (void)unused;
  chain_rule = rule_of(LAJU_FIXED_WINDOW, 1000, 7200 * SECOND, 0);
  memset(chain, 0, sizeof chain);
  assert_true(begin_check(&chain[0], &chain_rule, "chain", 1));
  chain[0].request.done = on_chain_done;
  assert_true(COMES_TRUE(loop, chain[99].done));
  assert_int_equal(chain[99].answers[0].decision.remaining, 900);
}

static void every_connection_of_a_pool_is_used(void **unused) {
  (void)unused;
  laju_rule rules[LAJU_ALGORITHMS];
  for (size_t a = 0; a < LAJU_ALGORITHMS; a++) rules[a] = rule_of(LAJU_FIXED_WINDOW, 1000000, 7200 * SECOND, 0);
  assert_true(COMES_TRUE(loop, counters->connects == 4));
  for (int round = 0; round < 8; round++) {
    begin_many(rules);
    assert_true(COMES_TRUE(loop, errands_done == MANY));
    for (int i = 0; i < MANY; i++) assert_int_equal(many[i].outcomes[0], LAJU_STORE_ANSWERED);
  }
  redisReply *list = redis_command(&server, "CLIENT LIST TYPE normal");
  int used = 0;
  for (const char *at = list->str; (at = strstr(at, "cmd=evalsha")) != NULL; at++) used++;
  assert_int_equal(used, 4);
  freeReplyObject(list);
  assert_int_equal(counters->servers, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_eleventh_of_ten_is_refused, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(ten_thousand_in_one_turn_are_each_answered_as_alone, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(they_are_decided_in_the_order_of_submits, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_run_of_joined_asks_is_never_cut, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_request_larger_than_a_command_is_answered_whole, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_key_of_another_type_is_an_error_of_its_own_request, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_flushed_script_is_loaded_and_all_sent_again, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_command_stands_behind_the_checks_before_it, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_command_of_several_replies_hears_the_last, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(a_callback_may_submit, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(every_connection_of_a_pool_is_used, open_pool, close_and_empty),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
