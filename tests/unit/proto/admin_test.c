#include "proto/admin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/admin_door.h"

#define HEAD_OK "HTTP/1.1 200 OK\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define GUARDS                                                                                                                  \
  "Content-Security-Policy: default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " \
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n"                                         \
  "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"                                \
  "Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n"

static int make(void **state) {
  static desk k;
  desk_open(&k);
  *state = &k;
  return 0;
}

static int end(void **state) {
  desk_shut(*state);
  return 0;
}

static void holds(const char *reply, const char *expected) {
  if (strstr(reply, expected) == NULL) fail_msg("%s\ndoes not hold %s", reply, expected);
}

static void holds_not(const char *reply, const char *other) {
  if (strstr(reply, other) != NULL) fail_msg("%s\nholds %s", reply, other);
}

static int status_of(const char *reply) {
  int status = 0;
  sscanf(reply, "HTTP/1.1 %d", &status);
  return status;
}

static const char *got(desk *k, const char *path) {
  char line[512];
  snprintf(line, sizeof line, "GET %s", path);
  return desk_asked(k, line, "", NULL);
}

static const char *put(desk *k, const char *rule, const char *key, const char *body) {
  char line[512];
  snprintf(line, sizeof line, "PUT /v1/keys?rule=%s&key=%s", rule, key);
  return desk_asked(k, line, "", body);
}

/* ---- routes ---- */

static void every_answer_is_guarded_and_kept_nowhere(void **state) {
  assert_string_equal(got(*state, "/healthz"), HEAD_OK
                      "Content-Type: application/json\r\nContent-Length: 15\r\nCache-Control: no-store\r\n" GUARDS
                      "\r\n{\"status\":\"ok\"}");
  holds(got(*state, "/no/such"), GUARDS);
  holds(desk_asked(*state, "GET /v1/status", "Host: evil.example\r\n", NULL), GUARDS);
}

static void each_route_answers_with_what_it_is_for(void **state) {
  holds(got(*state, "/metrics"), "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 13\r\n");
  holds(got(*state, "/metrics"), "\r\n\r\nlaju_rules 3\n");
  holds(got(*state, "/v1/status"), "\r\n\r\n{\"version\":\"0\"}");
  holds(got(*state, "/v1/rules"),
        "{\"rules\":[{\"name\":\"login\",\"algorithm\":\"token-bucket\",\"limit\":5,\"burst\":10,");
  holds(got(*state, "/v1/overrides"), "\r\n\r\n{\"overrides\":[]}");
  holds(got(*state, "/v1/top"), "\r\n\r\n{\"half_life_s\":600,\"keys\":[]}");
  holds(
      got(*state, "/v1/keys?rule=login&key=ada"),
      "\r\n\r\n{\"rule\":\"login\",\"key\":\"ada\",\"masked\":false,\"limit\":10,\"remaining\":10,\"more_after_ms\":0,"
      "\"reset_after_ms\":0,\"delay_ms\":0,\"override\":null}");
}

static void the_page_s_files_have_an_etag_and_are_sent_once(void **state) {
  holds(got(*state, "/?seed=7"),
        "Content-Type: text/html\r\nContent-Length: 3\r\nETag: \"abc\"\r\nCache-Control: no-cache\r\n");
  const char *again = desk_asked(*state, "GET /index.html", "If-None-Match: W/\"abc\"\r\n", NULL);
  assert_int_equal(status_of(again), 304);
  assert_string_equal(strstr(again, "\r\n\r\n"), "\r\n\r\n");
  assert_int_equal(status_of(desk_asked(*state, "GET /", "If-None-Match: \"abd\"\r\n", NULL)), 200);
}

static bool find_nothing(const char *path, size_t len, laju_admin_file *out) {
  (void)path;
  (void)len;
  (void)out;
  return false;
}

