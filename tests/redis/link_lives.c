/* A link to a real Redis: it comes up, speaks in order, is lost and comes again. */
#include "redis/fixture.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "redis/link.h"
#include "redis/loop.h"
#include "redis/store.h"

#define COMMANDS 20000

static uv_loop_t *loop;
static laju_store_counters counters;
static laju_link_shared shared;

static struct {
  int ready, lost, failed, pushed;
  char push[64];
} seen;

static void on_ready(void *owner, laju_link *link) {
  (void)owner;
  (void)link;
  seen.ready++;
}

static void on_lost(void *owner, laju_link *link, bool greeted) {
  (void)owner;
  assert_true(laju_link_why(link)[0] != '\0');
  if (greeted) {
    seen.lost++;
  } else {
    seen.failed++;
  }
}

static void on_push(void *owner, laju_link *link, const redisReply *reply) {
  (void)owner;
  (void)link;
  seen.pushed++;
  snprintf(seen.push, sizeof seen.push, "%s", reply->elements == 3 ? reply->element[2]->str : "");
}

static const laju_link_events events = {.on_ready = on_ready, .on_lost = on_lost};
static const laju_link_events pushed_events = {.on_ready = on_ready, .on_lost = on_lost, .on_push = on_push};

static int begin(void **unused) {
  (void)unused;
  loop = uv_default_loop();
  shared = (laju_link_shared){.loop = loop, .connect_timeout_us = SECOND, .counters = &counters, .random = 1};
  shared.read_buffer = malloc(LAJU_LINK_READ_SIZE);
  memset(&seen, 0, sizeof seen);
  counters = (laju_store_counters){0};
  return 0;
}

static int end(void **unused) {
  (void)unused;
  free(shared.read_buffer);
  return 0;
}

static laju_link_options to_server(void) {
  return (laju_link_options){.unix_path = server.socket, .script = true, .commands_max = COMMANDS};
}

static laju_link *open_link(laju_link_options options) {
  laju_link *link;
  assert_int_equal(laju_link_new(&link, &shared, &options, &events, NULL), 0);
  return link;
}

static void on_closed(void *context) {
  *(bool *)context = true;
}

static void close_link(laju_link *link) {
  bool closed = false;
  laju_link_close(link, on_closed, &closed);
  assert_true(COMES_TRUE(loop, closed));
}

/* ---- commands that remember what became of them ---- */

typedef struct order {
  laju_link_command command;
  int done;
  laju_link_fate fate;
  int type;
  long long integer;
  char text[64];
} order;

static int done_count;

static void on_done(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  order *o = (order *)command;
  o->done = ++done_count;
  o->fate = fate;
  assert_int_equal(reply != NULL, fate == LAJU_LINK_REPLIED);
  if (reply == NULL) return;
  o->type = reply->type;
  o->integer = reply->integer;
  if (reply->str != NULL) snprintf(o->text, sizeof o->text, "%s", reply->str);
}

static void put(laju_link *link, order *o, const char *line) {
  *o = (order){.command = {.done = on_done, .deadline_us = INT64_MAX, .replies = 1}};
  laju_buffer_add_text(laju_link_out(link), line);
  assert_true(laju_link_add(link, &o->command));
}

static void ask_link(laju_link *link, order *o, const char *line) {
  put(link, o, line);
  laju_link_flush(link);
}

/* ---- coming up ---- */

static void it_connects_and_loads_the_script(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "SCRIPT FLUSH"));
  laju_link *link = open_link(to_server());
  assert_false(laju_link_is_ready(link));
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  assert_int_equal(seen.ready, 1);
  assert_int_equal(counters.connects, 1);
  redisReply *reply = redis_command(&server, "SCRIPT EXISTS %s", server.script.sha1);
  assert_int_equal(reply->element[0]->integer, 1);
  freeReplyObject(reply);
  order name;
  ask_link(link, &name, "CLIENT GETNAME\r\n");
  assert_true(COMES_TRUE(loop, name.done));
  assert_string_equal(name.text, "laju");
  close_link(link);
}

