#include "proto/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "proto/made.h"

/* What is asked: GET api.example.com/a/b from 192.0.2.1, until a test says otherwise. */
typedef struct fixture {
  laju_origin origin;
  uint8_t prefix_v4, prefix_v6;
  laju_missing missing;
  char raw[LAJU_KEY_SCRATCH];
  size_t raw_len;
} fixture;

static int ask(void **state) {
  static fixture f;
  f.origin = (laju_origin){.method = made_slice("GET"),
                           .path = made_slice("/a/b"),
                           .host = made_slice("api.example.com"),
                           .addressed = true};
  f.prefix_v4 = 32;
  f.prefix_v6 = 64;
  f.missing = LAJU_MISSING_IP;
  made_must(laju_ip_parse("192.0.2.1", 9, &f.origin.client) == 0);
  *state = &f;
  return 0;
}

static laju_derived derive(fixture *f, const char *parts, const char *lines, const laju_part **missing) {
  laju_field list[LAJU_HTTP_HEADERS_MAX];
  laju_fields fields = made_fields(lines, list);
  laju_asker asker = {.origin = &f->origin, .fields = &fields, .prefix_v4 = f->prefix_v4, .prefix_v6 = f->prefix_v6};
  laju_policy policy = made_policy("a=1/1m", parts, NULL, NULL);
  policy.missing = f->missing;
  return laju_key_derive(&policy, &asker, f->raw, &f->raw_len, missing);
}

static void key_is(fixture *f, const char *parts, const char *lines, const char *expected) {
  const laju_part *missing;
  assert_int_equal(derive(f, parts, lines, &missing), LAJU_KEY_DERIVED);
  f->raw[f->raw_len] = '\0';
  assert_string_equal(f->raw, expected);
}

static void query_is(fixture *f, const char *query, const char *expected) {
  f->origin.query = made_slice(query);
  key_is(f, "query:q", "", expected);
}

static void from(fixture *f, const char *address, const char *expected) {
  assert_int_equal(laju_ip_parse(address, strlen(address), &f->origin.client), 0);
  key_is(f, "ip", "", expected);
}

/* ---- values ---- */

