#include "redis/replies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_replies replies;

static int begin(void **unused) {
  (void)unused;
  return laju_replies_init(&replies);
}

static int end(void **unused) {
  (void)unused;
  laju_replies_deinit(&replies);
  return 0;
}

static void feed(const char *bytes) {
  assert_true(laju_replies_feed(&replies, bytes, strlen(bytes)));
}

static const redisReply *next(void) {
  const redisReply *reply;
  assert_int_equal(laju_replies_next(&replies, &reply), 1);
  return reply;
}

static void assert_none(void) {
  const redisReply *reply;
  assert_int_equal(laju_replies_next(&replies, &reply), 0);
}

static void every_kind_of_reply_is_made(void **unused) {
  (void)unused;
  feed("+OK\r\n-ERR no\r\n:-12\r\n");
  assert_string_equal(next()->str, "OK");
  const redisReply *error = next();
  assert_int_equal(error->type, REDIS_REPLY_ERROR);
  assert_string_equal(error->str, "ERR no");
  assert_int_equal(next()->integer, -12);
}

static void strings_may_hold_any_bytes(void **unused) {
  (void)unused;
  assert_true(laju_replies_feed(&replies, "$4\r\na\0\r\n\r\n", 10));
  const redisReply *reply = next();
  assert_int_equal(reply->len, 4);
  assert_memory_equal(reply->str, "a\0\r\n", 5);
}

static void nil_is_nil_as_a_string_and_as_an_array(void **unused) {
  (void)unused;
  feed("$-1\r\n*-1\r\n*0\r\n");
  assert_int_equal(next()->type, REDIS_REPLY_NIL);
  assert_int_equal(next()->type, REDIS_REPLY_NIL);
  const redisReply *empty = next();
  assert_int_equal(empty->type, REDIS_REPLY_ARRAY);
  assert_int_equal(empty->elements, 0);
}

static void an_array_comes_in_any_pieces(void **unused) {
  (void)unused;
  static const char text[] = "*3\r\n:1\r\n*2\r\n+two\r\n$5\r\nthree\r\n-ERR four\r\n";
  for (size_t cut = 1; cut < sizeof text - 1; cut++) {
    assert_true(laju_replies_feed(&replies, text, cut));
    assert_none();
    assert_true(laju_replies_feed(&replies, text + cut, sizeof text - 1 - cut));
    const redisReply *reply = next();
    assert_int_equal(reply->elements, 3);
    assert_int_equal(reply->element[0]->integer, 1);
    assert_string_equal(reply->element[1]->element[0]->str, "two");
    assert_string_equal(reply->element[1]->element[1]->str, "three");
    assert_string_equal(reply->element[2]->str, "ERR four");
    assert_none();
  }
}

static void the_same_memory_serves_every_reply(void **unused) {
  (void)unused;
  const redisReply *first = NULL;
  for (int i = 0; i < 1000; i++) {
    feed("*2\r\n:1\r\n$3\r\nabc\r\n");
    const redisReply *reply = next();
    if (first == NULL) first = reply;
    assert_ptr_equal(reply, first);
  }
}

static void the_memory_of_a_large_reply_is_given_back(void **unused) {
  (void)unused;
  feed("*60000\r\n");
  for (int i = 0; i < 60000; i++) feed(":1\r\n");
  assert_int_equal(next()->element[59999]->integer, 1);
  assert_in_range(replies.memory, 60000 * sizeof(redisReply), LAJU_REPLIES_MEMORY_MAX);
  assert_none();
  assert_int_equal(replies.memory, 0);
}

static void assert_breaks(const char *bytes, const char *why) {
  const redisReply *reply;
  end(NULL);
  begin(NULL);
  feed(bytes);
  assert_int_equal(laju_replies_next(&replies, &reply), -1);
  assert_string_equal(laju_replies_why(&replies), why);
  assert_int_equal(laju_replies_next(&replies, &reply), -1);
}

static void what_is_no_protocol_breaks_it(void **unused) {
  (void)unused;
  assert_breaks("%2\r\n", "Protocol error, got \"%\" as reply type byte");
  assert_breaks(":twelve\r\n", "Bad integer value");
  assert_breaks("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n",
                "No support for nested multi bulk replies with depth > 7");
}

static void what_cannot_be_held_is_not_believed(void **unused) {
  (void)unused;
  assert_breaks("*1398102\r\n", "a reply that is larger than laju reads");
  assert_breaks("*2147483647\r\n", "a reply that is larger than laju reads");
}

static void a_reply_of_the_most_bytes_is_read_and_a_larger_one_is_not(void **unused) {
  (void)unused;
  static char bytes[LAJU_REPLIES_BYTES_MAX];
  memset(bytes, 'x', sizeof bytes);
  feed("$4194290\r\n"); /* 10 bytes; and 2 behind it, and 2 less than the most */
  assert_true(laju_replies_feed(&replies, bytes, 4194290));
  assert_none();
  feed("\r\n");
  assert_int_equal(next()->len, 4194290);

  const redisReply *reply;
  feed("$9999999\r\n");
  assert_true(laju_replies_feed(&replies, bytes, LAJU_REPLIES_BYTES_MAX - 10));
  assert_none();
  feed("x");
  assert_int_equal(laju_replies_next(&replies, &reply), -1);
  assert_string_equal(laju_replies_why(&replies), "a reply that is larger than laju reads");
}

/* Few bytes on the wire, and many times as many in memory. */
static void what_would_need_too_much_memory_is_not_read(void **unused) {
  (void)unused;
  enum { EMPTY = 1390000 };
  static char bytes[3 * EMPTY + 1];
  for (size_t i = 0; i < EMPTY; i++) memcpy(bytes + 3 * i, "+\r\n", 3);
  const redisReply *reply;
  feed("*1390000\r\n");
  assert_true(laju_replies_feed(&replies, bytes, 3 * EMPTY));
  assert_int_equal(laju_replies_next(&replies, &reply), -1);
  assert_string_equal(laju_replies_why(&replies), "a reply that is larger than laju reads");
  assert_in_range(replies.memory, 0, LAJU_REPLIES_MEMORY_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_kind_of_reply_is_made, begin, end),
      cmocka_unit_test_setup_teardown(strings_may_hold_any_bytes, begin, end),
      cmocka_unit_test_setup_teardown(nil_is_nil_as_a_string_and_as_an_array, begin, end),
      cmocka_unit_test_setup_teardown(an_array_comes_in_any_pieces, begin, end),
      cmocka_unit_test_setup_teardown(the_same_memory_serves_every_reply, begin, end),
      cmocka_unit_test_setup_teardown(the_memory_of_a_large_reply_is_given_back, begin, end),
      cmocka_unit_test_setup_teardown(what_is_no_protocol_breaks_it, begin, end),
      cmocka_unit_test_setup_teardown(what_cannot_be_held_is_not_believed, begin, end),
      cmocka_unit_test_setup_teardown(a_reply_of_the_most_bytes_is_read_and_a_larger_one_is_not, begin, end),
      cmocka_unit_test_setup_teardown(what_would_need_too_much_memory_is_not_read, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
