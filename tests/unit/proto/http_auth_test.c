#include "proto/http_auth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "proto/http_door.h"

#define DATE "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define HOST "Host: laju\r\n"
#define OK_EMPTY "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\n"
#define PAGE_2                                                                            \
  OK_EMPTY                                                                                \
  "X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 2\r\nX-RateLimit-Reset: 1700000040\r\n" \
  "RateLimit-Policy: \"page\";q=3;w=60\r\nRateLimit: \"page\";r=2;t=40\r\n\r\n"

static int open_door(void **state) {
  static door d;
  door_open(&d, &laju_http_codec);
  *state = &d;
  return 0;
}

static int shut_door(void **state) {
  door_shut(*state);
  return 0;
}

static const char *asked(door *d, const char *text) {
  door_feed(d, &laju_http_codec, text, strlen(text));
  laju_buffer_add(&d->out, "", 1);
  laju_buffer_clear(&d->out);
  return d->out.data;
}

static void starts(const char *reply, const char *expected) {
  if (strncmp(reply, expected, strlen(expected)) != 0) fail_msg("%s\ndoes not start with %s", reply, expected);
}

static void holds(const char *reply, const char *expected) {
  if (strstr(reply, expected) == NULL) fail_msg("%s\ndoes not hold %s", reply, expected);
}

/* A GET of /auth with these lines besides Host. Static memory. */
static const char *call(const char *lines) {
  static char text[4096];
  snprintf(text, sizeof text, "GET /auth HTTP/1.1\r\n" HOST "%s\r\n", lines);
  return text;
}

/* Asks for this path until `remaining` is told, to see whose count it is. */
static void remains(door *d, const char *lines, const char *remaining) {
  char expected[64];
  snprintf(expected, sizeof expected, "\r\nX-RateLimit-Remaining: %s\r\n", remaining);
  holds(asked(d, call(lines)), expected);
}

static void comes_from(door *d, const char *address) {
  d->peer = (laju_peer){.is_unix = address == NULL};
  if (address != NULL) assert_int_equal(laju_ip_parse(address, strlen(address), &d->peer.address), 0);
  door_reconnect(d, &laju_http_codec);
}

/* ---- answers ---- */

static void an_admission_is_an_empty_200_with_its_headers(void **state) {
  assert_string_equal(asked(*state, call("X-Original-URI: /page/1\r\n")), PAGE_2);
}

static void where_no_rule_applies_it_is_200_without_headers(void **state) {
  assert_string_equal(asked(*state, call("X-Original-URI: /free\r\n")), OK_EMPTY "\r\n");
}

static void the_fourth_of_three_is_refused_with_429(void **state) {
  for (int i = 0; i < 3; i++) starts(asked(*state, call("X-Original-URI: /page/1\r\n")), "HTTP/1.1 200 OK\r\n");
  const char *reply = asked(*state, call("X-Original-URI: /page/1\r\n"));
  starts(reply, "HTTP/1.1 429 Too Many Requests\r\n" DATE "Content-Type: application/json\r\n");
  holds(reply, "\r\nRetry-After: 40\r\n\r\n{\"allowed\":false,\"rule\":\"page\",\"limit\":3,\"remaining\":0,");
}

static void a_refusal_has_the_status_that_was_asked_for(void **state) {
  static const char *const statuses[] = {"401 Unauthorized", "403 Forbidden", "429 Too Many Requests",
                                         "503 Service Unavailable"};
  for (size_t i = 0; i < 4; i++) {
    char text[256], expected[64];
    snprintf(text, sizeof text, "GET /auth?rule=none&deny=%.3s HTTP/1.1\r\n" HOST "\r\n", statuses[i]);
    snprintf(expected, sizeof expected, "HTTP/1.1 %s\r\n", statuses[i]);
    starts(asked(*state, text), expected);
  }
}

static void the_answer_to_head_has_no_body(void **state) {
  const char *reply = asked(*state, "HEAD /auth?rule=none HTTP/1.1\r\n" HOST "\r\n");
  starts(reply, "HTTP/1.1 429 Too Many Requests\r\n");
  assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");
}

