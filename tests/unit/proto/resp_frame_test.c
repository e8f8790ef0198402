#include "proto/resp_frame.h"

#include "resp_door.h"

static door on;

static int open_door(void **state) {
  (void)state;
  door_open(&on);
  return 0;
}

static int close_door(void **state) {
  (void)state;
  door_close(&on);
  return 0;
}

/* ---- however the bytes arrive ---- */

/* A conversation with every kind of request in it: commands, lines, refusals, empty ones, and requests let by. */
static void build_conversation(laju_buffer *to) {
  door_command(to, "PING");
  door_command(to, "LAJU.CHECK api k 3");
  laju_buffer_add_text(to, "LAJU.CHECK api \"k\\x41 '\" 2\r\n\r\n*0\r\n*-1\r\nPING 'it\\'s'\n");
  door_command(to, "LAJU.ALL api k 1 queue q 2");
  door_command(to, "LAJU.MCHECK none 1 a b c");
  door_command(to, "CL.THROTTLE u 2 30 60");
  door_command(to, "NO.SUCH thing");
  door_command(to, "LAJU.CHECK nope k");
  laju_buffer_add_text(to, "*4\r\n$10\r\nLAJU.CHECK\r\n$3\r\napi\r\n$1025\r\n");
  for (int i = 0; i < 1025; i++) laju_buffer_add_text(to, "x");
  laju_buffer_add_text(to, "\r\n$1\r\n1\r\n");
  laju_buffer_add_text(to, "*1005\r\n$4\r\nPING\r\n");
  for (int i = 0; i < 1004; i++) laju_buffer_add_text(to, "$1\r\na\r\n");
  door_command(to, "HELLO 3");
  door_command(to, "LAJU.MCHECK none 1 a");
  door_command(to, "LAJU.PEEK api k");
  laju_buffer_add_text(to, "*2\r\n$4\r\nPING\r\n!");
  door_command(to, "PING");
}

/* All replies to the conversation, fed in pieces: `first` bytes, then `step` at a time. The connection's number aside, they
 * must always be the same; so it is cut out. */
static void converse(const laju_buffer *bytes, size_t first, size_t step, laju_buffer *replies) {
  door_open(&on);
  for (size_t at = 0, len = first; at < bytes->len; at += len, len = step) {
    if (len > bytes->len - at) len = bytes->len - at;
    door_feed(&on, bytes->data + at, len);
  }
  assert_true(on.closed);
  laju_buffer_clear(replies);
  char *id = memmem(on.replies.data, on.replies.len, "$2\r\nid\r\n:", 9);
  assert_non_null(id);
  char *mode = memmem(id, on.replies.len - (size_t)(id - on.replies.data), "\r\n$4\r\nmode", 10);
  assert_non_null(mode);
  laju_buffer_add(replies, on.replies.data, (size_t)(id + 9 - on.replies.data));
  laju_buffer_add(replies, mode, (size_t)(on.replies.data + on.replies.len - mode));
  door_close(&on);
}

static void however_the_bytes_are_cut_the_replies_are_the_same(void **state) {
  (void)state;
  laju_buffer bytes = {0}, whole = {0}, cut = {0};
  build_conversation(&bytes);
  converse(&bytes, bytes.len, 1, &whole);
  assert_true(whole.len > 500);
  for (size_t step = 1; step <= 17; step++) {
    converse(&bytes, step, step, &cut);
    assert_int_equal(cut.len, whole.len);
    assert_memory_equal(cut.data, whole.data, whole.len);
  }
  for (size_t first = 1; first < bytes.len; first += first < 700 ? 1 : 31) {
    converse(&bytes, first, bytes.len, &cut);
    assert_int_equal(cut.len, whole.len);
    assert_memory_equal(cut.data, whole.data, whole.len);
  }
  laju_buffer_deinit(&bytes);
  laju_buffer_deinit(&whole);
  laju_buffer_deinit(&cut);
}

static void the_conversation_is_answered_as_it_should_be(void **state) {
  (void)state;
  laju_buffer bytes = {0};
  build_conversation(&bytes);
  door_feed(&on, bytes.data, bytes.len);
  const char *replies = door_replies(&on);
  const char *begins =
      "+PONG *6 :1 :10 :7 :0 :3000 :0 *6 :1 :10 :8 :0 :2000 :0 $4 it's *13 :1 :1 :10 :6 :0 :4000 :0 "
      ":1 :10 :8 :0 :2000 :0 *3 $-1 $-1 $-1 *5 :0 :3 :2 :-1 :2 -ERR unknown command 'NO.SUCH', with "
      "args beginning with: 'thing'  -ERR rule 'nope': no such rule; it must be one of the "
      "configuration's -ERR key of 1025 bytes: at most 1024 bytes are allowed -ERR wrong number of "
      "arguments for 'ping' command %7 ";
  assert_memory_equal(replies, begins, strlen(begins));
  const char *ends = " *1 _ *6 :1 :10 :6 :0 :4000 :0 -ERR Protocol error: expected '$', got '!'";
  assert_string_equal(replies + strlen(replies) - strlen(ends), ends);
  laju_buffer_deinit(&bytes);
}

