/* What is pushed: the driver with the admin door's codec, and one end of a socket pair; the test holds the other end. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "proto/admin.h"
#include "server/connection.h"
#include "server/terms.h"

#define STUCK_MS 30000
#define PUT \
  "PUT /v1/keys?rule=default&key=ada HTTP/1.1\r\nHost: localhost\r\nContent-Length: 29\r\n\r\n{\"limit\":7,\"expires_in\":\"1h\"}"
#define HEALTH "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define EVENTS "GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"

static uv_loop_t loop;
static laju_limiter *limiter;
static laju_way way;
static laju_config config;
static laju_terms *terms;
static laju_rule_names *names;
static laju_admin admin;
static laju_service service;
static laju_connections all;
static laju_door door = {.codec = &laju_admin_codec, .is_unix = true, .local = true};
static laju_admin_change *pending;
static int peer;
static size_t closed;

static void on_closed(laju_connections *connections) {
  (void)connections;
  closed++;
}

static void write_status(void *owner, laju_buffer *out) {
  (void)owner;
  laju_buffer_add_text(out, "{}");
}

static void wait_for_it(void *owner, laju_admin_change *change) {
  (void)owner;
  pending = change;
}

static void turn(void) {
  for (int i = 0; i < 4; i++) uv_run(&loop, UV_RUN_NOWAIT);
}

static int setup(void **state) {
  (void)state;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  int ends[2];
  laju_config_init(&config);
  names = laju_rule_names_new();
  if (names == NULL || laju_limiter_new(&limiter, &options) < 0 || laju_config_add_default_rule(&config) < 0) return -1;
  laju_terms_number(&config, names);
  if (laju_terms_new(&terms, &config) < 0 || laju_overlay_new(&admin.overlay) < 0) return -1;
  admin.write_status = write_status;
  admin.change = wait_for_it;
  admin.event_number = 0;
  service = (laju_service){.limiter = limiter, .terms = terms, .stage = LAJU_SERVING, .admin = &admin};
  way = (laju_way){.limiter = limiter};
  if (uv_loop_init(&loop) < 0 || laju_connections_init(&all, &loop, &service, &way, on_closed) < 0) return -1;
  closed = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
    return -1;
  laju_connections_open(&all, &door, ends[0]);
  peer = ends[1];
  return 0;
}

static int teardown(void **state) {
  (void)state;
  laju_connections_cut(&all);
  laju_connections_stop(&all);
  uv_run(&loop, UV_RUN_DEFAULT);
  laju_connections_deinit(&all);
  if (uv_loop_close(&loop) < 0) return -1;
  if (peer >= 0) close(peer);
  laju_overlay_free(admin.overlay);
  laju_buffer_deinit(&admin.event);
  admin.event = (laju_buffer){0};
  laju_terms_free(terms);
  laju_rule_names_free(names);
  laju_config_deinit(&config);
  laju_limiter_free(limiter);
  return 0;
}

static void say(const char *text) {
  assert_int_equal(write(peer, text, strlen(text)), (ssize_t)strlen(text));
  turn();
}

/* All that has come. */
static const char *heard(void) {
  static char text[65536];
  ssize_t got = read(peer, text, sizeof text - 1);
  text[got > 0 ? got : 0] = '\0';
  return text;
}

static void finish(void) {
  pending->result = LAJU_CHANGE_DONE;
  pending->done = true;
  if (pending->abandoned) free(pending);
  pending = NULL;
  laju_connections_push(&all);
  turn();
}

static void event(const char *text) {
  laju_buffer_clear(&admin.event);
  laju_buffer_add_text(&admin.event, text);
  admin.event_number++;
  laju_connections_push(&all);
  turn();
}

static void an_answer_that_is_pushed_comes_before_those_behind_it(void **state) {
  (void)state;
  say(PUT HEALTH);
  assert_string_equal(heard(), "");
  say(HEALTH); /* kept, too */
  assert_string_equal(heard(), "");
  finish();
  const char *text = heard(), *first = strstr(text, "\"limit\":7,"), *second = strstr(text, "{\"status\":\"ok\"}");
  assert_true(first != NULL && second > first);
  assert_non_null(strstr(second + 1, "{\"status\":\"ok\"}"));
}

static void who_has_sent_all_gets_the_answer_all_the_same(void **state) {
  (void)state;
  say(PUT);
  shutdown(peer, SHUT_WR);
  turn();
  assert_int_equal(closed, 0);
  finish();
  assert_non_null(strstr(heard(), "\"limit\":7,"));
}

static void who_went_away_is_not_waited_for(void **state) {
  (void)state;
  say(PUT);
  laju_admin_change *change = pending;
  laju_connections_cut(&all);
  turn();
  assert_int_equal(closed, 1);
  assert_true(change->abandoned);
  finish();
}

