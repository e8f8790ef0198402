/* The store, while Redis is not well: nobody waits longer than the timeout, nothing is charged twice, and it comes back. */
#include "redis/store_fixture.h"

#include <sys/socket.h>
#include <sys/un.h>

#define MANY 1000

static laju_rule rule;
static errand many[MANY];

static int open_here(void **unused) {
  (void)unused;
  rule = rule_of(LAJU_FIXED_WINDOW, 1000000, 7200 * SECOND, 0);
  open_and_wait(options_here());
  return 0;
}

static int close_after(void **unused) {
  close_store();
  return empty(unused);
}

static void assert_answered(void) {
  errand e;
  assert_int_equal(check(&e, &rule, "probe", 1), LAJU_STORE_ANSWERED);
}

static void begin_many(int count) {
  errands_done = 0;
  for (int i = 0; i < count; i++) assert_true(begin_check(&many[i], &rule, "key", 1));
}

static void assert_all(int count, laju_store_outcome outcome) {
  for (int i = 0; i < count; i++) {
    assert_true(many[i].done);
    assert_int_equal(many[i].outcomes[0], outcome);
  }
}

static void assert_in_time(int count) {
  for (int i = 0; i < count; i++) assert_in_range(many[i].took_us, 0, IN_TIME_MS * 1000);
}

static bool is_up(void) {
  return laju_store_is_up(the_store);
}

/* What checks say again and again until one is answered, as traffic does. */
static bool is_answered(void) {
  errand e;
  return check(&e, &rule, "probe", 1) == LAJU_STORE_ANSWERED;
}

/* ---- a server that stands still ---- */

static void a_frozen_server_fails_all_in_time_and_its_late_replies_are_dropped(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(MANY);
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  assert_all(MANY, LAJU_STORE_FAILED);
  assert_in_time(MANY);
  assert_int_equal(counters->timeouts, MANY);
  assert_int_equal(counters->breaker_opened, 1);
  assert_false(is_up());
  assert_string_equal(laju_store_why(the_store), "no answer in time");

  kill(server.pid, SIGCONT); /* within the second in which the connection is kept */
  assert_true(COMES_TRUE(loop, counters->late == MANY / LAJU_STORE_BATCH));
  assert_true(COMES_TRUE(loop, is_answered()));
  assert_int_equal(remaining_of(&rule, "key"), 1000000 - MANY); /* they were charged, late */
  assert_int_equal(remaining_of(&rule, "probe"), 1000000 - 1);  /* and no reply was taken for this one's */
  assert_int_equal(counters->connects, 1);
  assert_true(is_up());
}

/* As a process does that is stopped, or has used up its share of a processor. */
static void what_has_come_while_this_process_stood_still_is_an_answer(void **unused) {
  (void)unused;
  int64_t calls = evalshas();
  begin_many(MANY);
  uv_run(loop, UV_RUN_NOWAIT); /* they leave */
  while (evalshas() < calls + MANY / LAJU_STORE_BATCH) usleep(1000);
  usleep(2 * TIMEOUT_MS * 1000);
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  assert_all(MANY, LAJU_STORE_ANSWERED);
  assert_int_equal(counters->timeouts, 0);
  assert_int_equal(counters->breaker_opened, 0);
}

/* Two that travel together, the second submitted later: the first one's time is over when the reply comes. */
static void a_reply_answers_those_who_still_wait_for_it(void **unused) {
  (void)unused;
  close_store();
  laju_store_options options = options_here();
  options.timeout_us = 600000;
  open_and_wait(options);
  laju_rule log = rule_of(LAJU_SLIDING_WINDOW_LOG, 10, 7200 * SECOND, 0);
  errand first, second;
  kill(server.pid, SIGSTOP);
  for (int i = 0; i < 3; i++) first.asks[i] = ask_of(i == 1 ? &log : &rule, i == 1 ? "log" : "key", 1);
  assert_true(begin_errand(&first, 3));
  usleep(300000);
  assert_true(begin_check(&second, &rule, "key", 1));
  assert_true(COMES_TRUE(loop, first.done));
  assert_int_equal(first.outcomes[0], LAJU_STORE_FAILED);
  memset(&first, 0xff, sizeof first); /* it is the caller's again */
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, second.done));
  assert_int_equal(second.outcomes[0], LAJU_STORE_ANSWERED);
  assert_int_equal(second.answers[0].decision.remaining, 1000000 - 3);
  assert_int_equal(counters->commands, 1);
}