static void without_a_page_its_place_says_how_to_get_one(void **state) {
  desk *k = *state;
  k->admin.find_file = find_nothing;
  const char *paths[] = {"/", "/?seed=7", "/index.html"};
  for (size_t i = 0; i < 3; i++) {
    const char *reply = got(k, paths[i]);
    assert_int_equal(status_of(reply), 404);
    holds(reply, "Content-Type: text/plain; charset=utf-8\r\n");
    holds(reply, "This laju was built without its page.");
    holds(reply, "script/bootstrap");
  }
  holds(got(k, "/app.js"), "Content-Type: application/problem+json\r\n");
}

static void head_tells_the_length_and_sends_nothing(void **state) {
  const char *reply = desk_asked(*state, "HEAD /metrics", "", NULL);
  holds(reply, "Content-Length: 13\r\n");
  assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");
  holds(desk_asked(*state, "HEAD /v1/events", "", NULL), "Content-Type: text/event-stream\r\n");
  assert_int_equal(status_of(got(*state, "/healthz")), 200); /* it is no subscriber */
}

static void other_paths_and_methods_are_refused(void **state) {
  holds(got(*state, "/v1/check"), "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,");
  const char *reply = desk_asked(*state, "POST /v1/keys?rule=login&key=a", "", "{}");
  assert_int_equal(status_of(reply), 405);
  holds(reply, "Allow: GET, HEAD, PUT, DELETE\r\n");
  assert_int_equal(status_of(desk_asked(*state, "DELETE /metrics", "", NULL)), 405);
}

static void several_requests_in_one_piece_are_answered_in_order(void **state) {
  const char *replies = desk_fed(*state,
                                 "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                 "GET /no HTTP/1.1\r\nHost: localhost\r\n\r\n"
                                 "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                                 "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const char *first = strstr(replies, "laju_rules 3"), *second = strstr(replies, "\"status\":404"),
             *third = strstr(replies, "{\"status\":\"ok\"}");
  assert_true(first != NULL && second > first && third > second);
  assert_null(strstr(third + 1, "HTTP/1.1"));
  assert_true(((desk *)*state)->d.closed);
}

static void how_bytes_were_split_changes_nothing(void **state) {
  desk *k = *state;
  const char *text =
      "PUT /v1/keys?rule=login&key=a+b HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\n{\"lim\r\n22\r\nit\":7,\"burst\":8,\"expires_in\":\"1h\"}\r\n0\r\n\r\n";
  for (const char *at = text; *at != '\0'; at++) door_feed(&k->d, &laju_admin_codec, at, 1);
  const char *reply = desk_replies(k);
  assert_int_equal(status_of(reply), 200);
  holds(reply, "{\"rule\":\"login\",\"key\":\"a b\",\"masked\":false,\"limit\":7,\"burst\":8,\"expires_ms\":");
}

static void bodies_that_are_too_long_end_the_connection(void **state) {
  desk *k = *state;
  assert_int_equal(
      status_of(desk_fed(k, "PUT /v1/keys?rule=a&key=b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4097\r\n\r\n")),
      413);
  assert_true(k->d.closed);
  desk_reconnect(k);
  static char text[8192];
  int len =
      snprintf(text, sizeof text,
               "PUT /v1/keys?rule=a&key=b HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1001\r\n");
  memset(text + len, 'x', 4097);
  assert_int_equal(status_of(desk_fed(k, text)), 413);
  assert_true(k->d.closed);
}

/* Two thousand bytes, and seventeen times as many around them. */
static void a_body_in_pieces_that_are_all_framing_ends_the_connection(void **state) {
  desk *k = *state;
  static const char head[] =
      "PUT /v1/keys?rule=a&key=b HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  door_feed(&k->d, &laju_admin_codec, head, sizeof head - 1);
  for (int i = 0; i < 2000; i++) door_feed(&k->d, &laju_admin_codec, "1;extended=1\r\nx\r\n", 17);
  assert_int_equal(status_of(desk_replies(k)), 413);
  assert_true(k->d.closed);
}

/* Of a rule whose keys stand with others of their group. */
static void a_key_is_looked_for_in_the_group_that_is_named(void **state) {
  desk *k = *state;
  char text[] = "GET /v1/keys?rule=login&key=a&group=tenant+7 HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ((laju_rule *)(uintptr_t)&laju_ruleset_find(k->d.rules, "login", 5)->rule)->grouped = true;
  laju_batch_clear(k->d.batch);
  laju_admin_codec.parse(k->d.connection, text, sizeof text - 1, k->d.batch);
  assert_int_equal(k->d.batch->check_count, 1);
  assert_true(laju_slice_equal(k->d.batch->groups[0], (laju_slice){"tenant 7", 8}));
}

static void a_client_that_waits_for_leave_gets_it(void **state) {
  desk *k = *state;
  assert_string_equal(desk_fed(k,
                               "PUT /v1/keys?rule=login&key=b HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                               "Content-Length: 29\r\n\r\n"),
                      "HTTP/1.1 100 Continue\r\n\r\n");
  assert_true(laju_admin_codec.unfinished(k->d.connection));
  assert_int_equal(status_of(desk_fed(k, "{\"limit\":1,\"expires_in\":\"1h\"}")), 200);
}

static void one_who_is_too_slow_is_told_so(void **state) {
  desk *k = *state;
  desk_fed(k, "GET /metrics HT");
  laju_admin_codec.give_up(k->d.connection, &k->d.out);
  assert_int_equal(status_of(desk_replies(k)), 408);
}

/* ---- keys ---- */

static void an_override_decides_and_ends_as_it_is_told(void **state) {
  desk *k = *state;
  holds(put(k, "login", "ada", "{\"limit\":100,\"burst\":200,\"expires_in\":\"1h\"}"), "\"limit\":100,\"burst\":200,");
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"limit\":200,\"remaining\":200,");
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"override\":{\"limit\":100,\"burst\":200,\"expires_ms\":");
  holds(got(k, "/v1/keys?rule=login&key=grace"), "\"limit\":10,");
  holds(got(k, "/v1/overrides"), "{\"overrides\":[{\"rule\":\"login\",\"key\":\"ada\",\"masked\":false,\"limit\":100,");
  holds(desk_asked(k, "DELETE /v1/overrides?rule=login&key=ada", "", NULL), "\r\n\r\n{\"known\":true}");
  holds(desk_asked(k, "DELETE /v1/overrides?rule=login&key=ada", "", NULL), "\r\n\r\n{\"known\":false}");
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"limit\":10,");
}