static void a_long_pipeline_is_answered_in_order(void **state) {
  (void)state;
  laju_buffer bytes = {0};
  for (int i = 0; i < 1000; i++) {
    char words[32];
    snprintf(words, sizeof words, "PING %d", i);
    door_command(&bytes, words);
  }
  door_feed(&on, bytes.data, bytes.len);
  char *at = on.replies.data;
  for (int i = 0; i < 1000; i++) {
    char reply[32];
    int len = snprintf(reply, sizeof reply, "$%d\r\n%d\r\n", i < 10 ? 1 : i < 100 ? 2 : 3, i);
    assert_memory_equal(at, reply, (size_t)len);
    at += len;
  }
  assert_ptr_equal(at, on.replies.data + on.replies.len);
  laju_buffer_deinit(&bytes);
}

static void a_request_in_part_is_unfinished_until_it_is_whole(void **state) {
  (void)state;
  assert_false(laju_resp_codec.unfinished(on.connection));
  door_say(&on, "*1\r\n$4\r\nPI");
  assert_true(laju_resp_codec.unfinished(on.connection));
  assert_string_equal(door_say(&on, "NG\r\n"), "+PONG");
  assert_false(laju_resp_codec.unfinished(on.connection));
  door_say(&on, "PI");
  assert_true(laju_resp_codec.unfinished(on.connection));
  door_say(&on, "NG\n");
  assert_false(laju_resp_codec.unfinished(on.connection));
  door_say(&on, "*2\r\n$4\r\nECHO\r\n$2000\r\n"); /* refused already, but not all here */
  assert_true(laju_resp_codec.unfinished(on.connection));
}

/* ---- lines of words ---- */

static void words_may_be_quoted(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "  ECHO \t hello  \r\n"), "$5 hello");
  assert_string_equal(door_say(&on, "ECHO \"a b\"\n"), "$3 a b");
  assert_string_equal(door_say(&on, "ECHO 'a b'\r\n"), "$3 a b");
  assert_string_equal(door_say(&on, "ECHO \"\\x41\\x4a\\\"\\\\\\t\"\r\n"), "$5 AJ\"\\\t");
  assert_string_equal(door_say(&on, "ECHO \"\\xzz\"\r\n"), "$3 xzz");
  assert_string_equal(door_say(&on, "ECHO 'it\\'s \\n'\r\n"), "$7 it's \\n");
  assert_string_equal(door_say(&on, "ECHO a\"b c\"\r\n"), "$4 ab c");
  assert_string_equal(door_say(&on, "ECHO \"\"\r\n"), "$0 ");
}

static void unbalanced_quotes_end_the_connection(void **state) {
  (void)state;
  static const char *const lines[] = {"ECHO \"a\r\n", "ECHO 'a\r\n", "ECHO \"a\"b\r\n", "ECHO 'a'b\r\n",
                                      "ECHO \"a\\\r\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    door_reconnect(&on);
    assert_string_equal(door_say(&on, lines[i]), "-ERR Protocol error: unbalanced quotes in request");
    assert_true(on.closed);
  }
}

static void empty_lines_are_no_requests(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "\r\n\n  \r\nPING\r\n"), "+PONG");
  assert_false(on.closed);
}

static void a_line_ends_at_64_KiB(void **state) {
  (void)state;
  laju_buffer line = {0};
  laju_buffer_add_text(&line, "PING");
  while (line.len < LAJU_RESP_LINE_MAX - 1) laju_buffer_add_text(&line, " ");
  laju_buffer_add(&line, "\n", 2);
  assert_string_equal(door_say(&on, line.data), "+PONG");
  line.len -= 2;
  laju_buffer_add(&line, " \n", 3);
  assert_string_equal(door_say(&on, line.data), "-ERR Protocol error: too big inline request");
  assert_true(on.closed);
  door_reconnect(&on);
  line.data[line.len - 2] = ' '; /* no end at all: known as soon as it is too long */
  assert_string_equal(door_say(&on, line.data), "-ERR Protocol error: too big inline request");
  laju_buffer_deinit(&line);
}

