#include "proto/http_head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static laju_http_head head;

static laju_http_step reads(const char *text) {
  static char bytes[4096];
  size_t len = strlen(text);
  memcpy(bytes, text, len);
  laju_http_head_next(&head);
  return laju_http_head_read(&head, bytes, len);
}

static int set_up(void **state) {
  (void)state;
  laju_http_head_init(&head);
  return 0;
}

static void a_head_says_route_method_and_length(void **state) {
  (void)state;
  assert_int_equal(reads("POST /v1/batch HTTP/1.1\r\nhost: a\r\ncontent-length: 7\r\n\r\n1234567"), LAJU_HTTP_DONE);
  assert_int_equal(head.request.route, LAJU_ROUTE_BATCH);
  assert_int_equal(head.request.method, HTTP_POST);
  assert_int_equal(head.request.content_length, 7);
  assert_int_equal(head.request.head_len, 55);
  assert_true(head.request.keep_alive);
  assert_false(head.request.old || head.request.chunked || head.request.expects || head.request.query);
}

static void a_head_that_is_not_over_waits(void **state) {
  (void)state;
  assert_int_equal(reads("GET /healthz HTTP/1.1\r\nHost: a\r\n\r"), LAJU_HTTP_WAIT);
  assert_int_equal(head.seen, 33);
}

static void the_same_bytes_are_known_again_and_mean_the_same(void **state) {
  (void)state;
  const char *text = "POST /v1/check?x HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabc";
  assert_int_equal(reads(text), LAJU_HTTP_DONE);
  laju_http_request first = head.request;
  assert_int_equal(reads(text), LAJU_HTTP_DONE);
  assert_memory_equal(&head.request, &first, sizeof first);
  assert_int_equal(head.seen, first.head_len);
}

static void other_bytes_are_read_anew(void **state) {
  (void)state;
  assert_int_equal(reads("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), LAJU_HTTP_DONE);
  assert_int_equal(reads("GET /healthz HTTP/1.1\r\nHost: a\r\nX"), LAJU_HTTP_WAIT);
  assert_int_equal(reads("GET /readyz  HTTP/1.1\r\nHost: a\r\n\r\n"), LAJU_HTTP_DONE);
  assert_int_equal(head.request.route, LAJU_ROUTE_READY);
  assert_int_equal(reads("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), LAJU_HTTP_DONE);
  assert_int_equal(head.request.route, LAJU_ROUTE_HEALTH);
}

static void an_expectation_counts_where_a_body_follows_in_http_1_1(void **state) {
  (void)state;
  assert_int_equal(reads("POST /v1/check HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue \r\nContent-Length: 3\r\n\r\n"),
                   LAJU_HTTP_DONE);
  assert_true(head.request.expects);
  assert_int_equal(reads("POST /v1/check HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n"),
                   LAJU_HTTP_DONE);
  assert_false(head.request.expects);
  assert_int_equal(reads("POST /v1/check HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"),
                   LAJU_HTTP_DONE);
  assert_false(head.request.expects);
}

static void chunks_are_moved_together_behind_the_head(void **state) {
  (void)state;
  char bytes[] =
      "POST /v1/check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3;x\r\ncde\r\n0\r\n\r\nGET";
  size_t len = sizeof bytes - 1;
  laju_http_head_next(&head);
  assert_int_equal(laju_http_head_read(&head, bytes, len), LAJU_HTTP_DONE);
  assert_true(head.request.chunked);
  assert_int_equal(laju_http_chunks_read(&head, bytes, len), LAJU_HTTP_DONE);
  assert_int_equal(head.body_len, 5);
  assert_memory_equal(bytes + head.request.head_len, "abcde", 5);
  assert_int_equal(head.seen, len - 3);
}

static void a_refusal_has_a_status_and_says_why(void **state) {
  (void)state;
  assert_int_equal(reads("GET /healthz HTTP/3.0\r\nHost: a\r\n\r\n"), LAJU_HTTP_REFUSED);
  assert_int_equal(head.status, 505);
  assert_non_null(strstr(head.why, "HTTP/1.1"));
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup(f, set_up)
  const struct CMUnitTest tests[] = {
      CLAIM(a_head_says_route_method_and_length),
      CLAIM(a_head_that_is_not_over_waits),
      CLAIM(the_same_bytes_are_known_again_and_mean_the_same),
      CLAIM(other_bytes_are_read_anew),
      CLAIM(an_expectation_counts_where_a_body_follows_in_http_1_1),
      CLAIM(chunks_are_moved_together_behind_the_head),
      CLAIM(a_refusal_has_a_status_and_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
