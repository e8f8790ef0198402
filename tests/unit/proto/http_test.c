#include "proto/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "proto/http_door.h"

#define DATE "Date: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
#define JSON "Content-Type: application/json\r\n"
#define LOGIN_9 \
  "{\"allowed\":true,\"rule\":\"login\",\"limit\":10,\"remaining\":9,\"retry_after_ms\":0,\"reset_after_ms\":12000,\"delay_ms\":0}"
#define LOGIN_HEADERS_9 \
  "X-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 9\r\nX-RateLimit-Reset: 1700000012\r\nRateLimit-Policy: \"login\";q=10;w=120\r\nRateLimit: \"login\";r=9;t=12\r\n"
#define CHECK_LOGIN \
  "POST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 31\r\n\r\n{\"rule\":\"login\",\"key\":\"user:42\"}"
#define HEALTH "GET /healthz HTTP/1.1\r\nHost: laju\r\n\r\n"
#define HEALTHY "HTTP/1.1 200 OK\r\n" DATE JSON "Content-Length: 15\r\n\r\n{\"status\":\"ok\"}"

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

static void feed(door *d, const char *text) {
  door_feed(d, &laju_http_codec, text, strlen(text));
}

/* All replies so far, as text; the next ones begin anew. */
static const char *replies(door *d) {
  laju_buffer_add(&d->out, "", 1);
  laju_buffer_clear(&d->out);
  return d->out.data;
}

static const char *asked(door *d, const char *text) {
  feed(d, text);
  return replies(d);
}

static void starts(const char *reply, const char *expected) {
  if (strncmp(reply, expected, strlen(expected)) != 0) fail_msg("%s\ndoes not start with %s", reply, expected);
}

static void holds(const char *reply, const char *expected) {
  if (strstr(reply, expected) == NULL) fail_msg("%s\ndoes not hold %s", reply, expected);
}

static size_t count_of(const char *reply, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(reply, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

/* A POST of `body`. Static memory. */
static const char *post(const char *path, const char *body) {
  static char text[4096];
  snprintf(text, sizeof text, "POST %s HTTP/1.1\r\nHost: laju\r\nContent-Length: %zu\r\n\r\n%s", path, strlen(body),
           body);
  return text;
}

/* ---- checks ---- */

static void an_admission_is_answered_200_with_its_headers(void **state) {
  assert_string_equal(asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"user:42\",\"cost\":1}")),
                      "HTTP/1.1 200 OK\r\n" DATE JSON "Content-Length: 111\r\n" LOGIN_HEADERS_9 "\r\n" LOGIN_9);
}

static void a_denial_is_answered_429_with_the_wait(void **state) {
  asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"k\",\"cost\":10}"));
  assert_string_equal(
      asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"k\",\"cost\":2}")),
      "HTTP/1.1 429 Too Many Requests\r\n" DATE JSON
      "Content-Length: 117\r\nX-RateLimit-Limit: 10\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 1700000120\r\n"
      "RateLimit-Policy: \"login\";q=10;w=120\r\nRateLimit: \"login\";r=0;t=12\r\nRetry-After: 24\r\n\r\n"
      "{\"allowed\":false,\"rule\":\"login\",\"limit\":10,\"remaining\":0,\"retry_after_ms\":24000,\"reset_after_ms\":120000,"
      "\"delay_ms\":0}");
}

static void where_waiting_cannot_help_there_is_no_retry_after(void **state) {
  const char *reply = asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"k\",\"cost\":11}"));
  starts(reply, "HTTP/1.1 429 ");
  holds(reply, "\"retry_after_ms\":null,");
  assert_null(strstr(reply, "Retry-After"));
}

static void a_queue_tells_the_delay_in_whole_milliseconds(void **state) {
  const char *body = "{\"limit\":3,\"per\":\"1s\",\"algorithm\":\"leaky-bucket\",\"burst\":5,\"key\":\"k\"}";
  asked(*state, post("/v1/check", body));
  holds(asked(*state, post("/v1/check", body)),
        "\"rule\":\"inline\",\"limit\":5,\"remaining\":3,\"retry_after_ms\":0,"
        "\"reset_after_ms\":667,\"delay_ms\":334}"); /* 333,334 us */
}