static void any_method_may_ask(void **state) {
  static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "TRACE"};
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "%s /auth/free HTTP/1.1\r\n" HOST "\r\n", methods[i]);
    starts(asked(*state, text), OK_EMPTY);
  }
}

static void the_path_may_stand_behind_auth(void **state) {
  assert_string_equal(asked(*state, "POST /auth/page/1?deny=403&rule=none HTTP/1.1\r\n" HOST "\r\n"), PAGE_2);
}

static void all_that_match_are_charged_or_none(void **state) {
  laju_policy policies[] = {made_policy("wide=5/1m fixed-window", "ip", NULL, NULL),
                            made_policy("narrow=1/1m fixed-window", "ip", NULL, "/x*")};
  door d;
  (void)state;
  door_open_with(&d, &laju_http_codec, policies, 2);
  const char *reply = asked(&d, call("X-Original-URI: /x\r\n"));
  holds(reply, "\r\nRateLimit: \"wide\";r=4;t=40, \"narrow\";r=0;t=40\r\n");
  for (int i = 0; i < 3; i++) starts(asked(&d, call("X-Original-URI: /x\r\n")), "HTTP/1.1 429 ");
  holds(asked(&d, call("X-Original-URI: /y\r\n")), "\r\nX-RateLimit-Remaining: 3\r\n");
  door_shut(&d);
}

static void a_rule_in_shadow_refuses_nothing_and_is_not_shown(void **state) {
  for (int i = 0; i < 3; i++) {
    assert_string_equal(asked(*state, "GET /auth?rule=ghost HTTP/1.1\r\n" HOST "\r\n"), OK_EMPTY "\r\n");
  }
}

/* ---- no way around ---- */

static void no_way_to_write_a_path_passes_a_rule_by(void **state) {
  static const char *const paths[] = {"/page/../page/x", "//page/x", "/%70age/x", "/./page/%2e/x", "/x/%2e%2e/page/x",
                                      "page/x",          "/page//",  "/%2Fpage/", "/page/?a",      "/page/#a"};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    char lines[128];
    comes_from(*state, "127.0.0.1");
    snprintf(lines, sizeof lines, "X-Original-URI: %s\r\nX-Real-IP: 192.0.2.%zu\r\n", paths[i], i);
    remains(*state, lines, "2");
  }
}

static void a_spoofed_hop_changes_nothing(void **state) {
  remains(*state, "X-Original-URI: /page/1\r\nX-Forwarded-For: 192.0.2.1\r\n", "2");
  remains(*state, "X-Original-URI: /page/1\r\nX-Forwarded-For: 203.0.113.9, 192.0.2.1\r\n", "1");
  remains(*state, "X-Original-URI: /page/1\r\nX-Forwarded-For: 127.0.0.9, 192.0.2.1, 127.0.0.1\r\n", "0");
}

static void a_stranger_s_forwarding_fields_change_nothing_and_are_counted(void **state) {
  door *d = *state;
  comes_from(d, "203.0.113.9");
  holds(asked(d, "GET /auth/page/1 HTTP/1.1\r\n" HOST "\r\n"), "\r\nX-RateLimit-Remaining: 2\r\n");
  assert_int_equal(d->service.untrusted_forwards, 0);
  holds(asked(d, "GET /auth/page/1 HTTP/1.1\r\n" HOST "X-Forwarded-For: 192.0.2.1\r\nX-Original-URI: /free\r\n\r\n"),
        "\r\nX-RateLimit-Remaining: 1\r\n");
  assert_int_equal(d->service.untrusted_forwards, 1);
}

static void neighbours_in_one_64_share_a_limit(void **state) {
  remains(*state, "X-Original-URI: /page/1\r\nX-Real-IP: 2001:db8:1:2::1\r\n", "2");
  remains(*state, "X-Original-URI: /page/1\r\nX-Real-IP: 2001:db8:1:2:ffff::1\r\n", "1");
  remains(*state, "X-Original-URI: /page/1\r\nX-Real-IP: 2001:db8:1:3::1\r\n", "2");
}

