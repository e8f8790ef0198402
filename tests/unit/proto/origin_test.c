#include "proto/origin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "proto/made.h"

#define HOST "Host: laju:8080\r\n"

static laju_network trusted[1];
static laju_terms terms = {.trusted = trusted, .trusted_count = 1, .trust_unix = true};

typedef struct call {
  laju_origin origin;
  int error;
  char scratch[LAJU_ORIGIN_SCRATCH];
} call;

static laju_peer peer_at(const char *address) {
  laju_peer peer = {.is_unix = address == NULL};
  if (address != NULL) assert_int_equal(laju_ip_parse(address, strlen(address), &peer.address), 0);
  return peer;
}

/* A GET of `target` with these lines. */
static const call *asked_by(const char *peer_address, const char *target, const char *lines) {
  static call c;
  laju_field list[LAJU_HTTP_HEADERS_MAX];
  laju_fields fields = made_fields(lines, list);
  laju_peer peer = peer_at(peer_address);
  c.error = laju_origin_read(&c.origin, &terms, &peer, &fields, (laju_slice){"GET", 3},
                             (laju_slice){target, strlen(target)}, c.scratch);
  return &c;
}

static const call *asked(const char *target, const char *lines) {
  return asked_by("127.0.0.1", target, lines);
}

static void slice_is(laju_slice slice, const char *expected) {
  assert_int_equal(slice.at == NULL, expected == NULL);
  if (expected == NULL) return;
  assert_int_equal(slice.len, strlen(expected));
  assert_memory_equal(slice.at, expected, slice.len);
}

static void client_is(const call *c, const char *expected) {
  char text[LAJU_IP_TEXT_SIZE];
  assert_int_equal(c->error, 0);
  assert_int_equal(c->origin.addressed, expected != NULL);
  if (expected == NULL) return;
  laju_ip_format(text, &c->origin.client);
  assert_string_equal(text, expected);
}

static void target_is(const call *c, const char *path, const char *query) {
  assert_int_equal(c->error, 0);
  slice_is(c->origin.path, path);
  slice_is(c->origin.query, query);
}

static int trust(void **state) {
  (void)state;
  return laju_network_parse("127.0.0.0/8", 11, &trusted[0]);
}

/* ---- what is asked about ---- */

static void without_fields_it_is_the_call_itself(void **state) {
  (void)state;
  const call *c = asked("/auth", HOST);
  target_is(c, "/", NULL);
  slice_is(c->origin.method, "GET");
  slice_is(c->origin.host, "laju");
  client_is(c, "127.0.0.1");
}

static void nginx_tells_uri_and_method(void **state) {
  (void)state;
  const call *c = asked("/auth?deny=403", HOST
                        "X-Original-URI: //api/../%61pi/x?a=b\r\nX-Original-Method: POST\r\n"
                        "X-Forwarded-Host: API.example.com:443\r\nX-Forwarded-For: 192.0.2.1\r\n");
  target_is(c, "/api/x", "a=b");
  assert_false(c->origin.own_query);
  slice_is(c->origin.method, "POST");
  slice_is(c->origin.host, "api.example.com");
  client_is(c, "192.0.2.1");
}

static void traefik_and_caddy_tell_them_by_other_names(void **state) {
  (void)state;
  const call *c = asked("/auth", HOST "X-Forwarded-Uri: /api/x?a\r\nX-Forwarded-Method: PUT\r\n");
  target_is(c, "/api/x", "a");
  slice_is(c->origin.method, "PUT");
}

static void ingress_nginx_tells_a_whole_url(void **state) {
  (void)state;
  const call *c = asked("/auth", HOST "X-Original-URL: https://Api.example.com:443/api/x?a\r\n");
  target_is(c, "/api/x", "a");
  slice_is(c->origin.host, "api.example.com");
}

static void the_path_may_stand_behind_auth(void **state) {
  (void)state;
  target_is(asked("/auth/api/x?deny=403", HOST), "/api/x", "deny=403");
  target_is(asked("/auth//api/../api/x", HOST), "/api/x", NULL);
  target_is(asked("/auth/", HOST), "/", NULL);
  target_is(asked("/auth/../x", HOST), "/x", NULL);
  target_is(asked("http://laju/auth/api/x", HOST), "/api/x", NULL);
  assert_false(asked("/auth/x?rule=a", HOST)->origin.own_query);
}

