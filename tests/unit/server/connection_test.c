/* The driver with a real codec (RESP), a real limiter and one end of a socket pair; the test holds the other end. Time is
 * handed to laju_connections_expire. */
#include "server/connection.h"
#include "server/terms.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define TEN_SECONDS_MS 10000
#define ROUND 1000000
#define PATIENCE_NS UINT64_C(30000000000)

static uv_loop_t loop;
static laju_limiter *limiter;
static laju_way way;
static laju_config config;
static laju_terms *terms;
static laju_service service;
static laju_connections all;
static laju_door door = {.codec = &laju_resp_codec, .is_unix = true, .local = true};
static int peer;
static size_t closed;

static void on_closed(laju_connections *connections) {
  (void)connections;
  closed++;
}

static void turn(void) {
  for (int i = 0; i < 4; i++) uv_run(&loop, UV_RUN_NOWAIT);
}

static int open_one(void) {
  int ends[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  laju_connections_open(&all, &door, ends[0]);
  return ends[1];
}

/* A million a day by name; a thousand a second of whoever asks for /queue, who wait their turn. */
static const char rules[] =
    "rules:\n"
    " - {name: day, limit: 1000000, per: 1d, algorithm: token-bucket, match: none}\n"
    " - {name: queue, limit: 1000, per: 1s, algorithm: leaky-bucket, match: {path: /queue}, wait: server}\n";

static int setup(void **state) {
  (void)state;
  char why[LAJU_WHY_SIZE];
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  if (laju_limiter_new(&limiter, &options) < 0) return -1;
  laju_config_init(&config);
  if (laju_config_parse(&config, "laju.yaml", rules, sizeof rules - 1, why) < 0) return -1;
  if (laju_terms_new(&terms, &config) < 0) return -1;
  service = (laju_service){.limiter = limiter, .terms = terms, .stage = LAJU_SERVING};
  way = (laju_way){.limiter = limiter};
  if (uv_loop_init(&loop) < 0 || laju_connections_init(&all, &loop, &service, &way, on_closed) < 0) return -1;
  closed = 0;
  door.idle_ms = 0;
  peer = open_one();
  return 0;
}

static int setup_http(void **state) {
  door.codec = &laju_http_codec;
  return setup(state);
}

static int teardown(void **state) {
  (void)state;
  close(peer);
  laju_connections_cut(&all);
  turn();
  laju_connections_stop(&all);
  turn();
  int err = uv_loop_close(&loop);
  laju_connections_deinit(&all);
  laju_terms_free(terms);
  laju_config_deinit(&config);
  laju_limiter_free(limiter);
  door.codec = &laju_resp_codec;
  return err;
}

static void say(const char *text) {
  assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
  turn();
}

static char heard[64 * 1024];

/* What has come so far. */
static const char *hear(void) {
  size_t len = 0;
  ssize_t got;
  while (len < sizeof heard - 1 && (got = recv(peer, heard + len, sizeof heard - 1 - len, 0)) > 0) len += (size_t)got;
  heard[len] = 0;
  return heard;
}

static bool hung_up(void) {
  char byte;
  return recv(peer, &byte, 1, 0) == 0;
}

static uint64_t count_of(const _Atomic uint64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

/* ---- requests ---- */

static void a_request_is_answered(void **state) {
  (void)state;
  say("*1\r\n$4\r\nPING\r\n");
  assert_string_equal(hear(), "+PONG\r\n");
}

static void many_in_one_read_are_answered_in_order(void **state) {
  (void)state;
  say("PING a\r\nPING b\r\nLAJU.MCHECK day 1 k\r\nPING c\r\n");
  assert_string_equal(hear(), "$1\r\na\r\n$1\r\nb\r\n*1\r\n:999999\r\n$1\r\nc\r\n");
}

static void a_request_may_come_byte_by_byte(void **state) {
  (void)state;
  for (const char *at = "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n"; *at != 0; at++) {
    assert_string_equal(hear(), "");
    say((char[]){*at, 0});
  }
  assert_string_equal(hear(), "$2\r\nhi\r\n");
}

static void more_requests_than_a_batch_holds_are_all_answered(void **state) {
  (void)state;
  static char asks[10 * LAJU_BATCH_ASKS * 6 + 1];
  for (size_t i = 0; i < 10 * LAJU_BATCH_ASKS; i++) memcpy(asks + i * 6, "PING\r\n", 6);
  say(asks);
  assert_int_equal(strlen(hear()), 10 * LAJU_BATCH_ASKS * strlen("+PONG\r\n"));
}

/* ---- ends ---- */

static void a_half_closed_peer_gets_its_replies_and_then_the_end(void **state) {
  (void)state;
  say("PING\r\nPING\r\n");
  shutdown(peer, SHUT_WR);
  turn();
  assert_string_equal(hear(), "+PONG\r\n+PONG\r\n");
  assert_true(hung_up());
  assert_int_equal(closed, 1);
}

static void quit_is_answered_then_shut_and_what_still_comes_is_thrown_away(void **state) {
  (void)state;
  say("QUIT\r\nPING\r\n");
  assert_string_equal(hear(), "+OK\r\n");
  assert_true(hung_up());
  say("PING\r\n");
  assert_int_equal(closed, 0);
  laju_connections_expire(&all, uv_now(&loop) + LAJU_LINGER_MS + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(closed, 1);
}

static void a_peer_that_vanishes_is_forgotten(void **state) {
  (void)state;
  say("*1\r\n$4\r\nPI");
  close(peer);
  peer = -1;
  turn();
  assert_int_equal(closed, 1);
  assert_int_equal(all.count, 0);
}

/* ---- patience ---- */

static void a_slow_request_ends_ten_seconds_after_it_began_though_bytes_still_drip_in(void **state) {
  (void)state;
  uint64_t began = uv_now(&loop);
  say("*1\r\n$4\r\n");
  laju_connections_expire(&all, began + TEN_SECONDS_MS - LAJU_WHEEL_TICK_MS);
  say("P");
  assert_int_equal(count_of(&all.counters.slow), 0);
  laju_connections_expire(&all, uv_now(&loop) + TEN_SECONDS_MS + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.slow), 1);
  hear();
  assert_true(hung_up());
}

static void a_request_behind_what_came_to_none_has_its_deadline(void **state) {
  (void)state;
  say("\r");
  say("\n");
  say("*1\r\n$4\r\n");
  laju_connections_expire(&all, uv_now(&loop) + TEN_SECONDS_MS + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.slow), 1);
}

static void a_request_that_was_finished_in_time_leaves_no_deadline(void **state) {
  (void)state;
  say("*1\r\n$4\r\n");
  say("PING\r\n");
  laju_connections_expire(&all, uv_now(&loop) + 100 * TEN_SECONDS_MS);
  turn();
  assert_int_equal(closed, 0);
  say("PING\r\n");
  assert_string_equal(hear(), "+PONG\r\n+PONG\r\n");
}

static void an_idle_connection_is_closed_where_the_door_says_so(void **state) {
  (void)state;
  close(peer);
  turn();
  door.idle_ms = 75000;
  peer = open_one();
  say("PING\r\n");
  laju_connections_expire(&all, uv_now(&loop) + 74000);
  turn();
  assert_string_equal(hear(), "+PONG\r\n");
  assert_int_equal(count_of(&all.counters.idle), 0);
  laju_connections_expire(&all, uv_now(&loop) + 75000 + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.idle), 1);
  assert_true(hung_up());
}