static void replies_come_in_the_order_of_commands(void **unused) {
  (void)unused;
  static order orders[COMMANDS];
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  done_count = 0;
  for (int i = 0; i < COMMANDS; i++) put(link, &orders[i], "INCR n\r\n");
  assert_false(laju_link_is_ready(link)); /* commands_max */
  laju_link_flush(link);
  assert_true(COMES_TRUE(loop, done_count == COMMANDS));
  for (int i = 0; i < COMMANDS; i++) {
    assert_int_equal(orders[i].integer, i + 1);
    assert_int_equal(orders[i].done, i + 1);
  }
  assert_true(laju_link_is_ready(link));
  assert_in_range(counters.bytes_in, COMMANDS * 4, COMMANDS * 8 + 100);
  close_link(link);
}

static void a_command_of_several_replies_is_done_with_the_last(void **unused) {
  (void)unused;
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  order several = {.command = {.done = on_done, .deadline_us = INT64_MAX, .replies = 3}}, next;
  laju_buffer_add_text(laju_link_out(link), "MULTI\r\nINCR several\r\nEXEC\r\n");
  assert_true(laju_link_add(link, &several.command));
  ask_link(link, &next, "PING\r\n");
  assert_true(COMES_TRUE(loop, next.done));
  assert_int_equal(several.type, REDIS_REPLY_ARRAY);
  assert_string_equal(next.text, "PONG");
  close_link(link);
}

static void of_several_replies_the_first_error_is_told(void **unused) {
  (void)unused;
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  order several = {.command = {.done = on_done, .deadline_us = INT64_MAX, .replies = 5}}, next;
  laju_buffer_add_text(laju_link_out(link), "MULTI\r\nINCR a\r\nINCR\r\nNONE\r\nEXEC\r\n");
  assert_true(laju_link_add(link, &several.command));
  ask_link(link, &next, "PING\r\n");
  assert_true(COMES_TRUE(loop, next.done));
  assert_int_equal(several.type, REDIS_REPLY_ERROR);
  assert_string_equal(several.text, "ERR wrong number of arguments for 'incr' command");
  assert_string_equal(next.text, "PONG");
  close_link(link);
}

static void a_subscriber_gets_what_nobody_asked_for(void **unused) {
  (void)unused;
  laju_link *link;
  laju_link_options options = {.unix_path = server.socket, .subscriber = true, .commands_max = 1};
  assert_int_equal(laju_link_new(&link, &shared, &options, &pushed_events, NULL), 0);
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  laju_buffer_add_text(laju_link_out(link), "SUBSCRIBE +switch-master\r\n");
  assert_true(laju_link_add(link, NULL));
  laju_link_flush(link);
  assert_true(COMES_TRUE(loop, seen.pushed == 1));
  assert_int_equal(redis_integer(&server, "PUBLISH +switch-master here"), 1);
  assert_true(COMES_TRUE(loop, seen.pushed == 2));
  assert_string_equal(seen.push, "here");
  close_link(link);
}

static void a_name_is_looked_up_and_all_its_addresses_tried(void **unused) {
  (void)unused;
  laju_link_options options = to_server();
  options.unix_path = NULL;
  options.place = (laju_store_place){.host = "localhost", .port = (uint16_t)strtol(server.arguments[1], NULL, 10)};
  laju_link *link = open_link(options); /* ::1 may come first, where nothing listens */
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  assert_int_equal(seen.failed, 0);
  close_link(link);
}

static void a_name_that_is_none_is_a_failed_try(void **unused) {
  (void)unused;
  laju_link_options options = {.place = {.host = "no.such.host.invalid", .port = 1}, .commands_max = 1};
  laju_link *link = open_link(options);
  assert_true(COMES_TRUE(loop, seen.failed == 1));
  assert_non_null(strstr(laju_link_why(link), "no.such.host.invalid: "));
  close_link(link);
}

static void a_wrong_password_is_told(void **unused) {
  (void)unused;
  laju_link_options options = to_server();
  options.user = "nobody";
  options.password = "wrong";
  laju_link *link = open_link(options);
  assert_true(COMES_TRUE(loop, seen.failed == 2)); /* and it tries again */
  assert_non_null(strstr(laju_link_why(link), "AUTH: WRONGPASS"));
  assert_int_equal(counters.connects, 0);
  assert_int_equal(counters.connect_failures, 2);
  close_link(link);
}