static void a_drain_waits_for_what_is_promised(void **state) {
  (void)state;
  say(PUT);
  laju_connections_drain(&all);
  turn();
  assert_int_equal(closed, 0);
  finish();
  assert_non_null(strstr(heard(), "\"limit\":7,"));
}

static void subscribers_hear_each_event_and_a_drain_ends_them(void **state) {
  (void)state;
  say(EVENTS);
  assert_non_null(strstr(heard(), "event: status\ndata: {}\n\n"));
  event("{\"a\":1}");
  assert_string_equal(heard(), "event: status\ndata: {\"a\":1}\n\n");
  laju_connections_push(&all);
  turn();
  assert_string_equal(heard(), "");
  assert_int_equal(admin.subscribers, 1);
  laju_connections_drain(&all);
  turn();
  assert_int_equal(closed, 1);
  assert_int_equal(admin.subscribers, 0);
}

static void one_that_does_not_listen_misses_events_and_is_dropped_in_time(void **state) {
  (void)state;
  static char large[1 << 20];
  int rounds = 0;
  memset(large, ' ', sizeof large - 1);
  say(EVENTS);
  for (; rounds < 20; rounds++) event(large);
  assert_true(all.kept < 2 * sizeof large); /* one of them waits, and no more */
  laju_connections_expire(&all, uv_now(&loop) + STUCK_MS + 2000);
  turn();
  laju_connections_expire(&all, uv_now(&loop) + 2 * STUCK_MS + 4000);
  turn();
  assert_int_equal(laju_count_read(&all.counters.stuck), 1);
  assert_int_equal(closed, 1);
}

/* When its patience ends with the only connection. */
static uint64_t deadline(void) {
  for (size_t i = 0; i < LAJU_WHEEL_SLOTS; i++) {
    const laju_deadline *head = &all.wheel.slots[i];
    if (head->next != head) return head->next->due_ms;
  }
  return 0;
}

static void news_that_are_left_out_do_not_prolong_patience(void **state) {
  (void)state;
  static char large[1 << 20];
  memset(large, ' ', sizeof large - 1);
  say(EVENTS);
  event(large);
  uint64_t before = deadline();
  for (uint64_t since = uv_now(&loop); uv_now(&loop) < since + 3;) event("{}");
  assert_int_equal(deadline(), before);
}

static void a_drain_waits_two_seconds_for_one_that_does_not_listen(void **state) {
  (void)state;
  static char large[1 << 20];
  memset(large, ' ', sizeof large - 1);
  say(EVENTS);
  event(large);
  laju_connections_drain(&all);
  event("{}");
  assert_int_equal(closed, 0);
  laju_connections_expire(&all, uv_now(&loop) + LAJU_DRAIN_STUCK_MS + LAJU_WHEEL_TICK_MS);
  turn();
  assert_int_equal(closed, 1);
  assert_int_equal(admin.subscribers, 0);
}

/* So little in each two seconds that its socket does not ask for more at once: only the kernel knows that it reads. */
static void a_drain_does_not_cut_off_who_reads_slowly(void **state) {
  (void)state;
  static char large[1 << 20];
  size_t got = 0;
  memset(large, ' ', sizeof large - 1);
  say(EVENTS);
  event(large);
  laju_connections_drain(&all);
  for (uint64_t round = 1; got < sizeof large; round++) {
    size_t now = strlen(heard());
    assert_true(now > 0);
    got += now;
    turn();
    laju_connections_expire(&all, uv_now(&loop) + round * (LAJU_DRAIN_STUCK_MS + LAJU_WHEEL_TICK_MS));
    turn();
  }
  assert_int_equal(laju_count_read(&all.counters.stuck), 0);
}

static void one_that_listens_again_hears_the_latest(void **state) {
  (void)state;
  static char large[1 << 20], text[65536];
  memset(large, ' ', sizeof large - 1);
  say(EVENTS);
  event(large);
  event("{\"missed\":1}");
  event("{\"last\":1}");
  bool is_last = false;
  for (int i = 0; i < 1000 && !is_last; i++) {
    ssize_t got = read(peer, text, sizeof text - 1);
    text[got > 0 ? got : 0] = '\0';
    assert_null(strstr(text, "missed"));
    is_last = strstr(text, "{\"last\":1}") != NULL;
    turn();
  }
  assert_true(is_last);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(an_answer_that_is_pushed_comes_before_those_behind_it),
      TEST(who_has_sent_all_gets_the_answer_all_the_same),
      TEST(who_went_away_is_not_waited_for),
      TEST(a_drain_waits_for_what_is_promised),
      TEST(subscribers_hear_each_event_and_a_drain_ends_them),
      TEST(one_that_does_not_listen_misses_events_and_is_dropped_in_time),
      TEST(news_that_are_left_out_do_not_prolong_patience),
      TEST(a_drain_waits_two_seconds_for_one_that_does_not_listen),
      TEST(a_drain_does_not_cut_off_who_reads_slowly),
      TEST(one_that_listens_again_hears_the_latest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