static void several_checks_are_charged_all_or_none(void **state) {
  const char *reply = asked(*state, post("/v1/check",
                                         "{\"checks\":[{\"rule\":\"login\",\"key\":\"a\",\"cost\":4},"
                                         "{\"rule\":\"none\",\"key\":\"a\"}]}"));
  starts(reply, "HTTP/1.1 429 Too Many Requests\r\n");
  holds(reply,
        "\r\n\r\n{\"allowed\":false,\"rule\":\"none\",\"limit\":0,\"remaining\":0,\"retry_after_ms\":null,"
        "\"reset_after_ms\":0,\"delay_ms\":0,\"decisions\":[{\"allowed\":true,\"rule\":\"login\",\"limit\":10,"
        "\"remaining\":6,");
  holds(reply,
        "RateLimit-Policy: \"login\";q=10;w=120, \"none\";q=0\r\nRateLimit: \"login\";r=6;t=12, \"none\";r=0\r\n");
  assert_null(strstr(reply, "Retry-After"));
  holds(asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"a\",\"cost\":0}")), "\"remaining\":10,");
}

static void a_list_of_one_check_still_has_decisions(void **state) {
  const char *reply = asked(*state, post("/v1/check", "{\"checks\":[{\"rule\":\"login\",\"key\":\"user:42\"}]}"));
  starts(reply, "HTTP/1.1 200 OK\r\n");
  holds(reply, "\"delay_ms\":0,\"decisions\":[" LOGIN_9 "]}");
}

#define GHOST "{\"rule\":\"ghost\",\"key\":\"user:42\"}"

static void a_rule_in_shadow_says_what_it_would_have_done(void **state) {
  const char *reply = asked(*state, post("/v1/check", GHOST));
  starts(reply, "HTTP/1.1 200 OK\r\n");
  holds(reply, ",\"delay_ms\":0,\"shadow\":\"allowed\"}");
  reply = asked(*state, post("/v1/check", GHOST));
  starts(reply, "HTTP/1.1 200 OK\r\n");
  assert_null(strstr(reply, "RateLimit"));
  assert_null(strstr(reply, "Retry-After"));
  holds(reply,
        "{\"allowed\":true,\"rule\":\"ghost\",\"limit\":1,\"remaining\":0,\"retry_after_ms\":0,"
        "\"reset_after_ms\":60000,\"delay_ms\":0,\"shadow\":\"denied\"}");
}

static void a_rule_in_shadow_does_not_speak_for_an_enforced_one(void **state) {
  asked(*state, post("/v1/check", GHOST));
  const char *reply =
      asked(*state, post("/v1/check", "{\"checks\":[" GHOST ",{\"rule\":\"login\",\"key\":\"user:42\"}]}"));
  holds(reply, LOGIN_HEADERS_9 "\r\n{\"allowed\":true,\"rule\":\"login\",\"limit\":10,\"remaining\":9,");
  holds(reply, "\"decisions\":[{\"allowed\":true,\"rule\":\"ghost\",");
}

static void a_batch_is_answered_200_with_a_list_and_no_limit_headers(void **state) {
  const char *reply = asked(*state, post("/v1/batch",
                                         "[{\"rule\":\"login\",\"key\":\"user:42\"},"
                                         "{\"rule\":\"none\",\"key\":\"b\"}]"));
  starts(reply, "HTTP/1.1 200 OK\r\n" DATE JSON "Content-Length: 223\r\n\r\n[" LOGIN_9
                ",{\"allowed\":false,\"rule\":\"none\"");
}

static void a_malformed_batch_charges_nothing(void **state) {
  const char *reply = asked(
      *state, post("/v1/batch", "[{\"rule\":\"login\",\"key\":\"k\"},{\"rule\":\"login\",\"key\":\"k\",\"cost\":-1}]"));
  starts(reply, "HTTP/1.1 400 Bad Request\r\n" DATE "Content-Type: application/problem+json\r\n");
  holds(reply, "\"field\":\"[1].cost\",\"value\":-1,\"allowed\":\"a whole number from 0 to 4294967295\"}");
  holds(asked(*state, post("/v1/check", "{\"rule\":\"login\",\"key\":\"k\",\"cost\":0}")), "\"remaining\":10,");
}

