#include "proto/admin_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_admin admin;
static laju_terms terms;
static laju_peer peer;
static const char *const hosts[] = {"laju.example.com"};

static int fresh(void **state) {
  (void)state;
  memset(&admin, 0, sizeof admin);
  terms = (laju_terms){.admin_hosts = hosts, .admin_host_count = 1};
  peer = (laju_peer){.is_unix = false};
  return 0;
}

/* 0 where it is let in, else the status. */
static int asked_for(uint8_t method, const char *fields, bool is_open, bool is_free) {
  laju_field list[LAJU_HTTP_HEADERS_MAX];
  laju_http_request request = {.method = method};
  laju_admin_knock knock = {.admin = &admin,
                            .terms = &terms,
                            .peer = &peer,
                            .request = &request,
                            .fields = made_fields(fields, list),
                            .is_open = is_open,
                            .is_free = is_free,
                            .now_us = 1000};
  laju_problem problem;
  return laju_admin_admits(&knock, &problem) ? 0 : problem.status;
}

static int got(const char *fields) {
  return asked_for(HTTP_GET, fields, false, false);
}

static int deleted(const char *fields) {
  return asked_for(HTTP_DELETE, fields, false, false);
}

#define HOST "Host: 127.0.0.1:8082\r\n"

static void a_host_is_an_address_localhost_or_one_that_is_listed(void **state) {
  (void)state;
  static const char *const good[] = {"Host: 127.0.0.1:8082\r\n", "Host: [::1]:8082\r\n",
                                     "Host: 10.1.2.3\r\n",       "Host: localhost\r\n",
                                     "Host: LOCALHOST:1\r\n",    "Host: Laju.Example.com.\r\n"};
  static const char *const bad[] = {
      "Host: evil.example\r\n",           "Host: laju.example.com.evil.example\r\n", "Host: \r\n", "",
      "Host: 127.0.0.1.evil.example\r\n", "Host: localhost.evil.example:80\r\n"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_int_equal(got(good[i]), 0);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(got(bad[i]), 421);
    assert_int_equal(asked_for(HTTP_GET, bad[i], true, false), 421); /* the page */
  }
}

static void whom_no_browser_can_lead_astray_may_call_us_anything(void **state) {
  (void)state;
  assert_int_equal(asked_for(HTTP_GET, "Host: evil.example\r\n", true, true), 0); /* /healthz */
  peer.is_unix = true;
  assert_int_equal(got("Host: whatever\r\n"), 0);
}

static void what_changes_something_comes_from_our_own_page_or_from_no_page(void **state) {
  (void)state;
  assert_int_equal(deleted(HOST), 0);
  assert_int_equal(deleted(HOST "Origin: http://127.0.0.1:8082\r\n"), 0);
  assert_int_equal(deleted(HOST "Origin: https://127.0.0.1:8082\r\n"), 0);
  assert_int_equal(deleted(HOST "Origin: http://127.0.0.1\r\n"), 403);
  assert_int_equal(deleted(HOST "Origin: http://127.0.0.1:8083\r\n"), 403);
  assert_int_equal(deleted(HOST "Origin: http://127.0.0.1:80829\r\n"), 403);
  assert_int_equal(deleted("Host: localhost\r\nOrigin: http://localhost.evil.example\r\n"), 403);
  assert_int_equal(deleted(HOST "Origin: null\r\n"), 403);
  assert_int_equal(deleted(HOST "Origin: http://\r\n"), 403);
  assert_int_equal(deleted(HOST "Origin: ftp://127.0.0.1:8082\r\n"), 403);
  assert_int_equal(asked_for(HTTP_POST, HOST "Origin: http://evil.example\r\n", true, false), 403); /* a session */
  assert_int_equal(got(HOST "Origin: http://evil.example\r\n"), 0); /* it cannot read the answer */
}