static void a_word_too_long_or_too_many_words_are_refused(void **state) {
  (void)state;
  laju_buffer line = {0};
  laju_buffer_add_text(&line, "LAJU.PEEK api ");
  for (int i = 0; i < 1024; i++) laju_buffer_add_text(&line, "k");
  laju_buffer_add(&line, "\n", 2);
  assert_string_equal(door_say(&on, line.data), "*6 :1 :10 :10 :0 :0 :0");
  line.len -= 2;
  laju_buffer_add(&line, "k\nPING\n", 8);
  assert_string_equal(door_say(&on, line.data), "-ERR key of 1025 bytes: at most 1024 bytes are allowed +PONG");
  laju_buffer_clear(&line);
  laju_buffer_add_text(&line, "LAJU.MCHECK api 1");
  for (int i = 0; i < 1001; i++) laju_buffer_add_text(&line, " k");
  laju_buffer_add(&line, "\nPING\n", 7);
  assert_string_equal(door_say(&on, line.data),
                      "-ERR wrong number of arguments for 'laju.mcheck' command: 1004, at most 1003 are allowed +PONG");
  laju_buffer_deinit(&line);
}

/* ---- what is too large, and what is no RESP ---- */

static void an_argument_too_long_is_named_and_the_connection_goes_on(void **state) {
  (void)state;
  static const char *const starts[][2] = {
      {"*3\r\n$10\r\nLAJU.CHECK\r\n$3\r\napi\r\n$2000\r\n", "-ERR key of 2000 bytes: at most 1024 bytes are allowed"},
      {"*2\r\n$8\r\nlaju.all\r\n$2000\r\n", "-ERR rule of 2000 bytes: at most 1024 bytes are allowed"},
      {"*4\r\n$8\r\nlaju.all\r\n$3\r\napi\r\n$1\r\nk\r\n$2000\r\n",
       "-ERR cost of 2000 bytes: at most 1024 bytes are allowed"},
      {"*6\r\n$11\r\nLAJU.MCHECK\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$2000\r\n",
       "-ERR key of 2000 bytes: at most 1024 bytes are allowed"},
      {"*1\r\n$2000\r\n", "-ERR command of 2000 bytes: at most 1024 bytes are allowed"},
      {"*2\r\n$3\r\nFOO\r\n$2000\r\n", "-ERR argument of 2000 bytes: at most 1024 bytes are allowed"},
  };
  char body[2003];
  memset(body, '*', sizeof body);
  memcpy(body + 2000, "\r\n", 3);
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    assert_string_equal(door_say(&on, starts[i][0]), starts[i][1]);
    assert_int_equal(on.kept_len, 0); /* nothing of it is kept */
    assert_string_equal(door_say(&on, body), "");
    assert_string_equal(door_say(&on, "PING\r\n"), "+PONG");
  }
}

static void a_megabyte_goes_by_and_more_ends_the_connection(void **state) {
  (void)state;
  door_say(&on, "*2\r\n$4\r\nECHO\r\n$1048576\r\n");
  char piece[1025] = "";
  memset(piece, 'x', 1024);
  for (int i = 0; i < 1024; i++) assert_string_equal(door_say(&on, piece), "");
  assert_string_equal(door_say(&on, "\r\nPING\r\n"), "+PONG");
  assert_string_equal(door_say(&on, "*2\r\n$4\r\nECHO\r\n$1048577\r\n"), "-ERR Protocol error: invalid bulk length");
  assert_true(on.closed);
}

static void a_refused_request_may_itself_be_broken(void **state) {
  (void)state;
  door_say(&on, "*3\r\n$2000\r\n");
  char body[2003];
  memset(body, 'x', sizeof body);
  memcpy(body + 2000, "\r\n", 3);
  door_say(&on, body);
  assert_string_equal(door_say(&on, "$1\r\na\r\n:"), "-ERR Protocol error: expected '$', got ':'");
  assert_true(on.closed);
}