static void a_thousand_checks_in_one_batch_and_again_in_the_same_bytes(void **state) {
  door *d = *state;
  laju_buffer body = {0}, text = {0};
  for (size_t i = 0; i < 1000; i++)
    laju_buffer_add_text(&body, i == 0 ? "[{\"rule\":\"api\",\"key\":\"a\"}" : ",{\"rule\":\"api\",\"key\":\"b\"}");
  laju_buffer_add_text(&body, "]");
  for (size_t i = 0; i < 2; i++) {
    laju_buffer_add_format(&text, "POST /v1/batch HTTP/1.1\r\nHost: laju\r\nContent-Length: %zu\r\n\r\n", body.len);
    laju_buffer_add(&text, body.data, body.len);
  }
  door_feed(d, &laju_http_codec, text.data, text.len);
  const char *reply = replies(d);
  assert_int_equal(count_of(reply, "HTTP/1.1 200 OK\r\n"), 2);
  assert_int_equal(count_of(reply, "\"allowed\":true"), 2 + 100);
  assert_int_equal(count_of(reply, "\"allowed\":false"), 1998 - 100);
  assert_int_equal(d->rounds, 2); /* the second did not fit beside the first */
  laju_buffer_deinit(&body);
  laju_buffer_deinit(&text);
}

/* ---- routes ---- */

static void health_is_always_well(void **state) {
  assert_string_equal(asked(*state, HEALTH), HEALTHY);
  assert_string_equal(asked(*state, "GET /healthz?probe=1 HTTP/1.1\r\nHost: laju\r\n\r\n"), HEALTHY);
  assert_string_equal(asked(*state, "GET http://laju/healthz HTTP/1.1\r\nHost: laju\r\n\r\n"), HEALTHY);
  starts(asked(*state, "GET http://laju?/healthz HTTP/1.1\r\nHost: laju\r\n\r\n"), "HTTP/1.1 404 ");
}

static void head_is_get_without_the_body(void **state) {
  assert_string_equal(asked(*state, "HEAD /healthz HTTP/1.1\r\nHost: laju\r\n\r\n" HEALTH),
                      "HTTP/1.1 200 OK\r\n" DATE JSON "Content-Length: 15\r\n\r\n" HEALTHY);
}

static void readiness_follows_the_stage(void **state) {
  door *d = *state;
  const char *ask = "GET /readyz HTTP/1.1\r\nHost: laju\r\n\r\n";
  holds(asked(d, ask), "HTTP/1.1 200 OK\r\n");
  holds(asked(d, ask), "{\"status\":\"ready\",\"store\":\"embedded\"}");
  atomic_store(&d->service.stage, LAJU_STARTING);
  const char *reply = asked(d, ask);
  starts(reply, "HTTP/1.1 503 Service Unavailable\r\n");
  holds(reply, "{\"status\":\"starting\"}");
  atomic_store(&d->service.stage, LAJU_DRAINING);
  reply = asked(d, ask);
  starts(reply, "HTTP/1.1 503 Service Unavailable\r\n");
  holds(reply, "{\"status\":\"draining\"}");
}

static void readiness_tells_of_the_store_and_minds_it_where_asked_to(void **state) {
  door *d = *state;
  const char *ask = "GET /readyz HTTP/1.1\r\nHost: laju\r\n\r\n";
  const char *minding = "GET /readyz?x=y&store=1 HTTP/1.1\r\nHost: laju\r\n\r\n";
  holds(asked(d, minding), "{\"status\":\"ready\",\"store\":\"embedded\"}");
  d->service.stores = 2;
  atomic_store(&d->service.stores_up, 1);
  holds(asked(d, ask), "HTTP/1.1 200 OK\r\n");
  holds(asked(d, ask), "{\"status\":\"ready\",\"store\":\"down\"}");
  holds(asked(d, "GET /readyz?store=0 HTTP/1.1\r\nHost: laju\r\n\r\n"), "HTTP/1.1 200 OK\r\n");
  holds(asked(d, minding), "HTTP/1.1 503 Service Unavailable\r\n");
  holds(asked(d, minding), "{\"status\":\"degraded\",\"store\":\"down\"}");
  atomic_store(&d->service.stores_up, 2);
  holds(asked(d, ask), "{\"status\":\"ready\",\"store\":\"up\"}");
  holds(asked(d, minding), "HTTP/1.1 200 OK\r\n");
}

static void readiness_takes_no_other_word_for_the_store(void **state) {
  const char *reply = asked(*state, "GET /readyz?store=yes HTTP/1.1\r\nHost: laju\r\n\r\n");
  starts(reply, "HTTP/1.1 400 Bad Request\r\n");
  holds(reply, "\"field\":\"store\",\"value\":\"yes\",\"allowed\":\"0 or 1\"}");
  starts(asked(*state, "GET /readyz?store HTTP/1.1\r\nHost: laju\r\n\r\n"), "HTTP/1.1 400 ");
}