static void a_plain_call_has_its_own_query(void **state) {
  (void)state;
  const call *c = asked("/auth?rule=a&user=b", HOST);
  target_is(c, "/", "rule=a&user=b");
  assert_true(c->origin.own_query);
}

static void the_host_that_the_last_proxy_added_counts(void **state) {
  (void)state;
  slice_is(asked("/auth", HOST "X-Forwarded-Host: a.example, b.example:80 ,\r\n")->origin.host, "b.example");
  slice_is(asked("/auth", "X-Forwarded-Host: a.example\r\nX-Forwarded-Host: b.example\r\n")->origin.host, "b.example");
  slice_is(asked("/auth", "")->origin.host, "");
}

static void fields_without_a_value_tell_nothing(void **state) {
  (void)state;
  const call *c = asked("/auth", HOST
                        "X-Original-URI:\r\nX-Original-Method: \r\nX-Forwarded-Host:\r\nX-Forwarded-For: \r\n"
                        "X-Real-IP: 192.0.2.1\r\n");
  target_is(c, "/", NULL);
  slice_is(c->origin.method, "GET");
  slice_is(c->origin.host, "laju");
  client_is(c, "192.0.2.1");
}

/* ---- who asks ---- */

static void the_list_of_hops_goes_before_the_other_ways(void **state) {
  (void)state;
  client_is(asked("/auth", "Forwarded: for=192.0.2.2\r\nX-Real-IP: 192.0.2.3\r\nX-Forwarded-For: 192.0.2.1\r\n"),
            "192.0.2.1");
  client_is(asked("/auth", "X-Real-IP: 192.0.2.3\r\nForwarded: for=192.0.2.2\r\n"), "192.0.2.2");
  client_is(asked("/auth", "X-Real-IP: 192.0.2.3\r\n"), "192.0.2.3");
  client_is(asked("/auth", "X-Real-IP: ::ffff:192.0.2.3\r\n"), "192.0.2.3");
  client_is(asked("/auth", "X-Real-IP: nobody\r\n"), "127.0.0.1");
}

static void a_list_that_ends_in_no_address_is_the_peers(void **state) {
  (void)state;
  client_is(asked("/auth", "X-Forwarded-For: unknown\r\nX-Real-IP: 192.0.2.3\r\n"), "127.0.0.1");
}

static void a_client_behind_a_unix_socket_has_no_address_of_its_own(void **state) {
  (void)state;
  client_is(asked_by(NULL, "/auth", HOST), NULL);
  client_is(asked_by(NULL, "/auth", HOST "X-Forwarded-For: 192.0.2.1\r\n"), "192.0.2.1");
  client_is(asked_by(NULL, "/auth", HOST "X-Forwarded-For: unknown\r\n"), NULL);
}

/* ---- who is not believed ---- */

static void strangers_forwarding_fields_change_nothing(void **state) {
  (void)state;
  const call *c = asked_by("203.0.113.5", "/auth/api/x",
                           HOST
                           "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\nX-Real-IP: 192.0.2.1\r\n"
                           "X-Original-URI: /free\r\nX-Forwarded-Uri: /cheap\r\nX-Original-URL: http://a/b\r\n"
                           "X-Original-Method: PUT\r\nX-Forwarded-Method: POST\r\nX-Forwarded-Host: free.example\r\n");
  target_is(c, "/api/x", NULL);
  slice_is(c->origin.method, "GET");
  slice_is(c->origin.host, "laju");
  client_is(c, "203.0.113.5");
  assert_true(c->origin.untrusted);
}