static void an_open_breaker_fails_checks_at_once_but_for_one_in_a_hundred_milliseconds(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(LAJU_STORE_BATCH * LAJU_BREAKER_FAILURES);
  assert_true(COMES_TRUE(loop, counters->breaker_opened == 1));
  static errand probes[MANY];
  int sent = 0, refused = 0;
  for (uint64_t until = uv_hrtime() + 450 * UINT64_C(1000000); uv_hrtime() < until; usleep(500)) {
    if (begin_check(&probes[sent], &rule, "key", 1)) {
      sent++;
    } else {
      assert_int_equal(probes[sent].outcomes[0], LAJU_STORE_FAILED);
      refused++;
    }
    uv_run(loop, UV_RUN_NOWAIT);
  }
  assert_in_range(sent, 2, 5);
  assert_int_equal(counters->short_cuts, refused);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, counters->inflight == 0));
}

static void who_is_frozen_for_longer_is_left_and_comes_again(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(10);
  assert_true(COMES_TRUE(loop, errands_done == 10));
  assert_true(COMES_TRUE(loop, counters->connect_failures >= 2)); /* it was dropped, and is not greeted */
  assert_all(10, LAJU_STORE_FAILED);
  kill(server.pid, SIGCONT);
  uint64_t from = uv_hrtime();
  assert_true(COMES_TRUE(loop, is_answered()));
  assert_in_range((uv_hrtime() - from) / 1000000, 0, 10000);
  assert_int_equal(remaining_of(&rule, "probe"), 1000000 - 1);
}

static void without_traffic_the_breaker_is_probed_all_the_same(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(LAJU_STORE_BATCH * LAJU_BREAKER_FAILURES);
  assert_true(COMES_TRUE(loop, counters->breaker_opened == 1));
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, is_up()));
  assert_answered();
}

/* ---- a server that goes ---- */

static void a_killed_connection_fails_what_it_carried_and_nothing_is_sent_twice(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(200);
  let_pass(loop, 5);
  /* The kill is read before or after the checks. Either way those under way fail, and each was charged once at most. */
  redisAppendCommand(server.link, "CLIENT KILL TYPE normal SKIPME yes");
  int done = 0;
  redisBufferWrite(server.link, &done);
  kill(server.pid, SIGCONT);
  freeReplyObject(redis_next_reply(&server));
  assert_true(COMES_TRUE(loop, errands_done == 200));
  assert_true(COMES_TRUE(loop, counters->connects == 2));
  assert_in_time(200);
  int answered = 0;
  for (int i = 0; i < 200; i++) answered += many[i].outcomes[0] == LAJU_STORE_ANSWERED;
  assert_in_range(1000000 - remaining_of(&rule, "key"), answered, 200);
  assert_int_equal(counters->breaker_opened, 0);
}

static void a_killed_server_is_found_again_and_empty(void **unused) {
  (void)unused;
  assert_answered();
  redis_kill(&server);
  begin_many(10); /* to a connection that is lost, or is about to be found so */
  assert_true(COMES_TRUE(loop, errands_done == 10));
  assert_all(10, LAJU_STORE_FAILED);
  assert_in_time(10);
  assert_true(COMES_TRUE(loop, counters->breaker_opened == 1)); /* by tries to connect */
  errand e;
  assert_false(begin_check(&e, &rule, "key", 1)); /* at once */
  assert_int_equal(e.outcomes[0], LAJU_STORE_FAILED);
  assert_non_null(strstr(laju_store_why(the_store), "connect to unix:"));

  redis_start_again(&server);
  uint64_t from = uv_hrtime();
  assert_true(COMES_TRUE(loop, is_up()));
  assert_in_range((uv_hrtime() - from) / 1000000, 0, 10 * 1000);
  assert_answered();
  assert_int_equal(remaining_of(&rule, "key"), 1000000);
  assert_string_equal(laju_store_why(the_store), "");
}

static void what_has_not_been_sent_waits_for_the_connection(void **unused) {
  (void)unused;
  laju_store_options options = options_here();
  options.timeout_us = 5 * SECOND;
  close_store();
  redis_kill(&server);
  open_store(options);
  begin_many(100);
  assert_true(COMES_TRUE(loop, counters->connect_failures >= 1));
  redis_start_again(&server);
  assert_true(COMES_TRUE(loop, errands_done == 100));
  assert_all(100, LAJU_STORE_ANSWERED);
}

/* A server that lets in, and says nothing: nothing can be sent to it. */
static void what_cannot_be_sent_counts_against_the_server(void **unused) {
  (void)unused;
  char path[128], url[160];
  snprintf(path, sizeof path, "%s.silent", server.socket);
  snprintf(url, sizeof url, "unix:%s", path);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(fd, 16), 0);
  close_store();
  laju_store_options options = options_of(url);
  options.connect_timeout_us = 60 * SECOND;
  open_store(options);
  errand e;
  for (int i = 0; i < LAJU_BREAKER_FAILURES; i++) {
    assert_int_equal(counters->breaker_opened, 0);
    assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_FAILED);
  }
  assert_int_equal(counters->timeouts, LAJU_BREAKER_FAILURES);
  assert_int_equal(counters->connect_failures, 0);
  assert_int_equal(counters->breaker_opened, 1);
  assert_false(begin_check(&e, &rule, "key", 1));
  close(fd);
  unlink(path);
}