static void an_unfinished_request_longer_than_the_codec_needs_is_parted_from(void **state) {
  (void)state;
  laju_codec narrow = laju_resp_codec;
  narrow.input_max = 16;
  door.codec = &narrow;
  say("*2\r\n$4\r\nECHO\r\n$100\r\n");
  turn();
  door.codec = &laju_resp_codec;
  assert_int_equal(count_of(&all.counters.oversized), 1);
  hear();
  assert_true(hung_up());
}

/* ---- memory ---- */

/* 900 arguments of 1,024 bytes, of 1,002 that are announced. */
static void begin_large_request(int fd) {
  static char text[16 + 900 * 1033];
  size_t len = (size_t)snprintf(text, sizeof text, "*1002\r\n");
  for (int i = 0; i < 900; i++, len += 1033) {
    memset(text + len, 'k', 1033);
    memcpy(text + len, "$1024\r\n", 7);
    memcpy(text + len + 1031, "\r\n", 2);
  }
  for (size_t at = 0; at < len;) {
    ssize_t sent = send(fd, text + at, len - at, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) return; /* it was closed */
    if (sent > 0) at += (size_t)sent;
    turn();
  }
}

static void large_requests_that_do_not_end_take_so_much_memory_and_no_more(void **state) {
  (void)state;
  int large[100];
  say("*2\r\n$4\r\nECHO\r\n$2\r\n");
  for (int i = 0; i < 100; i++) {
    large[i] = open_one();
    begin_large_request(large[i]);
    assert_true(all.kept <= LAJU_KEPT_MAX);
  }
  assert_in_range(count_of(&all.counters.starved), 20, 40); /* 930 KB each, and room for 1 MiB */
  assert_int_equal(closed, count_of(&all.counters.starved));
  say("hi\r\nPING\r\n");
  assert_string_equal(hear(), "$2\r\nhi\r\n+PONG\r\n");
  for (int i = 0; i < 100; i++) close(large[i]);
  turn();
  assert_int_equal(all.kept, 0);
}

