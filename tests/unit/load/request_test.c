#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "load/request.h"

#define K "key:000000000000"

static laju_load_request made;

static int make(const char *door_text, const laju_load_wish *wish, char why[LAJU_TEXT_SIZE]) {
  laju_load_door door;
  assert_int_equal(laju_load_door_parse(door_text, &door, why), 0);
  return laju_load_request_init(&made, &door, wish, why);
}

static void becomes(const char *door, laju_load_wish wish, const char *bytes) {
  char why[LAJU_TEXT_SIZE];
  if (wish.rule == NULL) wish.rule = "api";
  assert_int_equal(make(door, &wish, why), 0);
  assert_int_equal(made.bytes.len, strlen(bytes));
  assert_memory_equal(made.bytes.data, bytes, made.bytes.len);
  for (size_t i = 0; i < made.place_count; i++) {
    assert_memory_equal(made.bytes.data + made.places[i] - 4, K, sizeof K - 1);
  }
  laju_load_request_deinit(&made);
}

static void is_refused(const char *door, const char *command, const char *problem) {
  char why[LAJU_TEXT_SIZE] = "";
  laju_load_wish wish = {.rule = "api", .command = command};
  made.place_count = 99;
  assert_int_equal(make(door, &wish, why), -1);
  assert_non_null(strstr(why, problem));
  assert_int_equal(made.place_count, 99); /* written only on success */
}

#define RESP "127.0.0.1:6380"
#define HTTP "http://127.0.0.1:8080"

static void a_check_is_what_is_sent_by_default(void **unused) {
  (void)unused;
  becomes(RESP, (laju_load_wish){.rule = "login"}, "*3\r\n$10\r\nLAJU.CHECK\r\n$5\r\nlogin\r\n$16\r\n" K "\r\n");
  becomes(RESP, (laju_load_wish){.cost = "5"}, "*4\r\n$10\r\nLAJU.CHECK\r\n$3\r\napi\r\n$16\r\n" K "\r\n$1\r\n5\r\n");
  becomes(
      HTTP, (laju_load_wish){.rule = "login"},
      "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 41\r\n\r\n"
      "{\"rule\":\"login\",\"key\":\"" K "\"}");
  becomes(
      HTTP, (laju_load_wish){.cost = "0"},
      "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 48\r\n\r\n"
      "{\"rule\":\"api\",\"key\":\"" K "\",\"cost\":0}");
}

static void known_words_get_their_usual_arguments(void **unused) {
  (void)unused;
  becomes(RESP, (laju_load_wish){.command = "laju.peek"}, "*3\r\n$9\r\nlaju.peek\r\n$3\r\napi\r\n$16\r\n" K "\r\n");
  becomes(RESP, (laju_load_wish){.command = "CL.THROTTLE", .cost = "2"},
          "*6\r\n$11\r\nCL.THROTTLE\r\n$16\r\n" K "\r\n$2\r\n15\r\n$2\r\n30\r\n$2\r\n60\r\n$1\r\n2\r\n");
  becomes(RESP, (laju_load_wish){.command = "CL.THROTTLE {key} 1 2 3"},
          "*5\r\n$11\r\nCL.THROTTLE\r\n$16\r\n" K "\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n");
  becomes(RESP, (laju_load_wish){.command = "PING"}, "*1\r\n$4\r\nPING\r\n");
}

static void placeholders_are_filled_in_anywhere(void **unused) {
  (void)unused;
  becomes(RESP, (laju_load_wish){.command = "  SET  a{key}-{key}b {rule}{cost}{other} "},
          "*3\r\n$3\r\nSET\r\n$35\r\na" K "-" K "b\r\n$11\r\napi1{other}\r\n");
  static const char *const headers[] = {"X-Key: {key}", "host: here"};
  becomes(HTTP, (laju_load_wish){.command = "GET /{rule}?k={key}", .headers = headers, .header_count = 2},
          "GET /api?k=" K " HTTP/1.1\r\nX-Key: " K "\r\nhost: here\r\n\r\n");
}

