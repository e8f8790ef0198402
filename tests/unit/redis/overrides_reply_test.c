#include "redis/overrides_reply.h"

#include "redis/reply.h"

static laju_overrides_names names;
static laju_buffer to;

static int setup(void **state) {
  (void)state;
  laju_overrides_name(&names, "laju", 4);
  to = (laju_buffer){0};
  return 0;
}

static int teardown(void **state) {
  (void)state;
  laju_buffer_deinit(&to);
  return 0;
}

#define SLICE(text) ((laju_slice){(text), sizeof(text) - 1})

static void asked(const char *expected) {
  assert_int_equal(to.len, strlen(expected));
  assert_memory_equal(to.data, expected, to.len);
}

static void their_names_are_no_keys(void **state) {
  (void)state;
  char longest[LAJU_KEYS_PREFIX_MAX];
  assert_int_equal(names.hash_len, 17);
  assert_memory_equal(names.hash, "laju:{!overrides}", 17);
  assert_memory_equal(names.version, "laju:{!overrides}:version", names.version_len);
  memset(longest, 'p', sizeof longest);
  laju_overrides_name(&names, longest, sizeof longest);
  assert_in_range(names.version_len, sizeof longest, LAJU_OVERRIDES_NAME_MAX);
}

static void a_change_raises_the_version_with_it(void **state) {
  (void)state;
  laju_kept_override kept = {
      .rule = SLICE("login"), .key = SLICE("a:b\0"), .limit = 4294967295u, .burst = 7, .expires_ms = 1700000000000};
  laju_overrides_ask_put(&to, &names, &kept);
  static const char put[] =
      "*1\r\n$5\r\nMULTI\r\n"
      "*4\r\n$4\r\nHSET\r\n$17\r\nlaju:{!overrides}\r\n$10\r\nlogin:a:b\0\r\n$26\r\n4294967295 7 1700000000000\r\n"
      "*2\r\n$4\r\nINCR\r\n$25\r\nlaju:{!overrides}:version\r\n*1\r\n$4\r\nEXEC\r\n";
  assert_int_equal(to.len, sizeof put - 1);
  assert_memory_equal(to.data, put, sizeof put - 1);
  laju_buffer_clear(&to);
  kept.veils = 65535;
  laju_overrides_ask_put(&to, &names, &kept);
  assert_non_null(memmem(to.data, to.len, "\r\n$32\r\n4294967295 7 1700000000000 65535\r\n", 39));
  laju_buffer_clear(&to);
  laju_overrides_ask_remove(&to, &names, SLICE("login"), SLICE("a"));
  asked(
      "*1\r\n$5\r\nMULTI\r\n*3\r\n$4\r\nHDEL\r\n$17\r\nlaju:{!overrides}\r\n$7\r\nlogin:a\r\n"
      "*2\r\n$4\r\nINCR\r\n$25\r\nlaju:{!overrides}:version\r\n*1\r\n$4\r\nEXEC\r\n");
}

