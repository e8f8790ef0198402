/* Batches that are parked while a real Redis decides: requests come in by the RESP codec, as a server drives it, and the bytes and
 * the batch that they were parsed into are gone before the answer comes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec.h"
#include "proto/parked.h"
#include "redis/loop.h"
#include "redis/redis_server.h"
#include "redis/store.h"

#define TIMEOUT_US 300000

static redis_server server;
static uv_loop_t loop;
static laju_way way;
static _Atomic uint32_t nodes = 1;
static laju_terms terms;
static laju_service service;
static laju_batch *batch;
static laju_lot lot;
static int decided;

static laju_policy policy_of(const char *line, laju_mode mode, laju_on_store_error on_store_error) {
  laju_rule rule;
  laju_policy policy;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, line, why), 0);
  rule.mode = mode;
  rule.on_store_error = on_store_error;
  laju_policy_init(&policy, &rule);
  return policy;
}

static int64_t clock_us(void) {
  return (int64_t)(uv_hrtime() / 1000);
}

static int start(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE] = "";
  laju_limiter_options room = {.memory_bytes = 1 << 20};
  laju_store_options options = {.url = {.kind = LAJU_STORE_SINGLE},
                                .timeout_us = TIMEOUT_US,
                                .connect_timeout_us = TIMEOUT_US,
                                .pool = 1,
                                .max_inflight = 10000};
  redis_start(&server);
  snprintf(options.url.unix_path, sizeof options.url.unix_path, "%s", server.socket);
  laju_policy policies[] = {policy_of("here=9/1d token-bucket", LAJU_EMBEDDED, LAJU_STORE_ERROR_ALLOW),
                            policy_of("there=9/1d token-bucket", LAJU_EXACT, LAJU_STORE_ERROR_ALLOW),
                            policy_of("shut=9/1d token-bucket", LAJU_EXACT, LAJU_STORE_ERROR_DENY)};
  laju_ruleset *rules;
  assert_int_equal(laju_ruleset_new(&rules, policies, 3), 0);
  terms = (laju_terms){.rules = rules, .default_mode = LAJU_EXACT, .exact_algorithms = 31, .resp_admin = true};
  assert_int_equal(laju_limiter_new(&way.limiter, &room), 0);
  assert_int_equal(laju_keys_init(&way.keys, "t", 1), 0);
  assert_int_equal(uv_loop_init(&loop), 0);
  assert_int_equal(laju_store_new(&way.store, &loop, &options, why), 0);
  way.nodes = &nodes;
  service.limiter = way.limiter;
  atomic_store(&service.terms, &terms);
  batch = laju_batch_new();
  assert_non_null(batch);
  return COMES_TRUE(&loop, laju_store_is_up(way.store)) ? 0 : -1;
}

static int stop(void **state) {
  (void)state;
  laju_store_close(way.store, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&loop), 0);
  laju_lot_deinit(&lot);
  laju_batch_free(batch);
  laju_keys_deinit(&way.keys);
  laju_limiter_free(way.limiter);
  laju_ruleset_free((laju_ruleset *)(uintptr_t)terms.rules);
  redis_stop(&server);
  return 0;
}

static int empty(void **state) {
  (void)state;
  freeReplyObject(redis_command(&server, "FLUSHALL"));
  laju_limiter_options room = {.memory_bytes = 1 << 20};
  laju_limiter_free(way.limiter);
  decided = 0;
  service.limiter = NULL;
  int error = laju_limiter_new(&way.limiter, &room);
  service.limiter = way.limiter;
  return error;
}

/* ---- requests ---- */

/* Appends a command, whose words are separated by single spaces. */
static void add_command(laju_buffer *to, const char *words) {
  size_t count = 1;
  for (const char *at = words; *at != '\0'; at++) count += *at == ' ';
  laju_buffer_add_format(to, "*%zu\r\n", count);
  for (const char *at = words; count > 0; count--) {
    int len = (int)strcspn(at, " ");
    laju_buffer_add_format(to, "$%d\r\n%.*s\r\n", len, len, at);
    at += len + 1;
  }
}

/* Parses the commands, which fit a batch, and parks what has to wait; the bytes are gone then. NULL: it is decided already. */
static laju_parked *park(void *connection, const char *const *commands) {
  laju_buffer bytes = {0};
  laju_parked *parked = NULL;
  for (size_t i = 0; commands[i] != NULL; i++) add_command(&bytes, commands[i]);
  laju_batch_clear(batch);
  laju_parsed parsed = laju_resp_codec.parse(connection, bytes.data, bytes.len, batch);
  assert_true(parsed.consumed == bytes.len && !parsed.more);
  if (!laju_batch_decide(batch, &way, laju_limiter_now_us(way.limiter))) {
    parked = laju_parked_new(&lot, batch);
    assert_non_null(parked);
    laju_batch_clear(batch);
    memset(batch->checks, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->checks);
    memset(batch->rules, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->rules);
    memset(batch->notes, 0x55, LAJU_BATCH_NOTES);
  }
  laju_buffer_deinit(&bytes);
  return parked;
}

static void on_decided(void *context) {
  assert_ptr_equal(context, &decided);
  decided++;
}

static void wait_for(int count) {
  assert_true(COMES_TRUE(&loop, decided >= count));
}

/* The replies, line ends shown as single spaces. */
static const char *replies(void *connection, const laju_batch *of) {
  static char shown[4096];
  laju_buffer out = {0};
  laju_resp_codec.encode(connection, of, &out);
  size_t len = 0;
  assert_true(out.len < sizeof shown);
  for (size_t i = 0; i < out.len; i++) {
    if (out.data[i] != '\r') shown[len++] = out.data[i] == '\n' ? ' ' : out.data[i];
  }
  shown[len > 0 ? len - 1 : 0] = '\0';
  laju_buffer_deinit(&out);
  return shown;
}