static void a_body_has_its_length_and_its_type(void **unused) {
  (void)unused;
  static const char *const headers[] = {"Content-Type: text/plain"};
  becomes("http://unix:/run/a.sock", (laju_load_wish){.command = "PUT /a hello {world}"},
          "PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
          "hello {world}");
  becomes("http://unix:/run/a.sock", (laju_load_wish){.command = "POST /a x", .headers = headers, .header_count = 1},
          "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\nx");
}

static laju_load_meaning meaning_of(const char *command) {
  char why[LAJU_TEXT_SIZE];
  laju_load_wish wish = {.rule = "api", .command = command};
  assert_int_equal(make(RESP, &wish, why), 0);
  laju_load_request_deinit(&made);
  return made.meaning;
}

static void a_command_says_what_its_replies_mean(void **unused) {
  (void)unused;
  assert_int_equal(meaning_of(NULL), LAJU_LOAD_ONE_ALLOWS);
  assert_int_equal(meaning_of("LAJU.ALL api k 1"), LAJU_LOAD_ONE_ALLOWS);
  assert_int_equal(meaning_of("cl.throttle"), LAJU_LOAD_ONE_DENIES);
  assert_int_equal(meaning_of("THROTTLE {key} 1 2 3"), LAJU_LOAD_ONE_ALLOWS);
  assert_int_equal(meaning_of("INCR {key}"), LAJU_LOAD_ANY);
}

static void what_cannot_be_sent_is_refused_in_words(void **unused) {
  (void)unused;
  char long_one[LAJU_LOAD_REQUEST_MAX + 16];
  is_refused(RESP, " ", "is no command");
  is_refused(RESP, "PING\r\nPING", "holds a control character");
  is_refused(HTTP, "HEAD /", "has no method");
  is_refused(HTTP, "GET", "has no path");
  is_refused(HTTP, "GET x", "has no path");
  is_refused(HTTP, "GET /\r\nX: y", "holds a control character");
  memset(long_one, 'x', sizeof long_one - 1);
  long_one[sizeof long_one - 1] = '\0';
  is_refused(RESP, long_one, "is too long");
}

static void as_many_words_and_keys_as_are_allowed_and_no_more(void **unused) {
  (void)unused;
  char why[LAJU_TEXT_SIZE], words[2 * (LAJU_LOAD_WORDS_MAX + 1) + 1], keys[5 * (LAJU_LOAD_KEYS_PLACES_MAX + 1) + 1];
  for (int i = 0; i <= LAJU_LOAD_WORDS_MAX; i++) memcpy(words + 2 * i, "w ", 3);
  for (int i = 0; i <= LAJU_LOAD_KEYS_PLACES_MAX; i++) memcpy(keys + 5 * i, "{key}", 6);
  is_refused(RESP, words, "is no command");
  is_refused(RESP, keys, "has too many keys");
  words[2 * LAJU_LOAD_WORDS_MAX] = keys[5 * LAJU_LOAD_KEYS_PLACES_MAX] = '\0';
  assert_int_equal(make(RESP, &(laju_load_wish){.rule = "api", .command = words}, why), 0);
  laju_load_request_deinit(&made);
  assert_int_equal(make(RESP, &(laju_load_wish){.rule = "api", .command = keys}, why), 0);
  assert_int_equal(made.place_count, LAJU_LOAD_KEYS_PLACES_MAX);
  laju_load_request_deinit(&made);
}

static void a_key_has_twelve_digits(void **unused) {
  (void)unused;
  char digits[13] = "xxxxxxxxxxxx";
  laju_load_key_write(digits, 42, 12);
  assert_string_equal(digits, "000000000042");
  laju_load_key_write(digits, UINT64_C(999999999999), 12);
  assert_string_equal(digits, "999999999999");
  laju_load_key_write(digits, 7, 3);
  assert_string_equal(digits, "999999999007");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_check_is_what_is_sent_by_default),
      cmocka_unit_test(known_words_get_their_usual_arguments),
      cmocka_unit_test(placeholders_are_filled_in_anywhere),
      cmocka_unit_test(a_body_has_its_length_and_its_type),
      cmocka_unit_test(a_command_says_what_its_replies_mean),
      cmocka_unit_test(what_cannot_be_sent_is_refused_in_words),
      cmocka_unit_test(as_many_words_and_keys_as_are_allowed_and_no_more),
      cmocka_unit_test(a_key_has_twelve_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