static void a_version_is_a_number_or_none_yet(void **state) {
  (void)state;
  static const struct {
    const char *reply;
    int64_t version;
  } cases[] = {{"$-1\r\n", 0},       {"$2\r\n17\r\n", 17}, {"$0\r\n\r\n", -1},
               {"$2\r\n-1\r\n", -1}, {"$2\r\n1x\r\n", -1}, {"$20\r\n99999999999999999999\r\n", -1},
               {":17\r\n", -1},      {"-ERR\r\n", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    redisReply *reply = reply_of(cases[i].reply);
    assert_int_equal(laju_overrides_read_version(reply), cases[i].version);
    freeReplyObject(reply);
  }
}

static laju_kept_override taken[8];
static size_t count;

static void take(void *context, const laju_kept_override *kept) {
  (void)context;
  assert_in_range(count, 0, 7);
  taken[count++] = *kept;
}

static void all_that_can_be_read_are_told(void **state) {
  (void)state;
  redisReply *reply = reply_of(
      "*6\r\n$9\r\nlogin:a:b\r\n$8\r\n5 10 999\r\n$5\r\napi:x\r\n$9\r\n0 0 1 513\r\n"
      "$4\r\nnone\r\n$5\r\n1 1 1\r\n");
  count = 0;
  assert_int_equal(laju_overrides_read_all(reply, take, NULL), 3);
  assert_int_equal(count, 2);
  assert_true(laju_slice_equal(taken[0].rule, SLICE("login")) && laju_slice_equal(taken[0].key, SLICE("a:b")));
  assert_int_equal(taken[0].limit, 5);
  assert_int_equal(taken[0].burst, 10);
  assert_int_equal(taken[0].expires_ms, 999);
  assert_true(laju_slice_equal(taken[0].field, SLICE("login:a:b")) &&
              laju_slice_equal(taken[0].value, SLICE("5 10 999")));
  assert_int_equal(taken[0].veils, 0);
  assert_int_equal(taken[1].limit, 0);
  assert_int_equal(taken[1].veils, 513);
  freeReplyObject(reply);
}

static void what_no_laju_has_written_is_passed_over(void **state) {
  (void)state;
  static const char *const pairs[] = {
      "$2\r\na:\r\n$5\r\n1 1 1\r\n",
      "$2\r\n:a\r\n$5\r\n1 1 1\r\n",
      "$5\r\nb d:a\r\n$5\r\n1 1 1\r\n",
      "$3\r\na:b\r\n$3\r\n1 1\r\n",
      "$3\r\na:b\r\n$9\r\n1 1 1 1 1\r\n",
      "$3\r\na:b\r\n$11\r\n1 1 1 65536\r\n",
      "$3\r\na:b\r\n$6\r\n1 1 1 \r\n",
      "$3\r\na:b\r\n$5\r\n1 0 1\r\n",
      "$3\r\na:b\r\n$6\r\n-1 1 1\r\n",
      "$3\r\na:b\r\n$0\r\n\r\n",
      "$3\r\na:b\r\n$14\r\n4294967296 1 1\r\n",
      "$3\r\na:b\r\n$20\r\n1 1 9999999999999999\r\n",
      "$3\r\na:b\r\n:1\r\n",
  };
  char bytes[256];
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    snprintf(bytes, sizeof bytes, "*2\r\n%s", pairs[i]);
    redisReply *reply = reply_of(bytes);
    count = 0;
    assert_int_equal(laju_overrides_read_all(reply, take, NULL), 1);
    assert_int_equal(count, 0);
    freeReplyObject(reply);
  }
  redisReply *odd = reply_of("*1\r\n$3\r\na:b\r\n"), *error = reply_of("-WRONGTYPE\r\n");
  assert_int_equal(laju_overrides_read_all(odd, take, NULL), -1);
  assert_int_equal(laju_overrides_read_all(error, take, NULL), -1);
  freeReplyObject(odd);
  freeReplyObject(error);
}

static void a_change_tells_how_many_fields_it_met(void **state) {
  (void)state;
  static const struct {
    const char *reply;
    int64_t fields;
  } cases[] = {{"*2\r\n:1\r\n:7\r\n", 1}, {"*2\r\n:0\r\n:8\r\n", 0},          {"*-1\r\n", -1},
               {"-EXECABORT\r\n", -1},    {"*2\r\n-WRONGTYPE\r\n:8\r\n", -1}, {"+OK\r\n", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    redisReply *reply = reply_of(cases[i].reply);
    assert_int_equal(laju_overrides_read_changed(reply), cases[i].fields);
    freeReplyObject(reply);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(their_names_are_no_keys),
      TEST(a_change_raises_the_version_with_it),
      TEST(a_version_is_a_number_or_none_yet),
      TEST(all_that_can_be_read_are_told),
      TEST(what_no_laju_has_written_is_passed_over),
      TEST(a_change_tells_how_many_fields_it_met),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