static void a_mapped_address_is_the_v4_one(void **state) {
  remains(*state, "X-Original-URI: /page/1\r\nX-Real-IP: 192.0.2.1\r\n", "2");
  remains(*state, "X-Original-URI: /page/1\r\nX-Real-IP: ::ffff:192.0.2.1\r\n", "1");
  remains(*state, "X-Original-URI: /page/1\r\nX-Forwarded-For: [::ffff:c000:201]:80\r\n", "0");
}

static void a_dropped_header_counts_by_address(void **state) {
  remains(*state, "X-Original-URI: /user/\r\nX-User-Id: 42\r\n", "2");
  remains(*state, "X-Original-URI: /user/\r\nX-User-Id: 43\r\n", "2");
  remains(*state, "X-Original-URI: /user/\r\nX-Real-IP: 192.0.2.1\r\n", "2");
  remains(*state, "X-Original-URI: /user/\r\nX-Real-IP: 192.0.2.1\r\nX-User-Id:\r\n", "1");
  remains(*state, "X-Original-URI: /user/\r\nX-User-Id: %ip=192.0.2.1\r\n", "2");
}

static void what_is_told_in_two_ways_is_refused_with_403(void **state) {
  const char *reply = asked(*state, call("X-Original-URI: /page/1\r\nX-Forwarded-Uri: /free\r\n"));
  starts(reply, "HTTP/1.1 403 Forbidden\r\n");
  holds(reply, "\"detail\":\"target is told in ways that differ; allowed: ");
  reply = asked(*state, call("X-Original-Method: GET\r\nX-Forwarded-Method: HEAD\r\n"));
  holds(reply, "\"detail\":\"method is told in ways that differ; allowed: ");
  reply = asked(*state, call("X-Original-URL: http://a/\r\nX-Forwarded-Host: b\r\n"));
  holds(reply, "\"detail\":\"host is told in ways that differ; allowed: ");
}

static void a_part_that_is_missing_may_be_refused_with_403(void **state) {
  const char *reply = asked(*state, call("X-Original-URI: /closed\r\n"));
  starts(reply, "HTTP/1.1 403 Forbidden\r\n");
  holds(reply, "\"detail\":\"header:x-user-id is missing, and a rule that applies needs it\"");
  holds(asked(*state, call("X-Original-URI: /closed\r\nX-User-Id: 1\r\n")), "\r\nX-RateLimit-Remaining: 2\r\n");
}

/* ---- parameters ---- */