static void who_may_not_load_scripts_is_told(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "ACL SETUSER poor on >secret ~* +@all -@scripting -client|setname"));
  laju_link_options options = to_server();
  options.user = "poor";
  options.password = "secret";
  laju_link *link = open_link(options);
  assert_true(COMES_TRUE(loop, seen.failed == 1));
  assert_non_null(strstr(laju_link_why(link), "SCRIPT LOAD: NOPERM"));
  close_link(link);
  options.script = false; /* and SETNAME is no hindrance */
  link = open_link(options);
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  close_link(link);
}

/* ---- being lost ---- */

static void a_killed_connection_comes_again_and_its_commands_are_told(void **unused) {
  (void)unused;
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  order sent, unsent;
  ask_link(link, &sent, "BLPOP nothing 0\r\n");
  put(link, &unsent, "INCR never\r\n");
  freeReplyObject(redis_command(&server, "CLIENT KILL TYPE normal SKIPME yes"));
  assert_true(COMES_TRUE(loop, sent.done));
  assert_int_equal(sent.fate, LAJU_LINK_LOST);
  assert_int_equal(unsent.fate, LAJU_LINK_UNSENT);
  assert_int_equal(seen.lost, 1);
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  order next;
  ask_link(link, &next, "GET never\r\n");
  assert_true(COMES_TRUE(loop, next.done));
  assert_int_equal(next.type, REDIS_REPLY_NIL);
  close_link(link);
}

static void a_server_that_says_nothing_for_a_second_is_left(void **unused) {
  (void)unused;
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  kill(server.pid, SIGSTOP);
  order sent;
  uint64_t from = uv_hrtime();
  ask_link(link, &sent, "INCR silent\r\n");
  assert_true(COMES_TRUE(loop, sent.done));
  uint64_t took_ms = (uv_hrtime() - from) / 1000000;
  kill(server.pid, SIGCONT);
  assert_in_range(took_ms, LAJU_LINK_SILENCE_MS - 20, 10 * LAJU_LINK_SILENCE_MS);
  assert_int_equal(sent.fate, LAJU_LINK_LOST);
  assert_string_equal(laju_link_why(link), "no answer for too long");
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  close_link(link);
}

static void what_has_not_left_by_its_deadline_never_does(void **unused) {
  (void)unused;
  static order large, late, after;
  static char value[8 << 20];
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  kill(server.pid, SIGSTOP);
  memset(value, 'x', sizeof value);
  large = (order){.command = {.done = on_done, .deadline_us = 0, .replies = 1}}; /* has begun to leave, so it goes on */
  laju_buffer_add_format(laju_link_out(link), "*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$%zu\r\n", sizeof value);
  laju_buffer_add(laju_link_out(link), value, sizeof value);
  laju_buffer_add_text(laju_link_out(link), "\r\n");
  assert_true(laju_link_add(link, &large.command));
  laju_link_flush(link);
  assert_false(laju_link_is_ready(link)); /* stuck */
  put(link, &late, "SET late 1\r\n");
  late.command.deadline_us = (int64_t)(uv_hrtime() / 1000);
  put(link, &after, "GET late\r\n");
  usleep(2000);
  kill(server.pid, SIGCONT);
  assert_true(COMES_TRUE(loop, after.done));
  assert_string_equal(large.text, "OK");
  assert_int_equal(late.fate, LAJU_LINK_UNSENT);
  assert_int_equal(after.type, REDIS_REPLY_NIL);
  assert_int_equal(seen.ready, 2);
  close_link(link);
}

static void a_link_that_is_moved_connects_there(void **unused) {
  (void)unused;
  laju_link_options options = {.place = {.host = "127.0.0.1", .port = 1}, .commands_max = 1};
  laju_link *link = open_link(options);
  assert_true(COMES_TRUE(loop, seen.failed == 1));
  assert_non_null(strstr(laju_link_why(link), "connect to 127.0.0.1 port 1: "));
  options.place.port = (uint16_t)strtol(server.arguments[1], NULL, 10);
  laju_link_move(link, &options.place);
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  close_link(link);
}

/* ---- a server that is none ---- */

static int listener;
static laju_link_options to_listener(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof address;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
  assert_int_equal(listen(listener, 8), 0);
  getsockname(listener, (struct sockaddr *)&address, &len);
  return (laju_link_options){.place = {.host = "127.0.0.1", .port = ntohs(address.sin_port)}, .commands_max = 8};
}