static void a_reset_forgets_what_was_used(void **state) {
  desk *k = *state;
  laju_rule rule = laju_ruleset_at(k->d.rules, 0)->rule;
  laju_check check = {.rule = &rule, .key = "ada", .key_len = 3, .cost = 4};
  laju_decision decision;
  laju_limiter_decide_all(k->d.service.limiter, &check, 1, DOOR_NOW_US, &decision);
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"remaining\":6,");
  holds(desk_asked(k, "DELETE /v1/keys?rule=login&key=ada", "", NULL), "\r\n\r\n{\"known\":true}");
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"remaining\":10,");
  holds(desk_asked(k, "DELETE /v1/keys?rule=login&key=ada", "", NULL), "\r\n\r\n{\"known\":false}");
}

static void a_secret_rule_s_override_keeps_no_text(void **state) {
  desk *k = *state;
  put(k, "vault", "hunter2hunter2", "{\"limit\":100,\"expires_in\":\"1h\"}");
  holds(got(k, "/v1/keys?rule=vault&key=hunter2hunter2"), "\"key\":\"hun…");
  holds(got(k, "/v1/keys?rule=vault&key=hunter2hunter2"), "\"limit\":100,");
  holds_not(got(k, "/v1/overrides"), "hun");
}

static void a_change_that_takes_a_while_is_answered_when_it_is_done(void **state) {
  desk *k = *state;
  k->waits = true;
  assert_string_equal(put(k, "login", "ada", "{\"limit\":100,\"expires_in\":\"1h\"}"), "");
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NOTHING);
  desk_finish(k, k->pending);
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_ANSWER);
  const char *reply = desk_replies(k);
  assert_int_equal(status_of(reply), 200);
  holds(reply, "\"limit\":100,");
  assert_int_equal(status_of(got(k, "/healthz")), 200);
}