static void what_is_no_resp_ends_the_connection_in_redis_words(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"*x\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*1x\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*01\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*+1\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*-\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*1\rx", "-ERR Protocol error: invalid multibulk length"},
      {"*1048577\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*99999999999\r\n", "-ERR Protocol error: invalid multibulk length"},
      {"*1\r\nPING\r\n", "-ERR Protocol error: expected '$', got 'P'"},
      {"*1\r\n\x01", "-ERR Protocol error: expected '$', got '?'"},
      {"*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length"},
      {"*1\r\n$x\r\n", "-ERR Protocol error: invalid bulk length"},
      {"*1\r\n$\r\n", "-ERR Protocol error: invalid bulk length"},
      {"*1\r\n$04\r\nPING\r\n", "-ERR Protocol error: invalid bulk length"},
      {"*1\r\n$1048577\r\n", "-ERR Protocol error: invalid bulk length"},
      {"*1\r\n$4\r\nPINGxx", "-ERR Protocol error: expected the end of an argument"},
      {"*1\r\n$4\r\nPING\rx", "-ERR Protocol error: expected the end of an argument"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    door_reconnect(&on);
    assert_string_equal(door_say(&on, cases[i][0]), cases[i][1]);
    assert_true(on.closed);
    assert_false(laju_resp_codec.unfinished(on.connection));
    door_reconnect(&on);
    for (const char *at = cases[i][0]; *at != '\0'; at++) door_feed(&on, at, 1);
    assert_string_equal(door_replies(&on), cases[i][1]);
  }
}

static void empty_arrays_are_no_requests(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "*0\r\n*-1\r\n*-7\r\n*1\r\n$4\r\nPING\r\n"), "+PONG");
}

static void a_browser_lured_here_runs_no_command(void **state) {
  (void)state;
  assert_string_equal(door_say(&on, "POST / HTTP/1.1\r\nHost: x\r\n\r\nLAJU.CHECK api k\r\n"), "");
  assert_true(on.closed);
  door_reconnect(&on);
  assert_string_equal(door_say(&on, "GET / HTTP/1.1\r\nHost: x\r\nPING\r\n"),
                      "-ERR unknown command 'GET', with args beginning with: '/' 'HTTP/1.1' ");
  assert_true(on.closed);
}

/* ---- giving up ---- */

static void a_slow_client_is_told_an_idle_one_is_not(void **state) {
  (void)state;
  laju_buffer out = {0};
  laju_resp_codec.give_up(on.connection, &out);
  assert_int_equal(out.len, 36);
  assert_memory_equal(out.data, "-ERR max number of clients reached\r\n", 36);
  door_ask(&on, "PING");
  laju_buffer_clear(&out);
  laju_resp_codec.give_up(on.connection, &out);
  assert_int_equal(out.len, 0);
  door_say(&on, "PIN");
  laju_resp_codec.give_up(on.connection, &out);
  assert_memory_equal(out.data, "-ERR Protocol error: ", 21);
  laju_buffer_deinit(&out);
}

static void the_largest_request_fits_what_may_be_kept(void **state) {
  (void)state;
  laju_buffer bytes = {0};
  laju_buffer_add_text(&bytes, "*1003\r\n$11\r\nLAJU.MCHECK\r\n$3\r\napi\r\n$1\r\n1\r\n");
  for (int i = 0; i < 1000; i++) {
    laju_buffer_add_text(&bytes, "$1024\r\n");
    char *key = laju_buffer_reserve(&bytes, 1024);
    assert_non_null(key);
    memset(key, 'a' + i % 26, 1024);
    bytes.len += 1024;
    laju_buffer_add_text(&bytes, "\r\n");
  }
  assert_true(bytes.len <= laju_resp_codec.input_max);
  size_t half = bytes.len - 1;
  door_feed(&on, bytes.data, half);
  assert_int_equal(on.kept_len, half);
  door_feed(&on, bytes.data + half, 1);
  assert_memory_equal(door_replies(&on), "*1000 :9 :9 ", 12);
  laju_buffer_deinit(&bytes);
}

#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(name, open_door, close_door)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(however_the_bytes_are_cut_the_replies_are_the_same),
      DOOR_TEST(the_conversation_is_answered_as_it_should_be),
      DOOR_TEST(a_long_pipeline_is_answered_in_order),
      DOOR_TEST(a_request_in_part_is_unfinished_until_it_is_whole),
      DOOR_TEST(words_may_be_quoted),
      DOOR_TEST(unbalanced_quotes_end_the_connection),
      DOOR_TEST(empty_lines_are_no_requests),
      DOOR_TEST(a_line_ends_at_64_KiB),
      DOOR_TEST(a_word_too_long_or_too_many_words_are_refused),
      DOOR_TEST(an_argument_too_long_is_named_and_the_connection_goes_on),
      DOOR_TEST(a_megabyte_goes_by_and_more_ends_the_connection),
      DOOR_TEST(a_refused_request_may_itself_be_broken),
      DOOR_TEST(what_is_no_resp_ends_the_connection_in_redis_words),
      DOOR_TEST(empty_arrays_are_no_requests),
      DOOR_TEST(a_browser_lured_here_runs_no_command),
      DOOR_TEST(a_slow_client_is_told_an_idle_one_is_not),
      DOOR_TEST(the_largest_request_fits_what_may_be_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