/* ---- a peer that does not read ---- */

/* Sends requests until neither side takes more. Returns how many bytes went. */
static size_t stuff(void) {
  static char asks[6 * 1000];
  for (size_t i = 0; i < 1000; i++) memcpy(asks + i * 6, "PING\r\n", 6);
  size_t sent = 0;
  for (int rounds = 0; rounds < ROUND; rounds++) {
    /* In whole requests, so that their number is known. */
    ssize_t now = send(peer, asks + sent % 6, sizeof asks - sent % 6, MSG_NOSIGNAL);
    if (now > 0) sent += (size_t)now;
    turn();
    if (now < 0) break;
  }
  return sent;
}

static void a_peer_that_does_not_read_is_not_read_from(void **state) {
  (void)state;
  size_t sent = stuff();
  /* What the two socket buffers, our pending output and one read hold, and no more. */
  assert_true(sent < 16 * 1024 * 1024);
  assert_int_equal(send(peer, "PING\r\n", 6, MSG_NOSIGNAL), -1);
  assert_int_equal(errno, EAGAIN);
}

static void once_it_reads_again_it_gets_every_reply(void **state) {
  (void)state;
  size_t sent = stuff();
  size_t whole = sent / 6, got = 0;
  for (int rounds = 0; rounds < ROUND && got < whole * 7; rounds++) {
    got += strlen(hear());
    turn();
  }
  assert_int_equal(got, whole * 7);
}

static void a_peer_that_never_reads_is_closed(void **state) {
  (void)state;
  stuff();
  laju_connections_expire(&all, uv_now(&loop) + LAJU_STUCK_MS - LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(closed, 0);
  laju_connections_expire(&all, uv_now(&loop) + LAJU_STUCK_MS + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.stuck), 1);
  assert_int_equal(closed, 1);
}

static void a_peer_that_reads_slowly_is_not_closed(void **state) {
  (void)state;
  stuff();
  while (recv(peer, heard, sizeof heard, 0) > 0) continue; /* the socket's buffer, but not yet what waits behind it */
  turn();
  laju_connections_expire(&all, uv_now(&loop) + LAJU_STUCK_MS + 2 * LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.stuck), 0);
  assert_int_equal(closed, 0);
}

/* ---- answers that wait ---- */

