#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "load/reply.h"

static laju_load_tally tally;
static laju_load_reader reader;

static void begin(laju_load_protocol protocol, laju_load_meaning meaning) {
  memset(&tally, 0, sizeof tally);
  laju_load_reader_init(&reader, protocol, meaning, &tally);
}

static int64_t feed(const char *bytes) {
  return laju_load_reader_feed(&reader, bytes, strlen(bytes));
}

static void tells(uint64_t allowed, uint64_t denied, uint64_t errors) {
  assert_int_equal(atomic_load(&tally.allowed), allowed);
  assert_int_equal(atomic_load(&tally.denied), denied);
  assert_int_equal(atomic_load(&tally.errors), errors);
}

/* In one piece, and byte by byte. */
static void reads(laju_load_protocol protocol, laju_load_meaning meaning, const char *bytes, uint64_t allowed,
                  uint64_t denied, uint64_t errors) {
  begin(protocol, meaning);
  assert_int_equal(feed(bytes), allowed + denied + errors);
  tells(allowed, denied, errors);
  char text[LAJU_LOAD_ERROR_SIZE];
  memcpy(text, tally.error, sizeof text);
  begin(protocol, meaning);
  for (const char *at = bytes; *at != '\0'; at++) assert_in_range(laju_load_reader_feed(&reader, at, 1), 0, 1);
  tells(allowed, denied, errors);
  assert_string_equal(tally.error, text);
}

/* ---- RESP ---- */

static void every_kind_of_value_is_one_reply(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, "+PONG\r\n", 1, 0, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, ":-12\r\n:0\r\n", 2, 0, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, "$5\r\na\r\nbc\r\n$0\r\n\r\n$-1\r\n", 3, 0, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, "*0\r\n*-1\r\n*2\r\n$1\r\nx\r\n:1\r\n", 3, 0, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, "*2\r\n*2\r\n:1\r\n*0\r\n*1\r\n$-1\r\n+next\r\n", 2, 0, 0);
}

static void the_first_integer_decides(void **unused) {
  (void)unused;
  static const char replies[] = "*2\r\n:1\r\n:0\r\n*2\r\n:0\r\n:1\r\n*2\r\n:0\r\n:1\r\n";
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ONE_ALLOWS, replies, 1, 2, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ONE_DENIES, replies, 2, 1, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, replies, 3, 0, 0);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ONE_ALLOWS, ":1\r\n:11\r\n*1\r\n*1\r\n:1\r\n", 2, 1, 0);
}

static void an_error_is_counted_and_the_first_is_told(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ONE_ALLOWS, "-ERR no such rule\r\n*1\r\n:1\r\n-ERR other\r\n", 1, 0, 2);
  assert_string_equal(tally.error, "ERR no such rule");
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, "*2\r\n-ERR one of several\r\n:1\r\n", 1, 0, 0);
  assert_string_equal(tally.error, "");
}

static void what_decides_nothing_is_an_error_where_a_decision_is_due(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ONE_ALLOWS, "+OK\r\n*0\r\n$-1\r\n*1\r\n:1\r\n", 1, 0, 3);
  assert_string_equal(tally.error, "the reply is no decision");
}

static void a_long_error_is_cut_and_cannot_reach_the_terminal(void **unused) {
  (void)unused;
  char bytes[1000] = "-\x1b[2J";
  memset(bytes + 5, 'x', 900);
  memcpy(bytes + 905, "\r\n+OK\r\n", 8);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY, bytes, 1, 0, 1);
  assert_int_equal(strlen(tally.error), LAJU_LOAD_LINE_MAX - 1);
  assert_memory_equal(tally.error, " [2Jxxx", 7);
  reads(LAJU_LOAD_RESP, LAJU_LOAD_ANY,
        "-ERR \xc2\x9b"
        "2J\x9b!\r\n",
        0, 0, 1);
  assert_string_equal(tally.error, "ERR   2J !");
}

static void is_not_resp(const char *bytes) {
  begin(LAJU_LOAD_RESP, LAJU_LOAD_ANY);
  assert_int_equal(feed(bytes), -1);
}