static void an_address_is_cut_to_who_counts_as_one(void **state) {
  fixture *f = *state;
  from(f, "192.0.2.1", "192.0.2.1");
  from(f, "::ffff:192.0.2.1", "192.0.2.1");
  from(f, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64");
  f->prefix_v4 = 24;
  f->prefix_v6 = 128;
  from(f, "192.0.2.1", "192.0.2.0/24");
  from(f, "2001:DB8::1", "2001:db8::1");
}

static void who_came_through_a_unix_socket_is_unix(void **state) {
  fixture *f = *state;
  f->origin.addressed = false;
  key_is(f, "ip", "", "unix");
  key_is(f, "header:x-user-id", "", "%ip=unix");
}

static void a_header_has_all_its_lines(void **state) {
  key_is(*state, "header:x-user-id", "Host: a\r\nX-User-Id: \t42 \r\n", "42");
  key_is(*state, "header:x-user-id", "x-user-id: 42\r\nX-USER-ID: 43, 44\r\n", "42, 43, 44");
  key_is(*state, "header:x-user-id", "X-User-Id: \r\nX-User-Id: 42\r\nX-User-Id:\r\n", "42");
  key_is(*state, "header:x-user-id", "X-User-Id-2: 1\r\nX-User-I: 2\r\nX-User-Id: 42\r\n", "42");
}

static void a_cookie_is_the_first_that_has_a_value(void **state) {
  key_is(*state, "cookie:sid", "Cookie: a=b; sid=s:1%; sid=2\r\n", "s:1%");
  key_is(*state, "cookie:sid", "Cookie: sid=; xsid=3;sid = 4 ;\r\n", "4");
  key_is(*state, "cookie:sid", "Cookie: sid\r\nCookie: a; sid=5=6\r\n", "5=6");
  key_is(*state, "cookie:sid", "Cookie: SID=7\r\n", "%ip=192.0.2.1");
}

static void a_parameter_is_decoded_once(void **state) {
  query_is(*state, "a=b&q=x", "x");
  query_is(*state, "q=&q=a%2Bb+%2525%zz", "a+b %25%zz");
  query_is(*state, "%71=x&q=y", "x");
  query_is(*state, "qq=1&q&xq=2&q=3=4&q=5", "3=4");
  query_is(*state, "Q=1", "%ip=192.0.2.1");
  query_is(*state, "", "%ip=192.0.2.1");
}

static void laju_s_own_parameters_are_no_key(void **state) {
  fixture *f = *state;
  f->origin.query = made_slice("rule=a&deny=403&user=b");
  key_is(f, "query:rule query:deny query:user", "", "a:403:b");
  f->origin.own_query = true;
  key_is(f, "query:rule query:deny query:user", "", "%ip=192.0.2.1:%ip=192.0.2.1:b");
}

static void path_method_and_host_are_the_requests(void **state) {
  fixture *f = *state;
  key_is(f, "path", "", "/a/b");
  key_is(f, "method", "", "GET");
  key_is(f, "host", "", "api.example.com");
  f->origin.host = made_slice("");
  key_is(f, "host", "", "%ip=192.0.2.1");
}

/* ---- joining ---- */

static void a_single_part_stands_as_it_is(void **state) {
  key_is(*state, "header:a", "A: x:y%z\r\n", "x:y%z");
}

static void several_parts_are_joined(void **state) {
  key_is(*state, "ip header:a path", "A: x:y%z\r\n", "192.0.2.1:x%3Ay%25z:/a/b");
  key_is(*state, "header:a header:b", "A: 1:2\r\nB: 3\r\n", "1%3A2:3");
  key_is(*state, "header:a header:b", "A: 1\r\nB: 2:3\r\n", "1:2%3A3");
}

static void a_v6_address_among_others_keeps_to_its_place(void **state) {
  fixture *f = *state;
  assert_int_equal(laju_ip_parse("2001:db8::1", 11, &f->origin.client), 0);
  key_is(f, "ip method", "", "2001%3Adb8%3A%3A/64:GET");
  key_is(f, "header:a method", "", "%ip=2001%3Adb8%3A%3A/64:GET");
}

static void no_value_passes_for_a_missing_part(void **state) {
  fixture *f = *state;
  key_is(f, "header:a", "", "%ip=192.0.2.1");
  key_is(f, "header:a", "A: %ip=192.0.2.1\r\n", "%25ip=192.0.2.1");
  key_is(f, "header:a", "A: %25ip=192.0.2.1\r\n", "%2525ip=192.0.2.1");
  key_is(f, "header:a header:b", "A: %ip=192.0.2.1\r\nB: %shared\r\n", "%25ip=192.0.2.1:%25shared");
  f->missing = LAJU_MISSING_SHARED;
  key_is(f, "header:a", "", "%shared");
  key_is(f, "header:a", "A: %shared\r\n", "%25shared");
  key_is(f, "header:a", "A: %sha256=0\r\n", "%25sha256=0");
}

static void a_missing_part_may_skip_or_deny(void **state) {
  fixture *f = *state;
  const laju_part *missing = NULL;
  f->missing = LAJU_MISSING_SKIP;
  assert_int_equal(derive(f, "ip header:a", "", &missing), LAJU_KEY_SKIPPED);
  f->missing = LAJU_MISSING_DENY;
  assert_int_equal(derive(f, "ip header:a", "A:\r\n", &missing), LAJU_KEY_DENIED);
  assert_string_equal(missing->name, "a");
  assert_int_equal(derive(f, "ip header:a", "A: 1\r\n", &missing), LAJU_KEY_DERIVED);
}

/* ---- keeping ---- */

static void kept_is(const char *key, size_t len, bool secret, const char *expected) {
  laju_policy policy = {.secret = secret};
  char to[LAJU_KEY_MAX];
  int kept = laju_key_keep(&policy, key, len, to);
  assert_int_equal(kept, strlen(expected));
  assert_memory_equal(to, expected, strlen(expected));
}

static void a_key_of_1024_bytes_is_kept_and_a_longer_one_hashed(void **state) {
  (void)state;
  char key[1026];
  memset(key, 'a', sizeof key);
  key[1024] = '\0';
  kept_is(key, 1024, false, key);
  kept_is(key, 1025, false, "%sha256=_OTDVaEPvQt-ByQHQO1P-GqXn1Fwd_5F66468RBkgYU");
}

static void a_secret_key_is_always_hashed(void **state) {
  (void)state;
  kept_is("abc", 3, true, "%sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
}

/* Eight parts of the longest header, all of bytes that take three. */
static void the_longest_key_has_room(void **state) {
  fixture *f = *state;
  static char lines[LAJU_HTTP_HEAD_MAX + 8];
  memset(lines, '%', sizeof lines);
  memcpy(lines, "a:", 2);
  memcpy(lines + LAJU_HTTP_HEAD_MAX - 2, "\r\n", 3);
  const laju_part *missing;
  assert_int_equal(
      derive(f, "header:a header:a header:a header:a header:a header:a header:a header:a", lines, &missing),
      LAJU_KEY_DERIVED);
  assert_int_equal(f->raw_len, 8 * 3 * (LAJU_HTTP_HEAD_MAX - 4) + 7);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup(f, ask)
  const struct CMUnitTest tests[] = {
      CLAIM(an_address_is_cut_to_who_counts_as_one),
      CLAIM(who_came_through_a_unix_socket_is_unix),
      CLAIM(a_header_has_all_its_lines),
      CLAIM(a_cookie_is_the_first_that_has_a_value),
      CLAIM(a_parameter_is_decoded_once),
      CLAIM(laju_s_own_parameters_are_no_key),
      CLAIM(path_method_and_host_are_the_requests),
      CLAIM(a_single_part_stands_as_it_is),
      CLAIM(several_parts_are_joined),
      CLAIM(a_v6_address_among_others_keeps_to_its_place),
      CLAIM(no_value_passes_for_a_missing_part),
      CLAIM(a_missing_part_may_skip_or_deny),
      CLAIM(a_key_of_1024_bytes_is_kept_and_a_longer_one_hashed),
      CLAIM(a_secret_key_is_always_hashed),
      CLAIM(the_longest_key_has_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