static void answers(const char *const *commands, const char *expected) {
  void *connection = calloc(1, laju_resp_codec.connection_size);
  assert_non_null(connection);
  laju_resp_codec.init(connection, &service, &(laju_peer){.is_unix = true});
  laju_parked *parked = park(connection, commands);
  assert_non_null(parked);
  decided = 0;
  if (laju_parked_start(parked, &way, on_decided, &decided)) wait_for(1);
  assert_string_equal(replies(connection, laju_parked_batch(parked)), expected);
  laju_parked_free(parked);
  assert_int_equal(laju_lot_oldest(&lot), lot.taken);
  free(connection);
}

#define COMMANDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- claims ---- */

static void all_kinds_are_answered_in_their_order(void **state) {
  (void)state;
  answers(
      COMMANDS("LAJU.CHECK there u", "PING", "LAJU.CHECK here u", "LAJU.MCHECK there 2 u v", "ECHO x",
               "LAJU.CHECK nobody u", "CL.THROTTLE u 2 1 86400", "CL.THROTTLE u 2 1 86400", "CL.THROTTLE u 4 1 86400"),
      "*6 :1 :9 :8 :0 :9600000 :0 +PONG *6 :1 :9 :8 :0 :9600000 :0 *2 :6 :7 $1 x "
      "-ERR rule 'nobody': no such rule; it must be one of the configuration's "
      "*5 :0 :3 :2 :-1 :86400 *5 :0 :3 :1 :-1 :172800 *5 :0 :5 :2 :-1 :259200");
}

/* What the table has charged is given back when the store has refused: what was asked before that finds less, never more. */
static void rules_of_both_kinds_are_one_request(void **state) {
  (void)state;
  answers(
      COMMANDS("LAJU.ALL here u 4 there u 4", "LAJU.ALL here u 4 there u 6", "LAJU.PEEK here u", "LAJU.PEEK there u"),
      "*13 :1 :1 :9 :5 :0 :38400000 :0 :1 :9 :5 :0 :38400000 :0 "
      "*13 :0 :1 :9 :1 :0 :76800000 :0 :0 :9 :5 :9600000 :38400000 :0 "
      "*6 :1 :9 :1 :0 :76800000 :0 *6 :1 :9 :5 :0 :38400000 :0");
  answers(COMMANDS("LAJU.MCHECK there 0 u", "LAJU.MCHECK here 0 u"), "*1 :5 *1 :5");
}

static void a_reset_keeps_its_place(void **state) {
  (void)state;
  answers(COMMANDS("LAJU.CHECK there u 9", "LAJU.RESET there u", "LAJU.CHECK there u 5", "LAJU.RESET there v"),
          "*6 :1 :9 :0 :0 :86400000 :0 :1 *6 :1 :9 :4 :0 :48000000 :0 :0");
}

static void batches_of_many_connections_are_under_way_at_once(void **state) {
  (void)state;
  enum { MANY = 100 };
  laju_parked *all[MANY];
  void *connection = calloc(1, laju_resp_codec.connection_size);
  laju_resp_codec.init(connection, &service, &(laju_peer){.is_unix = true});
  for (int i = 0; i < MANY; i++) {
    all[i] = park(connection, COMMANDS("LAJU.CHECK there u"));
    assert_true(laju_parked_start(all[i], &way, on_decided, &decided));
  }
  wait_for(MANY);
  for (int i = 0, admitted = 0; i < MANY; i++) {
    admitted += laju_parked_batch(all[i])->decisions[0].allowed;
    assert_int_equal(admitted, i < 9 ? i + 1 : 9);
    laju_parked_free(all[i]);
  }
  free(connection);
}

static void one_that_nobody_waits_for_goes_by_itself(void **state) {
  (void)state;
  void *connection = calloc(1, laju_resp_codec.connection_size);
  laju_resp_codec.init(connection, &service, &(laju_peer){.is_unix = true});
  laju_parked *left = park(connection, COMMANDS("LAJU.CHECK there u 3"));
  assert_true(laju_parked_start(left, &way, on_decided, &decided));
  laju_parked_abandon(left);
  free(connection);
  assert_true(COMES_TRUE(&loop, laju_lot_oldest(&lot) == lot.taken));
  assert_int_equal(decided, 0);
  answers(COMMANDS("LAJU.MCHECK there 0 u"), "*1 :6");
}

static void a_store_that_is_silent_is_answered_for(void **state) {
  (void)state;
  kill(server.pid, SIGSTOP);
  int64_t began_us = clock_us();
  answers(COMMANDS("LAJU.CHECK there u 4", "LAJU.CHECK shut u", "LAJU.ALL here u 4 shut u 1", "LAJU.PEEK here u",
                   "LAJU.RESET there u"),
          "*6 :1 :9 :5 :0 :0 :0 *6 :0 :9 :0 :1000 :1000 :0 *13 :0 :1 :9 :5 :0 :38400000 :0 :0 :9 :0 :1000 :1000 :0 "
          "*6 :1 :9 :5 :0 :38400000 :0 -ERR the shared store did not answer: the key may be forgotten, or not");
  assert_true(clock_us() - began_us < 10 * TIMEOUT_US);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(&loop, laju_store_is_up(way.store)));
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup(f, empty)
  const struct CMUnitTest tests[] = {
      CLAIM(all_kinds_are_answered_in_their_order),
      CLAIM(rules_of_both_kinds_are_one_request),
      CLAIM(a_reset_keeps_its_place),
      CLAIM(batches_of_many_connections_are_under_way_at_once),
      CLAIM(one_that_nobody_waits_for_goes_by_itself),
      CLAIM(a_store_that_is_silent_is_answered_for),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