static void bad_parameters_are_400_and_charge_nothing(void **state) {
  const char *reply = asked(*state, "GET /auth?deny=418 HTTP/1.1\r\n" HOST "\r\n");
  starts(reply, "HTTP/1.1 400 Bad Request\r\n");
  holds(reply,
        "\"detail\":\"deny is out of range; allowed: 401, 403, 429 or 503\",\"field\":\"deny\",\"value\":\"418\"");
  reply = asked(*state, "GET /auth?deny=403&deny=429 HTTP/1.1\r\n" HOST "\r\n");
  holds(reply, "\"detail\":\"deny is there twice; allowed: once\"");
  reply = asked(*state, "GET /auth?rule=page&rule=nope HTTP/1.1\r\n" HOST "\r\n");
  holds(reply, "\"detail\":\"rule is not known; allowed: the name of a rule\",\"field\":\"rule\",\"value\":\"nope\"");
  starts(asked(*state, "GET /auth?rule HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 400 ");
  starts(asked(*state, "GET /auth?deny= HTTP/1.1\r\n" HOST "\r\n"), "HTTP/1.1 400 ");
  holds(asked(*state, "GET /auth?rule=page HTTP/1.1\r\n" HOST "\r\n"), "\r\nX-RateLimit-Remaining: 2\r\n");
}

static void named_rules_are_asked_once_each(void **state) {
  const char *reply = asked(*state, "GET /auth?rule=login&rule=page&rule=login&x=y HTTP/1.1\r\n" HOST "\r\n");
  holds(reply, "\r\nRateLimit: \"login\";r=9;t=12, \"page\";r=2;t=40\r\n");
}

static void more_than_sixteen_rules_are_500(void **state) {
  laju_policy policies[17];
  door d;
  (void)state;
  for (size_t i = 0; i < 17; i++) {
    char line[32];
    snprintf(line, sizeof line, "r%zu=1/1m", i);
    policies[i] = made_policy(line, "ip", NULL, NULL);
  }
  door_open_with(&d, &laju_http_codec, policies, 17);
  const char *reply = asked(&d, call(""));
  starts(reply, "HTTP/1.1 500 Internal Server Error\r\n");
  holds(reply, "\"detail\":\"more than 16 rules apply to this request\"");
  door_shut(&d);
}

/* ---- bodies and connections ---- */

static void an_announced_body_is_not_awaited_and_ends_the_connection(void **state) {
  static const char *const heads[] = {
      "POST /auth/free HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\n",
      "POST /auth/free HTTP/1.1\r\n" HOST "Content-Length: 99999999999\r\n\r\n",
      "POST /auth/free HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
      "POST /auth/free HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n",
      "POST /auth/free HTTP/1.1\r\n" HOST
      "Content-Length: 48\r\n\r\nGET /auth?rule=none HTTP/1.1\r\nHost: laju\r\n\r\n",
  };
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    door_reconnect(*state, &laju_http_codec);
    assert_string_equal(asked(*state, heads[i]), OK_EMPTY "Connection: close\r\n\r\n");
    assert_true(((door *)*state)->closed);
  }
}

static void without_a_body_the_connection_stays(void **state) {
  assert_string_equal(asked(*state, "POST /auth/free HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"), OK_EMPTY "\r\n");
  assert_false(((door *)*state)->closed);
}

/* A proxy that lets pass what laju cannot answer must not be made to by its client. */
static void a_head_that_cannot_be_read_is_refused_with_403(void **state) {
  laju_buffer many = {0};
  for (int i = 0; i < 100; i++) laju_buffer_add_text(&many, "A: b\r\n");
  laju_buffer_add(&many, "", 1);
  char *large = malloc(LAJU_HTTP_HEAD_MAX);
  memset(large, 'a', LAJU_HTTP_HEAD_MAX);
  large[LAJU_HTTP_HEAD_MAX - 1] = '\0';
  const char *const rests[] = {many.data, large, "Host: again\r\n\r\n", "Expect: more\r\n\r\n", "A: b\r\n c\r\n\r\n"};
  for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
    door_reconnect(*state, &laju_http_codec);
    asked(*state, "GET /auth?deny=403 HTTP/1.1\r\n" HOST "X-Original-URI: /page/1\r\n");
    const char *reply = asked(*state, rests[i]);
    starts(reply, "HTTP/1.1 403 Forbidden\r\n");
    holds(reply, "\r\nConnection: close\r\n");
  }
  free(large);
  laju_buffer_deinit(&many);
}

/* What a head says is remembered; what its fields are must be too, and not those of another head in between. */
static void the_same_head_again_has_the_same_fields(void **state) {
  door *d = *state;
  remains(d, "X-Original-URI: /user/\r\nX-User-Id: 42\r\n", "2");
  remains(d, "X-Original-URI: /user/\r\nX-User-Id: 42\r\n", "1");
  char longer[1024];
  snprintf(longer, sizeof longer, "GET /auth HTTP/1.1\r\n" HOST "X-Filler: %0600d\r\nX-Original-URI: /free\r\n\r\n", 7);
  assert_string_equal(asked(d, longer), OK_EMPTY "\r\n");
  remains(d, "X-Original-URI: /user/\r\nX-User-Id: 42\r\n", "0");
}