/* ---- a server that refuses ---- */

static void a_loading_or_busy_server_fails_checks(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "CONFIG SET busy-reply-threshold 1"));
  redisAppendCommand(server.link, "EVAL %s 0", "while true do end");
  int done = 0;
  redisBufferWrite(server.link, &done);
  usleep(50000);
  begin_many(LAJU_STORE_BATCH * LAJU_BREAKER_FAILURES);
  assert_true(COMES_TRUE(loop, errands_done == LAJU_STORE_BATCH * LAJU_BREAKER_FAILURES));
  assert_all(LAJU_STORE_BATCH * LAJU_BREAKER_FAILURES, LAJU_STORE_FAILED);
  assert_int_equal(counters->breaker_opened, 1);
  assert_memory_equal(laju_store_why(the_store), "BUSY ", 5);
  redisContext *other = redisConnectUnix(server.socket);
  freeReplyObject(redisCommand(other, "SCRIPT KILL"));
  redisFree(other);
  freeReplyObject(redis_next_reply(&server));
  assert_true(COMES_TRUE(loop, is_answered()));
}

/* Five in a row open the breaker, not five in all. */
static void failures_between_answers_do_not_add_up(void **unused) {
  (void)unused;
  for (int i = 0; i < 2 * LAJU_BREAKER_FAILURES; i++) {
    errand e;
    freeReplyObject(redis_command(&server, "ACL SETUSER default -evalsha"));
    assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_FAILED);
    freeReplyObject(redis_command(&server, "ACL SETUSER default +evalsha"));
    assert_answered();
  }
  assert_int_equal(counters->breaker_opened, 0);
  assert_int_equal(counters->refusals, 2 * LAJU_BREAKER_FAILURES);
  assert_memory_equal(laju_store_refusal(the_store), "NOPERM", 6);
}

/* Whatever else it answers, and however seldom checks are. */
static void who_answers_all_but_checks_is_not_up(void **unused) {
  (void)unused;
  errand e;
  freeReplyObject(redis_command(&server, "ACL SETUSER default -evalsha"));
  for (int i = 0; i < LAJU_BREAKER_FAILURES; i++) check(&e, &rule, "key", 1);
  assert_int_equal(counters->breaker_opened, 1);
  let_pass(loop, 5 * LAJU_BREAKER_PROBE_MS);
  assert_false(is_up());
  assert_memory_equal(laju_store_why(the_store), "NOPERM", 6);
  freeReplyObject(redis_command(&server, "ACL SETUSER default +evalsha"));
  freeReplyObject(redis_command(&server, "SCRIPT FLUSH"));
  assert_true(COMES_TRUE(loop, is_up()));
  assert_answered();
}

static void who_is_a_replica_now_is_left(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "REPLICAOF 127.0.0.1 1"));
  errand e;
  assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_FAILED);
  assert_memory_equal(laju_store_why(the_store), "READONLY", 8);
  assert_true(COMES_TRUE(loop, counters->connects == 2));
  freeReplyObject(redis_command(&server, "CONFIG SET replica-serve-stale-data no"));
  assert_true(COMES_TRUE(loop, check(&e, &rule, "key", 1) == LAJU_STORE_FAILED &&
                                   strncmp(laju_store_why(the_store), "MASTERDOWN", 10) == 0));
  assert_true(COMES_TRUE(loop, counters->connects > 2)); /* it was left again */
  freeReplyObject(redis_command(&server, "REPLICAOF NO ONE"));
  assert_true(COMES_TRUE(loop, is_answered()));
}

static void a_server_without_memory_says_so_to_each_check(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "CONFIG SET maxmemory 1"));
  errand e;
  assert_int_equal(check(&e, &rule, "key", 1), LAJU_STORE_ANSWERED);
  freeReplyObject(redis_command(&server, "CONFIG SET maxmemory 0"));
  assert_memory_equal(e.error, "OOM", 3);
  assert_memory_equal(laju_store_refusal(the_store), "OOM", 3);
  assert_int_equal(counters->refusals, 1);
  assert_answered();
  assert_int_equal(counters->refusals, 1);
}

static void a_wrong_password_is_a_server_that_is_not_there(void **unused) {
  (void)unused;
  close_store();
  char url[160];
  snprintf(url, sizeof url, "redis://nobody:wrong@127.0.0.1:%s", server.arguments[1]);
  open_store(options_of(url));
  begin_many(10);
  assert_true(COMES_TRUE(loop, errands_done == 10));
  assert_all(10, LAJU_STORE_FAILED);
  assert_in_time(10);
  assert_true(COMES_TRUE(loop, counters->breaker_opened == 1));
  errand e;
  assert_false(begin_check(&e, &rule, "key", 1));
  assert_non_null(strstr(laju_store_why(the_store), "WRONGPASS"));
  assert_null(strstr(laju_store_why(the_store), "wrong@"));
}