static void a_change_whose_client_went_away_is_made_all_the_same(void **state) {
  desk *k = *state;
  k->waits = true;
  put(k, "login", "ada", "{\"limit\":100,\"expires_in\":\"1h\"}");
  laju_admin_change *pending = k->pending;
  desk_reconnect(k);
  desk_finish(k, pending);
  holds(got(k, "/v1/keys?rule=login&key=ada"), "\"limit\":100,");
}

static void changes_that_were_not_made_are_told(void **state) {
  desk *k = *state;
  k->waits = true;
  put(k, "login", "ada", "{\"limit\":100,\"expires_in\":\"1h\"}");
  k->pending->result = LAJU_CHANGE_UNANSWERED;
  k->pending->done = true;
  k->pending = NULL;
  laju_admin_codec.push(k->d.connection, &k->d.out);
  assert_int_equal(status_of(desk_replies(k)), 503);
  put(k, "login", "ada", "{\"limit\":100,\"expires_in\":\"1h\"}");
  k->pending->result = LAJU_CHANGE_FULL;
  k->pending->done = true;
  k->pending = NULL;
  laju_admin_codec.push(k->d.connection, &k->d.out);
  assert_int_equal(status_of(desk_replies(k)), 409);
}

/* ---- events ---- */

static void a_subscriber_gets_the_status_at_once_and_then_each_event(void **state) {
  desk *k = *state;
  const char *reply = got(k, "/v1/events");
  holds(reply, "Content-Type: text/event-stream\r\n");
  holds(reply, "Connection: close\r\n");
  holds_not(reply, "Content-Length");
  holds(reply, "\r\n\r\nevent: status\ndata: {\"version\":\"0\"}\n\n");
  assert_false(laju_admin_codec.unfinished(k->d.connection));
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NOTHING);
  laju_buffer_add_text(&k->admin.event, "{}");
  k->admin.event_number++;
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NEWS);
  assert_string_equal(desk_replies(k), "event: status\ndata: {}\n\n");
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NOTHING);
  assert_string_equal(got(k, "/healthz"), ""); /* nobody listens to it any more */
}

static void the_seventeenth_subscriber_is_refused_until_one_leaves(void **state) {
  desk *k = *state;
  k->admin.subscribers = LAJU_ADMIN_SUBSCRIBERS_MAX - 1;
  holds(got(k, "/v1/events"), "event: status");
  void *sixteenth = k->d.connection;
  k->d.connection = calloc(1, laju_admin_codec.connection_size);
  laju_admin_codec.init(k->d.connection, &k->d.service, &k->d.peer);
  assert_int_equal(status_of(got(k, "/v1/events")), 503);
  laju_admin_codec.leave(sixteenth);
  free(sixteenth);
  holds(got(k, "/v1/events"), "event: status");
}

/* ---- tokens and sessions ---- */

static const char *session_of(const char *reply) {
  static char cookie[128];
  const char *at = strstr(reply, "Set-Cookie: laju_session=");
  assert_non_null(at);
  snprintf(cookie, sizeof cookie, "Cookie: laju_session=%.32s\r\n", at + 25);
  return cookie;
}

static void with_a_token_all_but_the_page_needs_it(void **state) {
  desk *k = *state;
  k->d.terms.admin_token = "open barley";
  static const char *const closed[] = {"/metrics",      "/v1/status", "/v1/events",          "/v1/rules",
                                       "/v1/overrides", "/v1/top",    "/v1/keys?rule=nosuch"};
  for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
    const char *reply = got(k, closed[i]);
    assert_int_equal(status_of(reply), 401);
    holds(reply, "WWW-Authenticate: Bearer realm=\"laju\"\r\n");
  }
  assert_int_equal(status_of(got(k, "/")), 200);
  assert_int_equal(status_of(got(k, "/healthz")), 200);
  assert_int_equal(status_of(desk_asked(k, "GET /metrics", "Authorization: Bearer open barley\r\n", NULL)), 200);
  assert_int_equal(k->d.hold_us, 0);
}