static void what_the_browser_says_of_another_site_is_believed(void **state) {
  (void)state;
  assert_int_equal(got(HOST "Sec-Fetch-Site: same-origin\r\n"), 0);
  assert_int_equal(got(HOST "Sec-Fetch-Site: none\r\n"), 0);
  assert_int_equal(got(HOST "Sec-Fetch-Site: same-site\r\n"), 403);
  assert_int_equal(got(HOST "Sec-Fetch-Site: cross-site\r\n"), 403);
  assert_int_equal(asked_for(HTTP_GET, HOST "Sec-Fetch-Site: cross-site\r\n", true, false), 0); /* a link to the page */
}

static void a_token_opens_as_bearer_alone(void **state) {
  (void)state;
  terms.admin_token = "open barley";
  assert_int_equal(got(HOST), 401);
  assert_int_equal(got(HOST "Authorization: Bearer open barley\r\n"), 0);
  assert_int_equal(got(HOST "Authorization: bearer   open barley\r\n"), 0);
  assert_int_equal(deleted(HOST "Authorization: Bearer open barley\r\n"), 0);
  assert_int_equal(got(HOST "Authorization: Basic open barley\r\n"), 401);
  assert_int_equal(got(HOST "Authorization: open barley\r\n"), 401);
  assert_int_equal(got(HOST "Authorization: Bearer \r\n"), 401);
  assert_int_equal(atomic_load(&admin.guesses), 0); /* these were none */
  assert_int_equal(got(HOST "Authorization: Bearer open barle\r\n"), 401);
  assert_int_equal(atomic_load(&admin.guesses), 1);
}

static void a_session_changes_things_only_with_the_browser_s_word(void **state) {
  (void)state;
  char name[LAJU_SESSION_LEN], plain[256], vouched[320];
  terms.admin_token = "open barley";
  assert_true(laju_sessions_begin(&admin.sessions, "open barley", 1000, name));
  snprintf(plain, sizeof plain, HOST "Cookie: a=b; laju_session=%.32s\r\n", name);
  assert_int_equal(got(plain), 0);
  assert_int_equal(deleted(plain), 403);
  snprintf(vouched, sizeof vouched, "%sSec-Fetch-Site: same-origin\r\n", plain);
  assert_int_equal(deleted(vouched), 0);
  snprintf(vouched, sizeof vouched, "%sSec-Fetch-Site: cross-site\r\n", plain);
  assert_int_equal(deleted(vouched), 403);
}

static void a_wrong_token_is_not_made_good_by_a_session(void **state) {
  (void)state;
  char name[LAJU_SESSION_LEN], fields[256];
  terms.admin_token = "open barley";
  laju_sessions_begin(&admin.sessions, "open barley", 1000, name);
  snprintf(fields, sizeof fields, HOST "Cookie: laju_session=%.32s\r\nAuthorization: Bearer x\r\n", name);
  assert_int_equal(got(fields), 401);
}

static void without_a_token_a_door_that_others_reach_tells_nothing(void **state) {
  (void)state;
  admin.exposed = true;
  assert_int_equal(got(HOST), 403);
  assert_int_equal(asked_for(HTTP_GET, HOST, true, false), 0);
  terms.admin_token = "open barley";
  assert_int_equal(got(HOST "Authorization: Bearer open barley\r\n"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_host_is_an_address_localhost_or_one_that_is_listed, fresh),
      cmocka_unit_test_setup(whom_no_browser_can_lead_astray_may_call_us_anything, fresh),
      cmocka_unit_test_setup(what_changes_something_comes_from_our_own_page_or_from_no_page, fresh),
      cmocka_unit_test_setup(what_the_browser_says_of_another_site_is_believed, fresh),
      cmocka_unit_test_setup(a_token_opens_as_bearer_alone, fresh),
      cmocka_unit_test_setup(a_session_changes_things_only_with_the_browser_s_word, fresh),
      cmocka_unit_test_setup(a_wrong_token_is_not_made_good_by_a_session, fresh),
      cmocka_unit_test_setup(without_a_token_a_door_that_others_reach_tells_nothing, fresh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
