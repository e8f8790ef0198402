#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/store_url.h"

static laju_store_url read_good(const char *text) {
  laju_store_url url;
  char why[LAJU_STORE_WHY_SIZE];
  if (laju_store_url_parse(&url, text, strlen(text), why) < 0) fail_msg("%s: %s", text, why);
  return url;
}

static void assert_place(const laju_store_url *url, size_t i, const char *host, uint16_t port) {
  assert_in_range(i, 0, url->place_count - 1);
  assert_string_equal(url->places[i].host, host);
  assert_int_equal(url->places[i].port, port);
}

static void assert_login(const char *text, const char *user, const char *password) {
  laju_store_url url = read_good(text);
  assert_string_equal(url.user, user);
  assert_string_equal(url.password, password);
  assert_place(&url, 0, "h", 6379);
}

/* Refused with these words, and without the password, which every URL here calls hunter2. */
static void assert_refused(const char *text, const char *words) {
  laju_store_url url = {.database = 7};
  char why[LAJU_STORE_WHY_SIZE] = "";
  assert_int_equal(laju_store_url_parse(&url, text, strlen(text), why), -1);
  if (strstr(why, words) == NULL) fail_msg("%s: \"%s\" lacks \"%s\"", text, why, words);
  assert_null(strstr(why, "hunter2"));
  assert_non_null(strstr(why, "allowed: "));
  assert_int_equal(url.database, 7); /* written on success alone */
}

static void one_server_has_a_port_and_a_database_of_its_own_or_the_usual_ones(void **unused) {
  (void)unused;
  laju_store_url url = read_good("redis://cache.example.com");
  assert_int_equal(url.kind, LAJU_STORE_SINGLE);
  assert_false(url.tls);
  assert_int_equal(url.place_count, 1);
  assert_place(&url, 0, "cache.example.com", 6379);
  assert_int_equal(url.database, 0);
  assert_string_equal(url.user, "");
  assert_string_equal(url.password, "");

  url = read_good("rediss://10.0.0.7:7000/15");
  assert_true(url.tls);
  assert_place(&url, 0, "10.0.0.7", 7000);
  assert_int_equal(url.database, 15);
  assert_int_equal(read_good("redis://h/").database, 0);
  assert_int_equal(read_good("redis://h/65535").database, 65535);
}

static void an_ipv6_address_stands_in_brackets_and_is_kept_without(void **unused) {
  (void)unused;
  laju_store_url url = read_good("redis://[::1]:7000");
  assert_place(&url, 0, "::1", 7000);
  url = read_good("redis+cluster://[2001:db8::1],[2001:db8::2]:7001");
  assert_place(&url, 0, "2001:db8::1", 6379);
  assert_place(&url, 1, "2001:db8::2", 7001);
  assert_refused("redis://::1:6379", "in [ ]");
  assert_refused("redis://[::1", "IPv6");
  assert_refused("redis://[10.0.0.1]", "IPv6");
  assert_refused("redis://[::1]6379", ":PORT");
}

static void a_unix_socket_is_one_server_too(void **unused) {
  (void)unused;
  laju_store_url url = read_good("unix:/run/redis/redis.sock");
  assert_int_equal(url.kind, LAJU_STORE_SINGLE);
  assert_string_equal(url.unix_path, "/run/redis/redis.sock");
  assert_int_equal(url.place_count, 0);
  assert_refused("unix:run/redis.sock", "unix:/PATH");
  assert_refused("unix:/", "unix:/PATH");
  assert_refused("unix:/a\nb", "unix:/PATH");
  char longest[5 + LAJU_STORE_UNIX_MAX + 2] = "unix:/";
  memset(longest + 6, 'x', LAJU_STORE_UNIX_MAX - 1);
  assert_int_equal(strlen(read_good(longest).unix_path), 107);
  longest[5 + LAJU_STORE_UNIX_MAX] = 'x';
  assert_refused(longest, "107 bytes");
}

static void sentinels_have_a_port_of_their_own_and_name_the_primary(void **unused) {
  (void)unused;
  laju_store_url url = read_good("redis+sentinel://app:hunter2@s1,s2:27000,s3/main/3");
  assert_int_equal(url.kind, LAJU_STORE_SENTINEL);
  assert_int_equal(url.place_count, 3);
  assert_place(&url, 0, "s1", 26379);
  assert_place(&url, 1, "s2", 27000);
  assert_string_equal(url.name, "main");
  assert_int_equal(url.database, 3);
  assert_string_equal(url.user, "app");
  assert_true(read_good("rediss+sentinel://s1/main").tls);
  assert_refused("redis+sentinel://s1", "name is missing");
  assert_refused("redis+sentinel://s1/", "name is missing");
  assert_refused("redis+sentinel://s1/ma in", "name cannot be one");
}

