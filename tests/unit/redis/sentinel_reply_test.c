#include "redis/sentinel_reply.h"

#include "redis/reply.h"

static bool read_primary(const char *bytes, laju_store_place *out) {
  redisReply *reply = reply_of(bytes);
  bool read = laju_sentinel_read_primary(reply, out);
  freeReplyObject(reply);
  return read;
}

static bool read_switch(const char *bytes, laju_store_place *out) {
  redisReply *reply = reply_of(bytes);
  bool read = laju_sentinel_read_switch(reply, "laju-primary", out);
  freeReplyObject(reply);
  return read;
}

static bool is_primary(const char *bytes) {
  redisReply *reply = reply_of(bytes);
  bool is = laju_sentinel_role_is_primary(reply);
  freeReplyObject(reply);
  return is;
}

/* The message's third part, of any length. */
static bool read_switch_text(const char *text, laju_store_place *out) {
  char bytes[512];
  snprintf(bytes, sizeof bytes, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$%zu\r\n%s\r\n", strlen(text), text);
  return read_switch(bytes, out);
}

static void a_sentinel_tells_where_the_primary_is(void **unused) {
  (void)unused;
  laju_store_place place;
  assert_true(read_primary("*2\r\n$9\r\n10.0.0.12\r\n$4\r\n6379\r\n", &place));
  assert_string_equal(place.host, "10.0.0.12");
  assert_int_equal(place.port, 6379);
  assert_true(read_primary("*2\r\n$3\r\n::1\r\n$5\r\n65535\r\n", &place));
  assert_string_equal(place.host, "::1");
  assert_int_equal(place.port, 65535);
}

static void anything_else_tells_no_primary(void **unused) {
  (void)unused;
  static const char *const replies[] = {
      "*-1\r\n",
      "$-1\r\n",
      "-ERR No such master with that name\r\n",
      "*0\r\n",
      "*1\r\n$9\r\n10.0.0.12\r\n",
      "*2\r\n$0\r\n\r\n$4\r\n6379\r\n",
      "*2\r\n$1\r\nh\r\n$1\r\n0\r\n",
      "*2\r\n$1\r\nh\r\n$6\r\n006379\r\n",
      "*2\r\n$1\r\nh\r\n:6379\r\n",
      "*2\r\n$3\r\nh h\r\n$4\r\n6379\r\n",
      "*3\r\n$1\r\nh\r\n$4\r\n6379\r\n$1\r\nx\r\n",
  };
  for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) {
    laju_store_place place = {.host = "untouched", .port = 1};
    assert_false(read_primary(replies[i], &place));
    assert_string_equal(place.host, "untouched");
    assert_int_equal(place.port, 1);
  }
}

static void a_switch_names_the_new_place(void **unused) {
  (void)unused;
  laju_store_place place;
  assert_true(read_switch_text("laju-primary 10.0.0.12 6379 10.0.0.13 6380", &place));
  assert_string_equal(place.host, "10.0.0.13");
  assert_int_equal(place.port, 6380);
}

static void a_switch_of_another_primary_is_none_of_ours(void **unused) {
  (void)unused;
  laju_store_place place;
  assert_false(read_switch_text("laju-primary-2 10.0.0.12 6379 10.0.0.13 6380", &place));
  assert_false(read_switch_text("laju 10.0.0.12 6379 10.0.0.13 6380", &place));
  assert_false(read_switch_text("laju-primary 10.0.0.12 6379 10.0.0.13", &place));
  assert_false(read_switch_text("laju-primary 10.0.0.12 6379 10.0.0.13 6380 more", &place));
  assert_false(read_switch_text("laju-primary 10.0.0.12 6379 10.0.0.13 port", &place));
  assert_false(read_switch_text("laju-primary", &place));
  assert_false(read_switch_text("", &place));
  assert_false(read_switch("*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n", &place));
  assert_false(read_switch("*3\r\n$7\r\nmessage\r\n$6\r\n+sdown\r\n$1\r\nx\r\n", &place));
  assert_false(read_switch("+PONG\r\n", &place));
}

static int64_t epoch_of(const char *bytes) {
  redisReply *reply = reply_of(bytes);
  int64_t epoch = laju_sentinel_read_epoch(reply);
  freeReplyObject(reply);
  return epoch;
}

static void a_sentinel_tells_which_failover_it_knows_of(void **unused) {
  (void)unused;
  assert_int_equal(epoch_of("*4\r\n+name\r\n+laju\r\n+config-epoch\r\n+17\r\n"), 17);
  assert_int_equal(epoch_of("*2\r\n+config-epoch\r\n+0\r\n"), 0);
  assert_int_equal(epoch_of("*2\r\n+config-epoch\r\n+9223372036854775808\r\n"), -1);
  assert_int_equal(epoch_of("*2\r\n+config-epoch\r\n$0\r\n\r\n"), -1);
  assert_int_equal(epoch_of("*2\r\n+config-epoch\r\n+1x\r\n"), -1);
  assert_int_equal(epoch_of("*2\r\n+config-epoch\r\n:17\r\n"), -1);
  assert_int_equal(epoch_of("*1\r\n+config-epoch\r\n"), -1);
  assert_int_equal(epoch_of("-ERR No such master with that name\r\n"), -1);
}

static void a_server_says_what_it_is(void **unused) {
  (void)unused;
  assert_true(is_primary("*3\r\n$6\r\nmaster\r\n:3129659\r\n*0\r\n"));
  assert_false(is_primary("*5\r\n$5\r\nslave\r\n$9\r\n127.0.0.1\r\n:6379\r\n$9\r\nconnected\r\n:31\r\n"));
  assert_false(is_primary("*2\r\n$8\r\nsentinel\r\n*0\r\n"));
  assert_false(is_primary("-NOPERM no\r\n"));
  assert_false(is_primary("*0\r\n"));
  assert_false(is_primary("$6\r\nmaster\r\n"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sentinel_tells_where_the_primary_is),
      cmocka_unit_test(anything_else_tells_no_primary),
      cmocka_unit_test(a_switch_names_the_new_place),
      cmocka_unit_test(a_switch_of_another_primary_is_none_of_ours),
      cmocka_unit_test(a_sentinel_tells_which_failover_it_knows_of),
      cmocka_unit_test(a_server_says_what_it_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