static void each_forwarding_field_of_a_stranger_is_noticed(void **state) {
  (void)state;
  static const char *const lines[] = {
      "X-Forwarded-For: 192.0.2.1\r\n", "forwarded: for=1\r\n",   "X-REAL-IP: 1\r\n",
      "X-Original-URI: /\r\n",          "X-Original-URL: /\r\n",  "X-Original-Method: GET\r\n",
      "X-Forwarded-Method: GET\r\n",    "X-Forwarded-Uri: /\r\n", "X-Forwarded-Host: a\r\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    assert_true(asked_by("203.0.113.5", "/auth", lines[i])->origin.untrusted);
    assert_false(asked_by("127.0.0.1", "/auth", lines[i])->origin.untrusted);
  }
  assert_false(asked_by("203.0.113.5", "/auth", HOST "X-User-Id: 1\r\nX-Forwarded-Proto: http\r\n")->origin.untrusted);
}

static void a_unix_socket_is_trusted_where_the_operator_says_so(void **state) {
  (void)state;
  terms.trust_unix = false;
  const call *c = asked_by(NULL, "/auth", HOST "X-Forwarded-For: 192.0.2.1\r\n");
  terms.trust_unix = true;
  client_is(c, NULL);
  assert_true(c->origin.untrusted);
}

/* ---- what cannot be told ---- */

static void two_targets_that_differ_are_refused(void **state) {
  (void)state;
  assert_int_equal(asked("/auth", "X-Original-URI: /api/x\r\nX-Forwarded-Uri: /free\r\n")->error, LAJU_ORIGIN_TARGETS);
  assert_int_equal(asked("/auth", "X-Original-URI: /a\r\nX-Original-URI: /b\r\n")->error, LAJU_ORIGIN_TARGETS);
  assert_int_equal(asked("/auth", "X-Original-URI: /a?b\r\nX-Forwarded-Uri: /a?c\r\n")->error, LAJU_ORIGIN_TARGETS);
  assert_int_equal(asked("/auth/api/x", "X-Original-URI: /free\r\n")->error, LAJU_ORIGIN_TARGETS);
  assert_int_equal(asked("/auth", "X-Original-URL: http://a/b\r\nX-Original-URI: /c\r\n")->error, LAJU_ORIGIN_TARGETS);
  assert_int_equal(asked("/auth", "X-Original-Method: GET\r\nX-Forwarded-Method: HEAD\r\n")->error,
                   LAJU_ORIGIN_METHODS);
  assert_int_equal(asked("/auth", "X-Original-URL: http://a/b\r\nX-Forwarded-Host: c\r\n")->error, LAJU_ORIGIN_HOSTS);
}

static void two_that_agree_are_one(void **state) {
  (void)state;
  target_is(asked("/auth/a?b", "X-Original-URI: /a?b\r\nX-Forwarded-Uri: /a?b\r\nX-Original-URL: http://h/a?b\r\n"),
            "/a", "b");
  assert_int_equal(asked("/auth", "X-Original-URL: http://H:80/b\r\nX-Forwarded-Host: h\r\n")->error, 0);
  assert_int_equal(asked("/auth", "X-Original-Method: PUT\r\nX-Forwarded-Method: PUT\r\n")->error, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_fields_it_is_the_call_itself),
      cmocka_unit_test(nginx_tells_uri_and_method),
      cmocka_unit_test(traefik_and_caddy_tell_them_by_other_names),
      cmocka_unit_test(ingress_nginx_tells_a_whole_url),
      cmocka_unit_test(the_path_may_stand_behind_auth),
      cmocka_unit_test(a_plain_call_has_its_own_query),
      cmocka_unit_test(the_host_that_the_last_proxy_added_counts),
      cmocka_unit_test(fields_without_a_value_tell_nothing),
      cmocka_unit_test(the_list_of_hops_goes_before_the_other_ways),
      cmocka_unit_test(a_list_that_ends_in_no_address_is_the_peers),
      cmocka_unit_test(a_client_behind_a_unix_socket_has_no_address_of_its_own),
      cmocka_unit_test(strangers_forwarding_fields_change_nothing),
      cmocka_unit_test(each_forwarding_field_of_a_stranger_is_noticed),
      cmocka_unit_test(a_unix_socket_is_trusted_where_the_operator_says_so),
      cmocka_unit_test(two_targets_that_differ_are_refused),
      cmocka_unit_test(two_that_agree_are_one),
  };
  return cmocka_run_group_tests(tests, trust, NULL);
}
