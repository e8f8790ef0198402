#include "redis/greeting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_greeting greeting;
static laju_buffer bytes;

static int end(void **unused) {
  (void)unused;
  laju_buffer_deinit(&bytes);
  return 0;
}

static void greet(laju_link_options options) {
  laju_buffer_clear(&bytes);
  laju_greeting_begin(&greeting, &options, &bytes);
}

static void assert_said(const char *text) {
  assert_int_equal(bytes.len, strlen(text));
  assert_memory_equal(bytes.data, text, bytes.len);
}

static laju_greeting_result hear(char *error) {
  char why[LAJU_LINK_WHY_SIZE];
  redisReply reply = {.type = error != NULL ? REDIS_REPLY_ERROR : REDIS_REPLY_STATUS, .str = error};
  return laju_greeting_take(&greeting, &reply, why);
}

#define SETNAME "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$4\r\nlaju\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"

static void only_what_is_asked_for_is_said(void **unused) {
  (void)unused;
  greet((laju_link_options){0});
  assert_said(SETNAME PING);
  greet((laju_link_options){.user = "", .password = ""});
  assert_said(SETNAME PING);
  greet((laju_link_options){.password = "secret"});
  assert_said("*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n" SETNAME PING);
  greet((laju_link_options){.user = "me", .password = "a b\"c", .database = 12});
  assert_said("*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$5\r\na b\"c\r\n*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n" SETNAME PING);
}

static void the_last_word_is_the_script_where_it_is_wanted(void **unused) {
  (void)unused;
  greet((laju_link_options){.script = true});
  static const char head[] = SETNAME "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$";
  assert_memory_equal(bytes.data, head, sizeof head - 1);
}

static void it_is_done_with_the_last_reply(void **unused) {
  (void)unused;
  greet((laju_link_options){.password = "secret", .database = 1});
  for (int i = 0; i < 3; i++) assert_int_equal(hear(NULL), LAJU_GREETING_GOES_ON);
  assert_int_equal(hear(NULL), LAJU_GREETING_DONE);
}

static void an_error_names_the_word_that_it_answers(void **unused) {
  (void)unused;
  static char error[] = "ERR DB index is out of range", why[LAJU_LINK_WHY_SIZE];
  redisReply reply = {.type = REDIS_REPLY_ERROR, .str = error};
  greet((laju_link_options){.database = 99});
  assert_int_equal(laju_greeting_take(&greeting, &reply, why), LAJU_GREETING_REFUSED);
  assert_string_equal(why, "SELECT: ERR DB index is out of range");
}

static void an_acl_that_forbids_courtesies_is_no_hindrance(void **unused) {
  (void)unused;
  static char forbidden[] = "NOPERM this user has no permissions", loading[] = "LOADING Redis is loading";
  greet((laju_link_options){0});
  assert_int_equal(hear(forbidden), LAJU_GREETING_GOES_ON);
  assert_int_equal(hear(forbidden), LAJU_GREETING_DONE);
  greet((laju_link_options){0});
  assert_int_equal(hear(NULL), LAJU_GREETING_GOES_ON);
  assert_int_equal(hear(loading), LAJU_GREETING_REFUSED);
  greet((laju_link_options){.script = true});
  assert_int_equal(hear(NULL), LAJU_GREETING_GOES_ON);
  assert_int_equal(hear(forbidden), LAJU_GREETING_REFUSED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(only_what_is_asked_for_is_said, end),
      cmocka_unit_test_teardown(the_last_word_is_the_script_where_it_is_wanted, end),
      cmocka_unit_test_teardown(it_is_done_with_the_last_reply, end),
      cmocka_unit_test_teardown(an_error_names_the_word_that_it_answers, end),
      cmocka_unit_test_teardown(an_acl_that_forbids_courtesies_is_no_hindrance, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