static void what_is_no_redis_is_left(void **unused) {
  (void)unused;
  static const struct {
    const char *says, *why;
  } cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "Protocol error, got \"H\" as reply type byte"},
      {"*2000000\r\n", "a reply that is larger than laju reads"},
      {"+OK\r\n+OK\r\n+more\r\n", "a reply that nothing was asked for"},
      {"-DENIED go away\r\n-DENIED go away\r\n", "PING: DENIED go away"},
      {"", "the server has closed the connection"},
  };
  laju_link *link = open_link(to_listener());
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int before = seen.failed + seen.lost, fd = -1;
    assert_true(COMES_TRUE(loop, (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0));
    assert_int_equal(write(fd, cases[i].says, strlen(cases[i].says)), strlen(cases[i].says));
    shutdown(fd, SHUT_WR);
    assert_true(COMES_TRUE(loop, seen.failed + seen.lost > before));
    assert_string_equal(laju_link_why(link), cases[i].why);
    close(fd);
  }
  close_link(link);
  close(listener);
}

static void who_does_not_greet_in_time_is_left(void **unused) {
  (void)unused;
  shared.connect_timeout_us = 50000;
  laju_link *link = open_link(to_listener());
  assert_true(COMES_TRUE(loop, seen.failed == 1));
  assert_string_equal(laju_link_why(link), "greeting: no answer in time");
  close_link(link);
  close(listener);
}

static void it_can_be_closed_at_any_time(void **unused) {
  (void)unused;
  laju_link_options unknown = {.place = {.host = "no.such.host.invalid", .port = 1}, .commands_max = 1};
  close_link(open_link(to_server()));
  for (int turns = 1; turns < 4; turns++) {
    laju_link *link = open_link(to_server()), *lookup = open_link(unknown);
    for (int i = 0; i < turns; i++) uv_run(loop, UV_RUN_NOWAIT);
    close_link(link);
    close_link(lookup);
  }
  laju_link *link = open_link(to_server());
  assert_true(COMES_TRUE(loop, laju_link_is_ready(link)));
  order waiting;
  ask_link(link, &waiting, "PING\r\n");
  close_link(link);
  assert_int_equal(waiting.fate, LAJU_LINK_LOST);
}

static int start_on_port(void **unused) {
  (void)unused;
  redis_start_with(&server, (const char *const[]){"--port", redis_free_port(), NULL});
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(it_connects_and_loads_the_script, begin, end),
      cmocka_unit_test_setup_teardown(replies_come_in_the_order_of_commands, begin, end),
      cmocka_unit_test_setup_teardown(a_command_of_several_replies_is_done_with_the_last, begin, end),
      cmocka_unit_test_setup_teardown(of_several_replies_the_first_error_is_told, begin, end),
      cmocka_unit_test_setup_teardown(a_subscriber_gets_what_nobody_asked_for, begin, end),
      cmocka_unit_test_setup_teardown(a_name_is_looked_up_and_all_its_addresses_tried, begin, end),
      cmocka_unit_test_setup_teardown(a_name_that_is_none_is_a_failed_try, begin, end),
      cmocka_unit_test_setup_teardown(a_wrong_password_is_told, begin, end),
      cmocka_unit_test_setup_teardown(who_may_not_load_scripts_is_told, begin, end),
      cmocka_unit_test_setup_teardown(a_killed_connection_comes_again_and_its_commands_are_told, begin, end),
      cmocka_unit_test_setup_teardown(a_server_that_says_nothing_for_a_second_is_left, begin, end),
      cmocka_unit_test_setup_teardown(what_has_not_left_by_its_deadline_never_does, begin, end),
      cmocka_unit_test_setup_teardown(a_link_that_is_moved_connects_there, begin, end),
      cmocka_unit_test_setup_teardown(what_is_no_redis_is_left, begin, end),
      cmocka_unit_test_setup_teardown(who_does_not_greet_in_time_is_left, begin, end),
      cmocka_unit_test_setup_teardown(it_can_be_closed_at_any_time, begin, end),
  };
  return cmocka_run_group_tests(tests, start_on_port, stop);
}
