#include "redis/nodes_reply.h"

#include "redis/reply.h"

static int64_t time_of(const char *bytes) {
  redisReply *reply = reply_of(bytes);
  int64_t ms = laju_nodes_read_time(reply);
  freeReplyObject(reply);
  return ms;
}

static int who(const char *bytes, laju_nodes_seen *out) {
  redisReply *reply = reply_of(bytes);
  int rc = laju_nodes_read_who(reply, out);
  freeReplyObject(reply);
  return rc;
}

/* What EXEC brings: `count`, and members as RESP. */
static int who_of(const char *count, const char *members, laju_nodes_seen *out) {
  char bytes[4096];
  snprintf(bytes, sizeof bytes, "*6\r\n:1\r\n:0\r\n:0\r\n:1\r\n%s\r\n%s", count, members);
  return who(bytes, out);
}

static void the_register_is_no_keys_name(void **unused) {
  (void)unused;
  char name[LAJU_NODES_NAME_MAX], longest[LAJU_KEYS_PREFIX_MAX];
  memset(longest, 'p', sizeof longest);
  assert_int_equal(laju_nodes_name("laju", 4, name), 13);
  assert_memory_equal(name, "laju:{!nodes}", 13);
  assert_in_range(laju_nodes_name(longest, sizeof longest, name), sizeof longest, sizeof name);
}

static void versions_are_visible_and_short(void **unused) {
  (void)unused;
  assert_true(laju_nodes_version_valid("1.2.3"));
  assert_true(laju_nodes_version_valid("12345678901234567890123456789012"));
  assert_false(laju_nodes_version_valid("123456789012345678901234567890123"));
  assert_false(laju_nodes_version_valid(""));
  assert_false(laju_nodes_version_valid("1 2"));
  assert_false(laju_nodes_version_valid("1\n"));
  assert_false(laju_nodes_version_valid("\xc3\xa4"));
}

static void time_is_told_in_milliseconds(void **unused) {
  (void)unused;
  assert_int_equal(time_of("*2\r\n$10\r\n1700000000\r\n$6\r\n012999\r\n"), INT64_C(1700000000012));
  assert_int_equal(time_of("*2\r\n$1\r\n0\r\n$1\r\n0\r\n"), 0);
}

static void what_is_no_time_is_told_as_such(void **unused) {
  (void)unused;
  static const char *const replies[] = {
      "-ERR\r\n",
      "*1\r\n$1\r\n0\r\n",
      "*2\r\n:0\r\n:0\r\n",
      "*2\r\n$0\r\n\r\n$1\r\n0\r\n",
      "*2\r\n$2\r\n-1\r\n$1\r\n0\r\n",
      "*2\r\n$1\r\n0\r\n$7\r\n1000000\r\n",
      "*2\r\n$20\r\n99999999999999999999\r\n$1\r\n0\r\n",
  };
  for (size_t i = 0; i < sizeof replies / sizeof replies[0]; i++) assert_int_equal(time_of(replies[i]), -1);
}

static void nodes_are_counted_and_versions_told_apart(void **unused) {
  (void)unused;
  laju_nodes_seen seen;
  assert_int_equal(who_of(":4",
                          "*4\r\n$22\r\n0123456789abcdef 1.2.3\r\n$22\r\n1123456789abcdef 1.2.4\r\n"
                          "$22\r\n2123456789abcdef 1.2.3\r\n$3\r\nfoo\r\n",
                          &seen),
                   0);
  assert_int_equal(seen.count, 4);
  assert_int_equal(seen.version_count, 2);
  assert_string_equal(seen.versions[0].text, "1.2.3");
  assert_int_equal(seen.versions[0].count, 2);
  assert_string_equal(seen.versions[1].text, "1.2.4");
  assert_int_equal(seen.versions[1].count, 1);
}

static void members_of_others_have_no_version(void **unused) {
  (void)unused;
  laju_nodes_seen seen;
  assert_int_equal(who_of(":9",
                          "*5\r\n$16\r\n0123456789abcdef\r\n$17\r\n0123456789abcdef \r\n$20\r\n0123456789abcdef-1.2\r\n"
                          "$20\r\n0123456789abcdef 1 2\r\n:7\r\n",
                          &seen),
                   0);
  assert_int_equal(seen.count, 9);
  assert_int_equal(seen.version_count, 0);
}

static void sixteen_versions_are_told_and_no_more(void **unused) {
  (void)unused;
  char members[1024];
  size_t len = (size_t)snprintf(members, sizeof members, "*20\r\n");
  for (int i = 0; i < 20; i++) {
    len += (size_t)snprintf(members + len, sizeof members - len, "$19\r\n%016d %02d\r\n", i, i);
  }
  laju_nodes_seen seen;
  assert_int_equal(who_of(":20", members, &seen), 0);
  assert_int_equal(seen.count, 20);
  assert_int_equal(seen.version_count, LAJU_NODES_VERSIONS_MAX);
  assert_string_equal(seen.versions[LAJU_NODES_VERSIONS_MAX - 1].text, "15");
}

static void what_is_no_answer_is_told_as_such(void **unused) {
  (void)unused;
  laju_nodes_seen seen = {.count = 7};
  assert_int_equal(who("-EXECABORT Transaction discarded because of previous errors.\r\n", &seen), -1);
  assert_int_equal(who("*-1\r\n", &seen), -1);
  assert_int_equal(who("*0\r\n", &seen), -1);
  assert_int_equal(who_of(":0", "*0\r\n", &seen), -1);
  assert_int_equal(who_of(":4294967296", "*0\r\n", &seen), -1);
  assert_int_equal(who_of("+1", "*0\r\n", &seen), -1);
  assert_int_equal(who_of("-WRONGTYPE", "-WRONGTYPE\r\n", &seen), -1);
  assert_int_equal(who_of(":1", ":1\r\n", &seen), -1);
  assert_int_equal(seen.count, 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_register_is_no_keys_name),
      cmocka_unit_test(versions_are_visible_and_short),
      cmocka_unit_test(time_is_told_in_milliseconds),
      cmocka_unit_test(what_is_no_time_is_told_as_such),
      cmocka_unit_test(nodes_are_counted_and_versions_told_apart),
      cmocka_unit_test(members_of_others_have_no_version),
      cmocka_unit_test(sixteen_versions_are_told_and_no_more),
      cmocka_unit_test(what_is_no_answer_is_told_as_such),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
