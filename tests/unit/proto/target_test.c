#include "proto/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

/* The memory is as small as it may be, so that the sanitizers see a byte too many. */
static void path_is(const char *written, const char *expected) {
  size_t size = strlen(written) + 1;
  char *to = malloc(size);
  size_t len = laju_path_normalise(to, slice(written));
  if (len != strlen(expected) || memcmp(to, expected, len) != 0) fail_msg("%s: %.*s", written, (int)len, to);
  free(to);
}

static void host_is(const char *written, const char *expected) {
  char *to = malloc(strlen(written) + 1);
  size_t len = laju_host_normalise(to, slice(written));
  if (len != strlen(expected) || memcmp(to, expected, len) != 0) fail_msg("%s: %.*s", written, (int)len, to);
  free(to);
}

static void a_path_in_its_form_stays(void **state) {
  (void)state;
  path_is("/", "/");
  path_is("/api/x", "/api/x");
  path_is("/api/x/", "/api/x/");
  path_is("/.well-known/..x/...", "/.well-known/..x/...");
}

static void slashes_and_dot_segments_go(void **state) {
  (void)state;
  path_is("//api///x", "/api/x");
  path_is("/api/../api/x", "/api/x");
  path_is("/./api/./x", "/api/x");
  path_is("/../../api/x", "/api/x");
  path_is("/a/b/../../api/x", "/api/x");
  path_is("/a/b/..", "/a/");
  path_is("/a/..", "/");
  path_is("/a/.", "/a/");
  path_is("/a//", "/a/");
  path_is("..", "/");
}

static void a_path_always_begins_with_a_slash(void **state) {
  (void)state;
  path_is("", "/");
  path_is("api/x", "/api/x");
  path_is("*", "/*");
}

static void encoded_bytes_are_decoded_once(void **state) {
  (void)state;
  path_is("/%61pi/x", "/api/x");
  path_is("/%2561pi/x", "/%61pi/x");
  path_is("%2Fapi%2fx", "/api/x");
  path_is("/a/%2e%2E/api/x", "/api/x");
  path_is("/a/.%2e/api/x", "/api/x");
  path_is("/a%3Fb%23c", "/a?b#c");
  path_is("/%c3%A9", "/\xc3\xa9");
}

static void what_is_no_encoding_stays(void **state) {
  (void)state;
  path_is("/%", "/%");
  path_is("/%6", "/%6");
  path_is("/%zz%6g%", "/%zz%6g%");
  path_is("/a\\..\\b", "/a\\..\\b");
  path_is("/a;b=c/+", "/a;b=c/+");
}

static void a_nul_is_a_byte(void **state) {
  (void)state;
  char to[8];
  assert_int_equal(laju_path_normalise(to, slice("/a%00b")), 4);
  assert_memory_equal(to, "/a\0b", 4);
}

static void hosts_lose_case_port_brackets_and_dot(void **state) {
  (void)state;
  host_is("API.Example.com", "api.example.com");
  host_is("api.example.com:8080", "api.example.com");
  host_is("api.example.com.", "api.example.com");
  host_is("api.example.com.:8080", "api.example.com");
  host_is("api.example.com:80:90", "api.example.com");
  host_is("[2001:DB8::1]:443", "2001:db8::1");
  host_is("[::1]", "::1");
  host_is("[::1", "::1");
  host_is("::1", "::1");
  host_is("192.0.2.1:80", "192.0.2.1");
  host_is("", "");
  host_is(":80", "");
  host_is(".", "");
}

static void part_is(laju_slice part, const char *expected) {
  if (expected == NULL) {
    assert_null(part.at);
    return;
  }
  assert_non_null(part.at);
  assert_int_equal(part.len, strlen(expected));
  assert_memory_equal(part.at, expected, part.len);
}

static void splits(const char *text, const char *authority, const char *path, const char *query) {
  laju_target target = laju_target_split(slice(text));
  part_is(target.authority, authority);
  part_is(target.path, path);
  part_is(target.query, query);
}

static void a_target_has_a_path_and_perhaps_a_query(void **state) {
  (void)state;
  splits("/a", NULL, "/a", NULL);
  splits("/a?", NULL, "/a", "");
  splits("/a?b?c=/d#e", NULL, "/a", "b?c=/d");
  splits("/a#b?c", NULL, "/a", NULL);
  splits("", NULL, "", NULL);
  splits("?a", NULL, "", "a");
  splits("//a.example/b", NULL, "//a.example/b", NULL);
  splits("/a?u=http://b/c", NULL, "/a", "u=http://b/c");
  splits("a?u=http://b/c", NULL, "a", "u=http://b/c");
}

static void a_target_may_be_a_whole_url(void **state) {
  (void)state;
  splits("http://a.example:80/b?c", "a.example:80", "/b", "c");
  splits("https://a.example", "a.example", "", NULL);
  splits("https://a.example?b", "a.example", "", "b");
  splits("https://user:word@a.example/b@c", "a.example", "/b@c", NULL);
  splits("h2+x.y-z://a/b", "a", "/b", NULL);
  splits("://a/b", NULL, "://a/b", NULL);
  splits("1http://a/b", NULL, "1http://a/b", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_path_in_its_form_stays),
      cmocka_unit_test(slashes_and_dot_segments_go),
      cmocka_unit_test(a_path_always_begins_with_a_slash),
      cmocka_unit_test(encoded_bytes_are_decoded_once),
      cmocka_unit_test(what_is_no_encoding_stays),
      cmocka_unit_test(a_nul_is_a_byte),
      cmocka_unit_test(hosts_lose_case_port_brackets_and_dot),
      cmocka_unit_test(a_target_has_a_path_and_perhaps_a_query),
      cmocka_unit_test(a_target_may_be_a_whole_url),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