static void a_cluster_is_known_by_up_to_sixteen_of_its_nodes(void **unused) {
  (void)unused;
  laju_store_url url = read_good("redis+cluster://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p:16");
  assert_int_equal(url.kind, LAJU_STORE_CLUSTER);
  assert_int_equal(url.place_count, 16);
  assert_place(&url, 15, "p", 16);
  assert_true(read_good("rediss+cluster://a").tls);
  assert_int_equal(read_good("redis+cluster://a/0").database, 0);
  assert_refused("redis+cluster://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "at most 16");
  assert_refused("redis+cluster://a/1", "no database 1");
  assert_refused("redis+cluster://a,,b", "a host is missing");
  assert_refused("redis+cluster://a,", "a host is missing");
  assert_refused("redis://a,b", "did you mean redis+cluster://");
}

static void user_and_password_may_be_escaped(void **unused) {
  (void)unused;
  assert_login("redis://app:hunter2@h", "app", "hunter2");
  assert_login("redis://:hunter2@h", "", "hunter2");
  assert_login("redis://app@h", "app", "");
  assert_login("redis://a%3Ab:p%40%2f%25@h", "a:b", "p@/%");
  assert_login("redis://:p\xc3\xa9@h", "", "p\xc3\xa9");
}

static void a_password_with_the_marks_of_a_url_is_not_taken_for_its_host(void **unused) {
  (void)unused;
  assert_login("redis://:a@b/c?d#e:f@h", "", "a@b/c?d#e:f");
  assert_login("redis://u:redis://x:y@z@h", "u", "redis://x:y@z");
}

static void a_password_that_cannot_be_one_is_refused(void **unused) {
  (void)unused;
  assert_refused("redis://@h", "neither user nor password");
  assert_refused("redis://:@h", "neither user nor password");
  assert_refused("redis://:hunter2%@h", "password has a %");
  assert_refused("redis://:hunter2%4@h", "password has a %");
  assert_refused("redis://u%zz:hunter2@h", "user has a %");
  assert_refused("redis://:hunter2%00@h", "zero byte");
  char longest[400] = "redis://:";
  memset(longest + 9, 'x', LAJU_STORE_TEXT_MAX);
  memcpy(longest + 9 + LAJU_STORE_TEXT_MAX, "@h", 3);
  assert_int_equal(strlen(read_good(longest).password), 256);
  memcpy(longest + 9 + LAJU_STORE_TEXT_MAX, "x@h", 4);
  assert_refused(longest, "at most 256");
}

static void a_password_is_never_repeated(void **unused) {
  (void)unused;
  assert_refused("redis://:hunter2", "host is missing");
  assert_refused("redis://user:hunter2", "port that is none");
  assert_refused("redis://user:hunter2/0", "port that is none");
  assert_refused("redis://:hunter2@", "host is missing");
  assert_refused("redis://:hunter2@h:port", "port that is none");
  assert_refused("redis://:hunter2@h/db", "database");
  assert_refused("redis:://:hunter2@h", "scheme");
  assert_refused("reddis://:hunter2@h", "did you mean redis://");
  assert_refused(":hunter2@h:6379", "not a store's URL");
  assert_refused("user:hunter2@h", "not a store's URL");
  assert_refused("redis:hunter2@h", "not a store's URL");
}

static void what_is_no_store_is_refused_with_what_would_be(void **unused) {
  (void)unused;
  assert_refused("", "redis://HOST:PORT");
  assert_refused("localhost", "did you mean \"redis://localhost\"?");
  assert_refused("localhost:6379", "did you mean \"redis://localhost:6379\"?");
  assert_refused("http://h", "scheme");
  assert_refused("REDIS://h", "did you mean redis://");
  assert_refused("redis-cluster://h", "did you mean redis+cluster://");
  assert_refused("redis://", "host is missing");
  assert_refused("redis://h:0", "1 to 65535");
  assert_refused("redis://h:65536", "1 to 65535");
  assert_refused("redis://h:", "1 to 65535");
  assert_refused("redis://h:06379", "1 to 65535");
  assert_refused("redis://h?db=1", "no host does");
  assert_refused("redis://h/65536", "0 to 65535");
  assert_refused("redis://h/1/2", "database");
  assert_refused("redis://h/01", "database");
  assert_refused("redis://h/-1", "database");
}

static void what_is_too_long_is_refused(void **unused) {
  (void)unused;
  static char text[LAJU_STORE_URL_MAX + 2] = "redis://";
  memset(text + 8, 'h', LAJU_STORE_HOST_MAX);
  assert_int_equal(strlen(read_good(text).places[0].host), 255);
  text[8 + LAJU_STORE_HOST_MAX] = 'h';
  assert_refused(text, "too long");
  memset(text + 8, 'h', LAJU_STORE_URL_MAX + 1 - 8);
  assert_refused(text, "4096 bytes");
}

static bool same(const char *one, const char *other) {
  laju_store_url a = read_good(one), b = read_good(other);
  return laju_store_url_same(&a, &b);
}

static void two_ways_of_writing_one_place_are_the_same(void **unused) {
  (void)unused;
  assert_true(same("redis://:%61@h", "redis://:a@h:6379/0"));
  assert_false(same("redis://:a@h", "redis://:b@h"));
  assert_false(same("redis://a:x@h", "redis://b:x@h"));
  assert_false(same("redis://h", "rediss://h"));
  assert_false(same("redis://h", "redis://h/1"));
  assert_false(same("redis://h", "redis://h:1"));
  assert_false(same("redis://h", "redis+cluster://h"));
  assert_false(same("redis+cluster://h", "redis+cluster://h,i"));
  assert_false(same("redis+cluster://i,h", "redis+cluster://h,i"));
  assert_false(same("redis+sentinel://h/a", "redis+sentinel://h/b"));
  assert_false(same("unix:/a", "unix:/b"));
}

static void assert_shown(const char *text, const char *expected) {
  laju_store_url url = read_good(text);
  char shown[LAJU_STORE_SHOWN_SIZE];
  laju_store_url_show(shown, &url);
  assert_string_equal(shown, expected);
}

static void people_are_shown_all_but_user_and_password(void **unused) {
  (void)unused;
  assert_shown("redis://u:hunter2@h", "redis://h:6379");
  assert_shown("rediss://:hunter2@[::1]:7/3", "rediss://[::1]:7/3");
  assert_shown("unix:/run/r.sock", "unix:/run/r.sock");
  assert_shown("redis+sentinel://a,b/main/2", "redis+sentinel://a:26379,b:26379/main/2");
  assert_shown("rediss+cluster://a,b,c,d", "rediss+cluster://a:6379,b:6379,c:6379,...");
  char shown[LAJU_STORE_SHOWN_SIZE];
  laju_store_url_show(shown, &(laju_store_url){0});
  assert_string_equal(shown, "");
}

static void the_longest_fits_where_it_is_shown(void **unused) {
  (void)unused;
  laju_store_url url = {.kind = LAJU_STORE_SENTINEL,
                        .tls = true,
                        .place_count = LAJU_STORE_PLACES_MAX,
                        .database = LAJU_STORE_DATABASE_MAX};
  for (size_t i = 0; i < LAJU_STORE_PLACES_MAX; i++) {
    memset(url.places[i].host, 'h', LAJU_STORE_HOST_MAX);
    url.places[i].port = UINT16_MAX;
  }
  memset(url.name, 'n', LAJU_STORE_TEXT_MAX);
  char shown[LAJU_STORE_SHOWN_SIZE];
  laju_store_url_show(shown, &url);
  assert_string_equal(shown + strlen(shown) - 7, "n/65535");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_server_has_a_port_and_a_database_of_its_own_or_the_usual_ones),
      cmocka_unit_test(an_ipv6_address_stands_in_brackets_and_is_kept_without),
      cmocka_unit_test(a_unix_socket_is_one_server_too),
      cmocka_unit_test(sentinels_have_a_port_of_their_own_and_name_the_primary),
      cmocka_unit_test(a_cluster_is_known_by_up_to_sixteen_of_its_nodes),
      cmocka_unit_test(user_and_password_may_be_escaped),
      cmocka_unit_test(a_password_with_the_marks_of_a_url_is_not_taken_for_its_host),
      cmocka_unit_test(a_password_that_cannot_be_one_is_refused),
      cmocka_unit_test(a_password_is_never_repeated),
      cmocka_unit_test(what_is_no_store_is_refused_with_what_would_be),
      cmocka_unit_test(what_is_too_long_is_refused),
      cmocka_unit_test(two_ways_of_writing_one_place_are_the_same),
      cmocka_unit_test(people_are_shown_all_but_user_and_password),
      cmocka_unit_test(the_longest_fits_where_it_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