/* The peer has room for a few of the replies. The last answer's time comes while the others are stuck. */
static void an_answer_that_waited_goes_out_behind_those_that_are_stuck(void **state) {
  (void)state;
  enum { BEFORE = 100, ALL = BEFORE + 2, LEN = 40 };
  static char asks[ALL * LEN];
  int ends[2], little = 1;
  size_t len = 0, answers = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
  assert_int_equal(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
  close(peer);
  peer = ends[1];
  laju_connections_open(&all, &door, ends[0]);
  for (size_t i = 0; i < ALL; i++) {
    const char *path =
        i < BEFORE ? "/healthz" : "/auth/queue"; /* the first of these does not wait, the other a millisecond */
    len += (size_t)snprintf(asks + len, LEN, "GET %s HTTP/1.1\r\nHost: a\r\n\r\n", path);
  }
  say(asks);
  for (uint64_t began = uv_hrtime(); uv_hrtime() - began < 5000000;) turn();
  assert_int_equal(all.held_count, 1);
  static char got[sizeof heard];
  len = 0;
  for (uint64_t began = uv_hrtime(); answers < ALL && uv_hrtime() - began < PATIENCE_NS; turn()) {
    len += (size_t)snprintf(got + len, sizeof got - len, "%s", hear());
    answers = 0;
    for (const char *at = got; (at = strstr(at, "HTTP/1.1 200 OK")) != NULL; at++) answers++;
  }
  assert_int_equal(answers, ALL);
  assert_int_equal(all.held_count, 0);
}

/* ---- draining ---- */

static void draining_closes_who_is_idle_and_waits_for_who_has_begun(void **state) {
  (void)state;
  int busy = peer;
  say("*1\r\n$4\r\n");
  int idle = peer = open_one();
  turn();
  laju_connections_drain(&all);
  turn();
  assert_true(hung_up());
  close(idle);
  peer = busy;
  assert_string_equal(hear(), "");
  say("PING\r\n");
  assert_string_equal(hear(), "+PONG\r\n");
  assert_true(hung_up());
}

static void a_peer_that_takes_nothing_holds_up_a_drain_for_two_seconds(void **state) {
  (void)state;
  stuff();
  laju_connections_drain(&all);
  laju_connections_expire(&all, uv_now(&loop) + LAJU_DRAIN_STUCK_MS - LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(closed, 0);
  laju_connections_expire(&all, uv_now(&loop) + LAJU_DRAIN_STUCK_MS + LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(count_of(&all.counters.stuck), 1);
  assert_int_equal(closed, 1);
}

static void cutting_closes_all_and_counts_whose_request_was_lost(void **state) {
  (void)state;
  say("*1\r\n$4\r\n");
  int idle = open_one();
  turn();
  laju_connections_cut(&all);
  turn();
  assert_int_equal(closed, 2);
  assert_int_equal(count_of(&all.counters.cut), 1);
  assert_true(hung_up());
  close(idle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_request_is_answered, setup, teardown),
      cmocka_unit_test_setup_teardown(many_in_one_read_are_answered_in_order, setup, teardown),
      cmocka_unit_test_setup_teardown(a_request_may_come_byte_by_byte, setup, teardown),
      cmocka_unit_test_setup_teardown(more_requests_than_a_batch_holds_are_all_answered, setup, teardown),
      cmocka_unit_test_setup_teardown(a_half_closed_peer_gets_its_replies_and_then_the_end, setup, teardown),
      cmocka_unit_test_setup_teardown(quit_is_answered_then_shut_and_what_still_comes_is_thrown_away, setup, teardown),
      cmocka_unit_test_setup_teardown(a_peer_that_vanishes_is_forgotten, setup, teardown),
      cmocka_unit_test_setup_teardown(a_slow_request_ends_ten_seconds_after_it_began_though_bytes_still_drip_in, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_request_behind_what_came_to_none_has_its_deadline, setup, teardown),
      cmocka_unit_test_setup_teardown(a_request_that_was_finished_in_time_leaves_no_deadline, setup, teardown),
      cmocka_unit_test_setup_teardown(an_idle_connection_is_closed_where_the_door_says_so, setup, teardown),
      cmocka_unit_test_setup_teardown(large_requests_that_do_not_end_take_so_much_memory_and_no_more, setup, teardown),
      cmocka_unit_test_setup_teardown(an_unfinished_request_longer_than_the_codec_needs_is_parted_from, setup,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_peer_that_does_not_read_is_not_read_from, setup, teardown),
      cmocka_unit_test_setup_teardown(once_it_reads_again_it_gets_every_reply, setup, teardown),
      cmocka_unit_test_setup_teardown(a_peer_that_never_reads_is_closed, setup, teardown),
      cmocka_unit_test_setup_teardown(a_peer_that_reads_slowly_is_not_closed, setup, teardown),
      cmocka_unit_test_setup_teardown(an_answer_that_waited_goes_out_behind_those_that_are_stuck, setup_http, teardown),
      cmocka_unit_test_setup_teardown(draining_closes_who_is_idle_and_waits_for_who_has_begun, setup, teardown),
      cmocka_unit_test_setup_teardown(a_peer_that_takes_nothing_holds_up_a_drain_for_two_seconds, setup, teardown),
      cmocka_unit_test_setup_teardown(cutting_closes_all_and_counts_whose_request_was_lost, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