static void every_wrong_token_gets_the_same_answer_and_late(void **state) {
  desk *k = *state;
  static const char *const guesses[] = {"open barley2", "open barle", "open barlex", "x", "open barleyopen barley"};
  char first[2048] = "";
  k->d.terms.admin_token = "open barley";
  for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
    char field[128];
    snprintf(field, sizeof field, "Authorization: Bearer %s\r\n", guesses[i]);
    const char *reply = desk_asked(k, "GET /metrics", field, NULL);
    assert_int_equal(k->d.hold_us, INT64_C(1000) * LAJU_ADMIN_GUESS_MS);
    if (i == 0) snprintf(first, sizeof first, "%s", reply);
    assert_string_equal(reply, first);
  }
  assert_int_equal(atomic_load(&k->admin.guesses), 5);
}

static void a_session_is_bought_used_and_ended(void **state) {
  desk *k = *state;
  char cookie[128];
  k->d.terms.admin_token = "open barley";
  const char *reply = desk_asked(k, "POST /v1/session", "", "{\"token\":\"open barley\"}");
  holds(reply, "; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200\r\n");
  holds_not(reply, "Secure");
  snprintf(cookie, sizeof cookie, "%s", session_of(reply));
  assert_int_equal(status_of(desk_asked(k, "GET /v1/status", cookie, NULL)), 200);
  assert_int_equal(status_of(desk_asked(k, "DELETE /v1/keys?rule=login&key=a", cookie, NULL)), 403);
  char with_origin[256];
  snprintf(with_origin, sizeof with_origin, "%sOrigin: http://127.0.0.1:8082\r\n", cookie);
  assert_int_equal(status_of(desk_asked(k, "DELETE /v1/keys?rule=login&key=a", with_origin, NULL)), 200);
  holds(desk_asked(k, "DELETE /v1/session", cookie, NULL), "Set-Cookie: laju_session=; Path=/;");
  assert_int_equal(status_of(desk_asked(k, "GET /v1/status", cookie, NULL)), 401);
}

static void the_page_is_told_whether_it_is_let_in(void **state) {
  desk *k = *state;
  char cookie[128];
  holds(got(k, "/v1/session"), "{\"needed\":false,\"open\":true}");
  k->admin.exposed = true;
  holds(got(k, "/v1/session"), "{\"needed\":false,\"open\":false}");
  k->d.terms.admin_token = "open barley";
  holds(got(k, "/v1/session"), "{\"needed\":true,\"open\":false}");
  snprintf(cookie, sizeof cookie, "%s",
           session_of(desk_asked(k, "POST /v1/session", "", "{\"token\":\"open barley\"}")));
  holds(desk_asked(k, "GET /v1/session", cookie, NULL), "{\"needed\":true,\"open\":true}");
}

/* The next event is the stream's last. */
static void is_sent_away(desk *k) {
  size_t before = k->admin.subscribers;
  k->admin.event_number++;
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_LAST);
  assert_string_equal(desk_replies(k), "");
  assert_int_equal(k->admin.subscribers, before - 1);
  desk_reconnect(k);
  assert_int_equal(k->admin.subscribers, before - 1);
}