static void unknown_paths_are_404_and_name_the_routes(void **state) {
  door *d = *state;
  const char *reply = asked(d, "GET /metrics HTTP/1.1\r\nHost: laju\r\n\r\n");
  starts(reply, "HTTP/1.1 404 Not Found\r\n");
  holds(reply,
        "\"value\":\"/metrics\",\"allowed\":\"POST /v1/check, POST /v1/batch, GET /healthz, GET /readyz, /auth\"}");
  starts(asked(d, "POST /v1/checks HTTP/1.1\r\nHost: laju\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.1 404 ");
  starts(asked(d, "OPTIONS * HTTP/1.1\r\nHost: laju\r\n\r\n"), "HTTP/1.1 404 ");
  assert_false(d->closed); /* the framing is known, so the connection stays */
  assert_string_equal(asked(d, HEALTH), HEALTHY);
}

static void wrong_methods_are_405_and_name_the_right_ones(void **state) {
  door *d = *state;
  const char *reply = asked(d, "GET /v1/check HTTP/1.1\r\nHost: laju\r\n\r\n");
  starts(reply, "HTTP/1.1 405 Method Not Allowed\r\n");
  holds(reply, "\r\nAllow: POST\r\n");
  holds(asked(d, "POST /healthz HTTP/1.1\r\nHost: laju\r\nContent-Length: 0\r\n\r\n"), "\r\nAllow: GET, HEAD\r\n");
  starts(asked(d, "TRACE /healthz HTTP/1.1\r\nHost: laju\r\n\r\n"), "HTTP/1.1 405 ");
  assert_false(d->closed);
}

static void a_check_takes_no_query(void **state) {
  const char *reply = asked(*state, "POST /v1/check?cost=5 HTTP/1.1\r\nHost: laju\r\nContent-Length: 0\r\n\r\n");
  starts(reply, "HTTP/1.1 400 ");
  holds(reply, "\"field\":\"query\",\"value\":\"/v1/check?cost=5\"");
}

/* ---- connections ---- */

static void a_connection_stays_and_pipelines(void **state) {
  door *d = *state;
  assert_string_equal(asked(d, HEALTH "\r\n\r\n" HEALTH HEALTH), HEALTHY HEALTHY HEALTHY);
  assert_int_equal(d->rounds, 1);
  assert_false(d->closed);
}

static void many_pipelined_requests_are_answered_in_order(void **state) {
  door *d = *state;
  laju_buffer text = {0};
  for (size_t i = 0; i < 300; i++) laju_buffer_add_text(&text, post("/v1/check", "{\"rule\":\"api\",\"key\":\"k\"}"));
  door_feed(d, &laju_http_codec, text.data, text.len);
  const char *reply = replies(d);
  assert_int_equal(count_of(reply, "HTTP/1.1 200 OK\r\n"), 100);
  assert_int_equal(count_of(reply, "HTTP/1.1 429 "), 200);
  for (int i = 0; i < 100; i++) {
    char remaining[32];
    snprintf(remaining, sizeof remaining, "\"remaining\":%d,", 99 - i);
    reply = strstr(reply, remaining);
    assert_non_null(reply);
  }
  assert_int_equal(d->rounds, 3); /* 128 in one batch */
  laju_buffer_deinit(&text);
}

static void many_pipelined_errors_do_not_overflow_the_notes(void **state) {
  door *d = *state;
  laju_buffer text = {0};
  for (size_t i = 0; i < 300; i++) laju_buffer_add_text(&text, "GET /x HTTP/1.1\r\nHost: laju\r\n\r\n");
  door_feed(d, &laju_http_codec, text.data, text.len);
  assert_int_equal(count_of(replies(d), "HTTP/1.1 404 "), 300);
  laju_buffer_deinit(&text);
}

static void close_ends_the_connection(void **state) {
  door *d = *state;
  const char *reply = asked(d, "GET /healthz HTTP/1.1\r\nHost: laju\r\nConnection: close\r\n\r\n" HEALTH);
  assert_int_equal(count_of(reply, "\nDate: "), 1);
  holds(reply, "\r\nConnection: close\r\n");
  assert_true(d->closed);
}

static void http_1_0_ends_unless_it_is_kept(void **state) {
  door *d = *state;
  const char *reply = asked(d, "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  holds(reply, "HTTP/1.1 200 OK\r\n");
  holds(reply, "\r\nConnection: keep-alive\r\n");
  assert_false(d->closed);
  holds(asked(d, "GET /healthz HTTP/1.0\r\n\r\n"), "\r\nConnection: close\r\n");
  assert_true(d->closed);
}

static void while_draining_the_last_answer_closes(void **state) {
  door *d = *state;
  atomic_store(&d->service.stage, LAJU_DRAINING);
  const char *reply = asked(d, HEALTH HEALTH "GET /hea");
  assert_int_equal(count_of(reply, "HTTP/1.1 200 OK\r\n"), 2);
  assert_null(strstr(reply, "Connection: close")); /* a third has begun */
  assert_false(d->closed);
  holds(asked(d, "lthz HTTP/1.1\r\nHost: laju\r\n\r\n"), "\r\nConnection: close\r\n");
  assert_true(d->closed);
}

static void a_client_that_is_too_slow_is_told_408(void **state) {
  door *d = *state;
  assert_false(laju_http_codec.unfinished(d->connection));
  laju_http_codec.give_up(d->connection, &d->out);
  assert_int_equal(d->out.len, 0);
  feed(d, "\r\nPOST /v1/che");
  assert_true(laju_http_codec.unfinished(d->connection));
  laju_http_codec.give_up(d->connection, &d->out);
  const char *reply = replies(d);
  starts(reply, "HTTP/1.1 408 Request Timeout\r\n");
  holds(reply, "\r\nConnection: close\r\n");
}

static void a_body_that_is_awaited_counts_as_unfinished(void **state) {
  door *d = *state;
  feed(d, "POST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 5\r\n\r\n");
  assert_true(laju_http_codec.unfinished(d->connection));
  feed(d, "12345");
  assert_false(laju_http_codec.unfinished(d->connection));
}

/* ---- bodies ---- */

static void chunked_bodies_are_put_together(void **state) {
  const char *reply =
      asked(*state,
            "POST /v1/check HTTP/1.1\r\nHost: laju\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\n{\"r\r\n00E;name=\"value\"\r\nule\":\"login\",\"\r\nE\r\nkey\":\"user:42\"\r\n1\r\n}\r\n"
            "0\r\nTrailer: x\r\n\r\n" HEALTH);
  holds(reply, "\r\n\r\n" LOGIN_9 "HTTP/1.1 200 OK\r\n");
}

static void a_client_that_waits_is_told_to_continue(void **state) {
  door *d = *state;
  assert_string_equal(
      asked(d, "POST /v1/check HTTP/1.1\r\nHost: laju\r\nExpect: 100-continue\r\nContent-Length: 32\r\n\r\n"),
      "HTTP/1.1 100 Continue\r\n\r\n");
  assert_string_equal(asked(d, ""), "");
  assert_string_equal(asked(d, "{\"rule\":"), "");
  starts(asked(d, "\"login\",\"key\":\"user:42\"}"), "HTTP/1.1 200 OK\r\n");
  assert_string_equal(
      asked(d, "POST /v1/check HTTP/1.1\r\nHost: laju\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"),
      "HTTP/1.1 100 Continue\r\n\r\n");
}

static void a_client_that_does_not_wait_is_not_told(void **state) {
  door *d = *state;
  starts(asked(d, "POST /v1/check HTTP/1.1\r\nHost: laju\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n{}"),
         "HTTP/1.1 400 ");
  assert_string_equal(
      asked(d, "POST /v1/check HTTP/1.1\r\nHost: laju\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{"), "");
  starts(asked(d, "}"), "HTTP/1.1 400 ");
}

static void a_hopeless_expectation_is_refused_at_once(void **state) {
  door *d = *state;
  const char *reply =
      asked(d, "POST /nowhere HTTP/1.1\r\nHost: laju\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  starts(reply, "HTTP/1.1 404 ");
  holds(reply, "\r\nConnection: close\r\n");
  assert_true(d->closed);
}

/* ---- what is refused ---- */

/* The head's rest and what follows it get this status, and the connection ends. */
static void ends_with(door *d, const char *text, int status) {
  char expected[32];
  snprintf(expected, sizeof expected, "HTTP/1.1 %d ", status);
  door_reconnect(d, &laju_http_codec);
  const char *reply = asked(d, text);
  starts(reply, expected);
  holds(reply, "\r\nConnection: close\r\n");
  assert_int_equal(count_of(reply, "\nDate: "), 1);
  assert_true(d->closed);
}

#define POST_HEAD "POST /v1/check HTTP/1.1\r\nHost: laju\r\n"

static void a_body_with_two_ends_is_refused(void **state) {
  ends_with(*state, POST_HEAD "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400);
  ends_with(*state, POST_HEAD "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501);
  ends_with(*state, POST_HEAD "Transfer-Encoding: identity\r\n\r\n{}", 501);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Content-Length: 2, 2\r\n\r\n{}", 400);
  ends_with(*state, POST_HEAD "Content-Length: -1\r\n\r\n{}", 400);
  ends_with(*state, POST_HEAD "Content-Length: +2\r\n\r\n{}", 400);
  ends_with(*state, POST_HEAD "Content-Length: 2\r\n 2\r\n\r\n{}", 400);
  ends_with(*state, POST_HEAD "Content-Length:\r\n\r\n{}", 400);
  ends_with(*state, "POST /v1/check HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\r{}\r\n", 400);
  ends_with(*state, POST_HEAD "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400);
}

static void heads_that_are_not_http_are_refused(void **state) {
  ends_with(*state, "\x16\x03\x01\x02", 400);
  ends_with(*state, "get /healthz HTTP/1.1\r\n", 400);
  ends_with(*state, "GRAB /healthz HTTP/1.1\r\n", 501);
  ends_with(*state, "CONNECT laju:80 HTTP/1.1\r\nHost: laju\r\n\r\n", 501);
  ends_with(*state, "GET /healthz RTSP/1.0\r\nHost: laju\r\n\r\n", 400);
  ends_with(*state, "GET /healthz\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.2\r\nHost: laju\r\n\r\n", 505);
  ends_with(*state, "GET /healthz HTTP/2.0\r\nHost: laju\r\n\r\n", 505);
  ends_with(*state, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505);
  ends_with(*state, "GET /healthz HTTP/1.1 \r\nHost: laju\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400);
  ends_with(*state, "GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\rY: c\r\n\r\n", 400);
  ends_with(*state, POST_HEAD "Expect: the best\r\nContent-Length: 2\r\n\r\n{}", 417);
}

static void a_field_may_have_no_value(void **state) {
  assert_string_equal(asked(*state, "GET /healthz HTTP/1.1\r\nHost:\r\nA:\r\nB: \r\nC:  \t\r\n\r\n"), HEALTHY);
}

static void the_answers_before_a_refusal_still_go_out(void **state) {
  const char *reply = asked(*state, HEALTH "nonsense\r\n\r\n" HEALTH);
  starts(reply, HEALTHY "HTTP/1.1 400 ");
  assert_int_equal(count_of(reply, "HTTP/1.1 "), 2);
}

static void an_upgrade_is_ignored(void **state) {
  assert_string_equal(
      asked(*state, "GET /healthz HTTP/1.1\r\nHost: laju\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n" HEALTH),
      HEALTHY HEALTHY);
}

/* A request whose head is `len` bytes long, by one long field. */
static char *long_head(size_t len) {
  static const char start[] = "GET /healthz HTTP/1.1\r\nHost: laju\r\nX: ";
  char *text = malloc(len + 1);
  memset(text, 'x', len);
  memcpy(text, start, sizeof start - 1);
  memcpy(text + len - 4, "\r\n\r\n", 5);
  return text;
}

static void a_head_may_be_16384_bytes_long_and_no_longer(void **state) {
  char *text = long_head(LAJU_HTTP_HEAD_MAX);
  assert_string_equal(asked(*state, text), HEALTHY);
  free(text);
  text = long_head(LAJU_HTTP_HEAD_MAX + 1);
  ends_with(*state, text, 431);
  free(text);
}

static void a_head_may_have_100_fields_and_no_more(void **state) {
  laju_buffer text = {0};
  laju_buffer_add_text(&text, "GET /healthz HTTP/1.1\r\nHost: laju\r\n");
  for (int i = 1; i < 100; i++) laju_buffer_add_text(&text, "X: y\r\n");
  size_t len = text.len;
  laju_buffer_add(&text, "\r\n", 3);
  assert_string_equal(asked(*state, text.data), HEALTHY);
  text.len = len;
  laju_buffer_add(&text, "X: y\r\n\r\n", 9);
  ends_with(*state, text.data, 431);
  laju_buffer_deinit(&text);
}

static void a_target_may_be_8192_bytes_long_and_no_longer(void **state) {
  char target[LAJU_HTTP_URL_MAX + 2], text[LAJU_HTTP_URL_MAX + 64];
  memset(target, 'a', sizeof target);
  memcpy(target, "/healthz?", 9);
  target[LAJU_HTTP_URL_MAX + 1] = '\0';
  snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: laju\r\n\r\n", target);
  ends_with(*state, text, 414);
  door_reconnect(*state, &laju_http_codec);
  target[LAJU_HTTP_URL_MAX] = '\0';
  snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: laju\r\n\r\n", target);
  assert_string_equal(asked(*state, text), HEALTHY);
}

/* A POST of spaces, `len` of them, and nothing else. */
static void post_spaces(door *d, size_t len) {
  char head[128];
  char *body = malloc(len);
  memset(body, ' ', len);
  snprintf(head, sizeof head, POST_HEAD "Content-Length: %zu\r\n\r\n", len);
  feed(d, head);
  door_feed(d, &laju_http_codec, body, len);
  free(body);
}

static void a_body_may_be_2097152_bytes_long_and_no_longer(void **state) {
  door *d = *state;
  post_spaces(d, LAJU_HTTP_BODY_MAX);
  starts(replies(d), "HTTP/1.1 400 ");
  assert_false(d->closed);
  post_spaces(d, LAJU_HTTP_BODY_MAX + 1);
  starts(replies(d), "HTTP/1.1 413 ");
  assert_true(d->closed);
}

static void a_chunked_body_is_bounded_too(void **state) {
  door *d = *state;
  char *chunk = malloc(LAJU_HTTP_BODY_MAX);
  memset(chunk, ' ', LAJU_HTTP_BODY_MAX);
  feed(d, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n200000\r\n");
  door_feed(d, &laju_http_codec, chunk, LAJU_HTTP_BODY_MAX);
  feed(d, "\r\n0\r\n\r\n");
  starts(replies(d), "HTTP/1.1 400 ");
  feed(d, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n200000\r\n");
  door_feed(d, &laju_http_codec, chunk, LAJU_HTTP_BODY_MAX);
  feed(d, "\r\n1\r\n ");
  starts(replies(d), "HTTP/1.1 413 ");
  assert_true(d->closed);
  free(chunk);
}

static void a_chunked_bodys_framing_is_bounded(void **state) {
  door *d = *state;
  laju_buffer chunks = {0};
  for (int i = 0; i < 10000; i++) laju_buffer_add_text(&chunks, "001\r\nx\r\n");
  feed(d, POST_HEAD "Transfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 45; i++) door_feed(d, &laju_http_codec, chunks.data, chunks.len); /* 3.6 MB, a body of 450 kB */
  starts(replies(d), "HTTP/1.1 413 ");
  assert_true(d->closed);
  laju_buffer_deinit(&chunks);
}

/* ---- splits ---- */

static const char *const conversations[] = {
    CHECK_LOGIN "]" HEALTH,
    "\r\nPOST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 32\r\n\r\n{\"rule\":\"login\",\"key\":\"user:42\"}"
    "POST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 32\r\n\r\n{\"rule\":\"login\",\"key\":\"user:43\"}"
    "POST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 32\r\n\r\n{\"rule\":\"login\",\"key\":\"user:42\"}",
    "POST /v1/check HTTP/1.1\r\nHost: laju\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"rule\":\r\n10;a=\"b\"\r\n\"login\",\"k\\u0065y\r\n"
    "8\r\n\":\"k\\n\"}\r\n0\r\nX: y\r\n\r\n" HEALTH,
    "HEAD /readyz HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /x HTTP/1.1\r\nHost: laju\r\n\r\n" HEALTH
    "GARBAGE / HTTP/1.1\r\n\r\n",
    "POST /v1/batch HTTP/1.1\r\nHost: laju\r\nContent-Length: 60\r\n\r\n[{\"rule\":\"api\",\"key\":\"a\"},{\"rule\":\"api\",\"key\":\"\\u00e9\"}]    \n" HEALTH,
    "POST /v1/check HTTP/1.1\r\nHost: laju\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HEALTH,
    "GET /healthz HTTP/1.1\r\nHost: laju\r\nConnection: close\r\n\r\n" HEALTH,
    "GET http://a/healthz?b HTTP/1.1\r\nHost: laju\r\nX:\r\nY: \r\n\r\nPOST /v1/check?x HTTP/1.1\r\nHost: laju\r\nContent-Length: 1\r\n\r\n1" HEALTH,
};

/* What is answered where the text comes in pieces that end at `first`, at `second` and at the end. */
static char *answered_in_pieces(const char *text, size_t first, size_t second, bool *closed) {
  door d;
  door_open(&d, &laju_http_codec);
  door_feed(&d, &laju_http_codec, text, first);
  door_feed(&d, &laju_http_codec, text + first, second - first);
  door_feed(&d, &laju_http_codec, text + second, strlen(text) - second);
  char *reply = strdup(replies(&d));
  *closed = d.closed;
  door_shut(&d);
  return reply;
}

static char *answered_byte_by_byte(const char *text) {
  door d;
  door_open(&d, &laju_http_codec);
  for (size_t i = 0; i < strlen(text); i++) door_feed(&d, &laju_http_codec, text + i, 1);
  char *reply = strdup(replies(&d));
  door_shut(&d);
  return reply;
}

static void splits_change_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof conversations / sizeof conversations[0]; i++) {
    const char *text = conversations[i];
    size_t len = strlen(text);
    bool closed, closed_too;
    char *whole = answered_in_pieces(text, len, len, &closed);
    assert_true(strlen(whole) > 0);
    char *bytes = answered_byte_by_byte(text);
    assert_string_equal(bytes, whole);
    free(bytes);
    for (size_t first = 0; first <= len; first++) {
      char *split = answered_in_pieces(text, first, first + (len - first) / 3, &closed_too);
      assert_string_equal(split, whole);
      assert_int_equal(closed, closed_too);
      free(split);
    }
    free(whole);
  }
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, open_door, shut_door)
  const struct CMUnitTest tests[] = {
      CLAIM(an_admission_is_answered_200_with_its_headers),
      CLAIM(a_denial_is_answered_429_with_the_wait),
      CLAIM(where_waiting_cannot_help_there_is_no_retry_after),
      CLAIM(a_queue_tells_the_delay_in_whole_milliseconds),
      CLAIM(several_checks_are_charged_all_or_none),
      CLAIM(a_list_of_one_check_still_has_decisions),
      CLAIM(a_rule_in_shadow_says_what_it_would_have_done),
      CLAIM(a_rule_in_shadow_does_not_speak_for_an_enforced_one),
      CLAIM(a_batch_is_answered_200_with_a_list_and_no_limit_headers),
      CLAIM(a_malformed_batch_charges_nothing),
      CLAIM(a_thousand_checks_in_one_batch_and_again_in_the_same_bytes),
      CLAIM(health_is_always_well),
      CLAIM(head_is_get_without_the_body),
      CLAIM(readiness_follows_the_stage),
      CLAIM(readiness_tells_of_the_store_and_minds_it_where_asked_to),
      CLAIM(readiness_takes_no_other_word_for_the_store),
      CLAIM(unknown_paths_are_404_and_name_the_routes),
      CLAIM(wrong_methods_are_405_and_name_the_right_ones),
      CLAIM(a_check_takes_no_query),
      CLAIM(a_connection_stays_and_pipelines),
      CLAIM(many_pipelined_requests_are_answered_in_order),
      CLAIM(many_pipelined_errors_do_not_overflow_the_notes),
      CLAIM(close_ends_the_connection),
      CLAIM(http_1_0_ends_unless_it_is_kept),
      CLAIM(while_draining_the_last_answer_closes),
      CLAIM(a_client_that_is_too_slow_is_told_408),
      CLAIM(a_body_that_is_awaited_counts_as_unfinished),
      CLAIM(chunked_bodies_are_put_together),
      CLAIM(a_client_that_waits_is_told_to_continue),
      CLAIM(a_client_that_does_not_wait_is_not_told),
      CLAIM(a_hopeless_expectation_is_refused_at_once),
      CLAIM(a_body_with_two_ends_is_refused),
      CLAIM(heads_that_are_not_http_are_refused),
      CLAIM(a_field_may_have_no_value),
      CLAIM(the_answers_before_a_refusal_still_go_out),
      CLAIM(an_upgrade_is_ignored),
      CLAIM(a_head_may_be_16384_bytes_long_and_no_longer),
      CLAIM(a_head_may_have_100_fields_and_no_more),
      CLAIM(a_target_may_be_8192_bytes_long_and_no_longer),
      CLAIM(a_body_may_be_2097152_bytes_long_and_no_longer),
      CLAIM(a_chunked_body_is_bounded_too),
      CLAIM(a_chunked_bodys_framing_is_bounded),
      cmocka_unit_test(splits_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