/* ---- bounds ---- */

static void beyond_max_inflight_checks_fail_at_once(void **unused) {
  (void)unused;
  close_store();
  laju_store_options options = options_here();
  options.max_inflight = 100;
  options.timeout_us = 5 * SECOND;
  open_and_wait(options);
  begin_many(100);
  errand e;
  assert_false(begin_check(&e, &rule, "key", 1));
  assert_int_equal(e.outcomes[0], LAJU_STORE_FAILED);
  assert_int_equal(counters->overflows, 1);
  assert_true(COMES_TRUE(loop, errands_done == 100));
  assert_all(100, LAJU_STORE_ANSWERED);
  begin_many(100); /* there is room again */
  assert_true(COMES_TRUE(loop, errands_done == 100));
  assert_int_equal(counters->inflight, 0);
}

static void a_frozen_server_takes_no_more_than_the_socket_holds(void **unused) {
  (void)unused;
  close_store();
  laju_store_options options = options_here();
  options.timeout_us = SECOND;
  open_and_wait(options);
  static char name[MANY][1024];
  kill(server.pid, SIGSTOP);
  errands_done = 0;
  for (int i = 0; i < MANY; i++) {
    memset(name[i], 'x', sizeof name[i] - 1);
    snprintf(name[i], 16, "%d", i);
    name[i][strlen(name[i])] = 'y';
    assert_true(begin_check(&many[i], &rule, name[i], 1));
  }
  let_pass(loop, 20);
  assert_in_range(counters->checks, LAJU_STORE_BATCH, MANY - 1); /* the others wait, and could still go another way */
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, errands_done == MANY));
  assert_all(MANY, LAJU_STORE_ANSWERED);
  assert_int_equal(counters->checks, MANY);
}

static void closing_fails_what_is_under_way(void **unused) {
  (void)unused;
  kill(server.pid, SIGSTOP);
  begin_many(100);
  let_pass(loop, 5);
  for (int i = 100; i < 200; i++) assert_true(begin_check(&many[i], &rule, "key", 1));
  bool closed = false;
  laju_store_close(the_store, on_store_closed, &closed);
  assert_int_equal(errands_done, 200);
  assert_all(200, LAJU_STORE_FAILED);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, closed));
  open_and_wait(options_here());
}

static void it_can_be_closed_at_once(void **unused) {
  (void)unused;
  for (int turns = 0; turns < 4; turns++) {
    close_store();
    open_store(options_of(turns % 2 ? "redis://no.such.host.invalid:1" : "redis://127.0.0.1:1"));
    for (int i = 0; i < turns; i++) uv_run(loop, UV_RUN_NOWAIT);
  }
}

static int start_on_port(void **unused) {
  (void)unused;
  redis_start_with(&server, (const char *const[]){"--port", redis_free_port(), NULL});
  return 0;
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, open_here, close_after)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_frozen_server_fails_all_in_time_and_its_late_replies_are_dropped),
      CLAIM(what_has_come_while_this_process_stood_still_is_an_answer),
      CLAIM(a_reply_answers_those_who_still_wait_for_it),
      CLAIM(an_open_breaker_fails_checks_at_once_but_for_one_in_a_hundred_milliseconds),
      CLAIM(who_is_frozen_for_longer_is_left_and_comes_again),
      CLAIM(without_traffic_the_breaker_is_probed_all_the_same),
      CLAIM(a_killed_connection_fails_what_it_carried_and_nothing_is_sent_twice),
      CLAIM(a_killed_server_is_found_again_and_empty),
      CLAIM(what_has_not_been_sent_waits_for_the_connection),
      CLAIM(what_cannot_be_sent_counts_against_the_server),
      CLAIM(a_loading_or_busy_server_fails_checks),
      CLAIM(who_answers_all_but_checks_is_not_up),
      CLAIM(failures_between_answers_do_not_add_up),
      CLAIM(who_is_a_replica_now_is_left),
      CLAIM(a_server_without_memory_says_so_to_each_check),
      CLAIM(a_wrong_password_is_a_server_that_is_not_there),
      CLAIM(beyond_max_inflight_checks_fail_at_once),
      CLAIM(a_frozen_server_takes_no_more_than_the_socket_holds),
      CLAIM(closing_fails_what_is_under_way),
      CLAIM(it_can_be_closed_at_once),
  };
  return cmocka_run_group_tests(tests, start_on_port, stop);
}