static void pipelined_calls_are_answered_in_order(void **state) {
  laju_buffer text = {0};
  for (int i = 0; i < 300; i++) {
    laju_buffer_add_format(&text, "GET /auth/page/1 HTTP/1.1\r\n" HOST "X-Real-IP: 192.0.2.%d\r\n\r\n", i % 100);
  }
  laju_buffer_add(&text, "", 1);
  const char *reply = asked(*state, text.data);
  size_t answers = 0;
  for (; (reply = strstr(reply, "X-RateLimit-Remaining: ")) != NULL; answers++) {
    reply += 23;
    assert_int_equal(*reply, '2' - (char)(answers / 100));
  }
  assert_int_equal(answers, 300);
  laju_buffer_deinit(&text);
}

/* ---- holding ---- */

#define SHAPED "GET /auth/shape HTTP/1.1\r\n" HOST "\r\n"

static void an_answer_waits_its_turn(void **state) {
  door *d = *state;
  starts(asked(d, SHAPED), "HTTP/1.1 200 ");
  assert_int_equal(d->hold_us, 0);
  starts(asked(d, SHAPED), "HTTP/1.1 200 ");
  assert_int_equal(d->hold_us, 100000);
  starts(asked(d, SHAPED), "HTTP/1.1 200 ");
  assert_int_equal(d->hold_us, 200000);
  starts(asked(d, SHAPED), "HTTP/1.1 429 ");
  assert_int_equal(d->hold_us, 0);
}

static void an_answer_that_may_wait_is_alone_in_its_batch(void **state) {
  door *d = *state;
  asked(d, "GET /auth/free HTTP/1.1\r\n" HOST "\r\n" SHAPED SHAPED "GET /auth/free HTTP/1.1\r\n" HOST "\r\n");
  assert_int_equal(d->rounds, 4);
}

static void a_call_that_is_put_off_is_counted_once(void **state) {
  door *d = *state;
  comes_from(d, "203.0.113.9");
  asked(d, "GET /auth/free HTTP/1.1\r\n" HOST "\r\nGET /auth/shape HTTP/1.1\r\n" HOST "X-Real-IP: 192.0.2.1\r\n\r\n");
  assert_int_equal(d->service.untrusted_forwards, 1);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, open_door, shut_door)
  const struct CMUnitTest tests[] = {
      CLAIM(an_admission_is_an_empty_200_with_its_headers),
      CLAIM(where_no_rule_applies_it_is_200_without_headers),
      CLAIM(the_fourth_of_three_is_refused_with_429),
      CLAIM(a_refusal_has_the_status_that_was_asked_for),
      CLAIM(the_answer_to_head_has_no_body),
      CLAIM(any_method_may_ask),
      CLAIM(the_path_may_stand_behind_auth),
      CLAIM(all_that_match_are_charged_or_none),
      CLAIM(a_rule_in_shadow_refuses_nothing_and_is_not_shown),
      CLAIM(no_way_to_write_a_path_passes_a_rule_by),
      CLAIM(a_spoofed_hop_changes_nothing),
      CLAIM(a_stranger_s_forwarding_fields_change_nothing_and_are_counted),
      CLAIM(neighbours_in_one_64_share_a_limit),
      CLAIM(a_mapped_address_is_the_v4_one),
      CLAIM(a_dropped_header_counts_by_address),
      CLAIM(what_is_told_in_two_ways_is_refused_with_403),
      CLAIM(a_part_that_is_missing_may_be_refused_with_403),
      CLAIM(bad_parameters_are_400_and_charge_nothing),
      CLAIM(named_rules_are_asked_once_each),
      CLAIM(more_than_sixteen_rules_are_500),
      CLAIM(an_announced_body_is_not_awaited_and_ends_the_connection),
      CLAIM(without_a_body_the_connection_stays),
      CLAIM(a_head_that_cannot_be_read_is_refused_with_403),
      CLAIM(the_same_head_again_has_the_same_fields),
      CLAIM(pipelined_calls_are_answered_in_order),
      CLAIM(an_answer_waits_its_turn),
      CLAIM(an_answer_that_may_wait_is_alone_in_its_batch),
      CLAIM(a_call_that_is_put_off_is_counted_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