static void a_subscriber_goes_with_the_token_or_the_session_that_let_it_in(void **state) {
  desk *k = *state;
  char cookie[128];
  holds(got(k, "/v1/events"), "event: status"); /* by no token at all */
  k->d.terms.admin_token = "open barley";
  is_sent_away(k);
  holds(desk_asked(k, "GET /v1/events", "Authorization: Bearer open barley\r\n", NULL), "event: status");
  k->admin.event_number++;
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NEWS);
  desk_replies(k);
  k->d.terms.admin_token = "open wheat";
  is_sent_away(k);
  snprintf(cookie, sizeof cookie, "%s",
           session_of(desk_asked(k, "POST /v1/session", "", "{\"token\":\"open wheat\"}")));
  holds(desk_asked(k, "GET /v1/events", cookie, NULL), "event: status");
  k->admin.event_number++;
  assert_int_equal(laju_admin_codec.push(k->d.connection, &k->d.out), LAJU_PUSHED_NEWS);
  desk_replies(k);
  assert_true(laju_sessions_end(&k->admin.sessions, (laju_slice){strchr(cookie, '=') + 1, LAJU_SESSION_LEN}));
  is_sent_away(k);
}

static void a_session_is_not_sold_for_less(void **state) {
  desk *k = *state;
  assert_int_equal(status_of(desk_asked(k, "POST /v1/session", "", "{\"token\":\"x\"}")), 409);
  k->d.terms.admin_token = "open barley";
  assert_int_equal(status_of(desk_asked(k, "POST /v1/session", "", "{\"token\":\"x\"}")), 401);
  assert_int_equal(k->d.hold_us, INT64_C(1000) * LAJU_ADMIN_GUESS_MS);
  assert_int_equal(status_of(desk_asked(k, "POST /v1/session", "", "{\"tok\":\"x\"}")), 400);
  assert_int_equal(status_of(desk_asked(k, "POST /v1/session", "", NULL)), 400);
}

static void over_tls_the_cookie_is_for_tls_alone(void **state) {
  desk *k = *state;
  k->d.terms.admin_token = "open barley";
  k->admin.secure = true;
  holds(desk_asked(k, "POST /v1/session", "Authorization: Bearer open barley\r\n", NULL), "; Secure; Path=/;");
}

/* ---- draining ---- */

static void while_it_drains_an_answer_is_the_last(void **state) {
  desk *k = *state;
  atomic_store(&k->d.service.stage, LAJU_DRAINING);
  holds(got(k, "/healthz"), "Connection: close\r\n");
  assert_true(k->d.closed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_answer_is_guarded_and_kept_nowhere),
      TEST(each_route_answers_with_what_it_is_for),
      TEST(the_page_s_files_have_an_etag_and_are_sent_once),
      TEST(without_a_page_its_place_says_how_to_get_one),
      TEST(head_tells_the_length_and_sends_nothing),
      TEST(other_paths_and_methods_are_refused),
      TEST(several_requests_in_one_piece_are_answered_in_order),
      TEST(how_bytes_were_split_changes_nothing),
      TEST(bodies_that_are_too_long_end_the_connection),
      TEST(a_body_in_pieces_that_are_all_framing_ends_the_connection),
      TEST(a_key_is_looked_for_in_the_group_that_is_named),
      TEST(a_client_that_waits_for_leave_gets_it),
      TEST(one_who_is_too_slow_is_told_so),
      TEST(an_override_decides_and_ends_as_it_is_told),
      TEST(a_reset_forgets_what_was_used),
      TEST(a_secret_rule_s_override_keeps_no_text),
      TEST(a_change_that_takes_a_while_is_answered_when_it_is_done),
      TEST(a_change_whose_client_went_away_is_made_all_the_same),
      TEST(changes_that_were_not_made_are_told),
      TEST(a_subscriber_gets_the_status_at_once_and_then_each_event),
      TEST(the_seventeenth_subscriber_is_refused_until_one_leaves),
      TEST(with_a_token_all_but_the_page_needs_it),
      TEST(every_wrong_token_gets_the_same_answer_and_late),
      TEST(a_session_is_bought_used_and_ended),
      TEST(the_page_is_told_whether_it_is_let_in),
      TEST(a_subscriber_goes_with_the_token_or_the_session_that_let_it_in),
      TEST(a_session_is_not_sold_for_less),
      TEST(over_tls_the_cookie_is_for_tls_alone),
      TEST(while_it_drains_an_answer_is_the_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