static void what_is_no_resp_is_refused(void **unused) {
  (void)unused;
  is_not_resp("HTTP/1.1 200 OK\r\n");
  is_not_resp("\r\n");
  is_not_resp("\n");
  is_not_resp("+OK\n");
  is_not_resp("*x\r\n");
  is_not_resp("*\r\n");
  is_not_resp("*-\r\n");
  is_not_resp("$12345678901\r\n");
  is_not_resp("$536870913\r\n");
  is_not_resp("*1048577\r\n");
  is_not_resp("*1048575\r\n*2\r\n");
  is_not_resp("*1048575\r\n*1048575\r\n");
}

/* ---- HTTP ---- */

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
#define DENIED "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n"

static void a_status_decides(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_HTTP, LAJU_LOAD_ANY, OK DENIED OK "HTTP/1.1 204 No Content\r\n\r\n" DENIED, 3, 2, 0);
}

static void any_other_status_is_an_error_and_its_body_is_told(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_HTTP, LAJU_LOAD_ANY,
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 7\r\n\r\nno\nrule" OK
        "HTTP/1.1 503 Gone\r\nContent-Length: 5\r\n\r\nother" OK,
        2, 0, 2);
  assert_string_equal(tally.error, "HTTP 400 no rule");
}

static void chunks_and_interim_answers_are_understood(void **unused) {
  (void)unused;
  reads(LAJU_LOAD_HTTP, LAJU_LOAD_ANY,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" OK, 2,
        0, 0);
  assert_string_equal(tally.error, "");
}

static void a_connection_s_last_reply_is_known(void **unused) {
  (void)unused;
  begin(LAJU_LOAD_HTTP, LAJU_LOAD_ANY);
  assert_int_equal(feed(OK), 1);
  assert_false(reader.last);
  assert_int_equal(feed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), 1);
  assert_true(reader.last);
}

static void a_reply_without_a_length_ends_with_its_connection(void **unused) {
  (void)unused;
  begin(LAJU_LOAD_HTTP, LAJU_LOAD_ANY);
  assert_int_equal(feed(OK "HTTP/1.1 429 Too Many Requests\r\n\r\nlater"), 1);
  assert_int_equal(laju_load_reader_finish(&reader), 1);
  assert_true(reader.last);
  tells(1, 1, 0);
  begin(LAJU_LOAD_HTTP, LAJU_LOAD_ANY);
  assert_int_equal(feed("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbroken"), 0);
  assert_int_equal(laju_load_reader_finish(&reader), 0);
  begin(LAJU_LOAD_RESP, LAJU_LOAD_ANY);
  assert_int_equal(feed("+OK\r\n$5\r\nab"), 1);
  assert_int_equal(laju_load_reader_finish(&reader), 0);
}

static void what_is_no_http_is_refused(void **unused) {
  (void)unused;
  begin(LAJU_LOAD_HTTP, LAJU_LOAD_ANY);
  assert_int_equal(feed("-ERR unknown command\r\n"), -1);
  begin(LAJU_LOAD_HTTP, LAJU_LOAD_ANY);
  assert_int_equal(feed(OK "+PONG\r\n"), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_value_is_one_reply),
      cmocka_unit_test(the_first_integer_decides),
      cmocka_unit_test(an_error_is_counted_and_the_first_is_told),
      cmocka_unit_test(what_decides_nothing_is_an_error_where_a_decision_is_due),
      cmocka_unit_test(a_long_error_is_cut_and_cannot_reach_the_terminal),
      cmocka_unit_test(what_is_no_resp_is_refused),
      cmocka_unit_test(a_status_decides),
      cmocka_unit_test(any_other_status_is_an_error_and_its_body_is_told),
      cmocka_unit_test(chunks_and_interim_answers_are_understood),
      cmocka_unit_test(a_connection_s_last_reply_is_known),
      cmocka_unit_test(a_reply_without_a_length_ends_with_its_connection),
      cmocka_unit_test(what_is_no_http_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
