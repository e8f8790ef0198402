#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/access_name.h"

static laju_access_names none;

static laju_access_name found(const laju_access_names *names, const char *name) {
  laju_access_name out;
  laju_access_names_find(names, (laju_slice){name, strlen(name)}, &out);
  return out;
}

static void is_header(laju_access_name name, const char *header) {
  assert_int_equal(name.role, LAJU_ROLE_HEADER);
  assert_int_equal(name.header_len, strlen(header));
  assert_memory_equal(name.header, header, name.header_len);
}

static void usual_names_are_known(void **state) {
  (void)state;
  assert_int_equal(found(&none, "time").role, LAJU_ROLE_TIME);
  assert_int_equal(found(&none, "remote_addr").role, LAJU_ROLE_CLIENT);
  assert_int_equal(found(&none, "request_method").role, LAJU_ROLE_METHOD);
  assert_int_equal(found(&none, "uri").role, LAJU_ROLE_TARGET);
  assert_int_equal(found(&none, "server_name").role, LAJU_ROLE_HOST);
  assert_int_equal(found(&none, "request").role, LAJU_ROLE_REQUEST);
  assert_int_equal(found(&none, "headers").role, LAJU_ROLE_HEADERS);
  is_header(found(&none, "user_agent"), "user-agent");
  is_header(found(&none, "http_x_api_key"), "x-api-key");
  assert_int_equal(found(&none, "http_host").role, LAJU_ROLE_HOST);
  assert_int_equal(found(&none, "status").role, LAJU_ROLE_NONE);
  assert_int_equal(found(&none, "http_").role, LAJU_ROLE_NONE);
  assert_int_equal(found(&none, "").role, LAJU_ROLE_NONE);
}

static void the_better_of_two_names_has_the_lower_rank(void **state) {
  (void)state;
  assert_true(found(&none, "client_ip").rank < found(&none, "remote_addr").rank);
  assert_true(found(&none, "time").rank < found(&none, "time_local").rank);
}

static void a_name_of_more_than_64_bytes_is_nothing(void **state) {
  (void)state;
  char name[] = "http_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  assert_int_equal(strlen(name), 67);
  assert_int_equal(found(&none, name).role, LAJU_ROLE_NONE);
  name[64] = '\0';
  assert_int_equal(found(&none, name).role, LAJU_ROLE_HEADER);
}

static void names_that_are_given_come_first(void **state) {
  (void)state;
  laju_access_names names = {.count = 0};
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_access_names_parse(&names, "time=when,client=time,header:x-key=k,host=vhost", why), 0);
  assert_int_equal(found(&names, "when").role, LAJU_ROLE_TIME);
  assert_int_equal(found(&names, "time").role, LAJU_ROLE_CLIENT);
  assert_int_equal(found(&names, "vhost").role, LAJU_ROLE_HOST);
  assert_int_equal(found(&names, "when").rank, 0);
  is_header(found(&names, "k"), "x-key");
  assert_int_equal(found(&names, "uri").role, LAJU_ROLE_TARGET);
}

static void a_bad_list_is_refused_and_changes_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {"", "time", "time=", "=ts", "when=ts", "header:=x", "time=ts,", "Time=ts"};
  laju_access_names names = {.count = 0};
  char why[LAJU_TEXT_SIZE];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    assert_int_equal(laju_access_names_parse(&names, texts[i], why), -1);
    assert_non_null(strstr(why, "is not WHAT=NAME"));
    assert_int_equal(names.count, 0);
  }
}

static void thirty_two_names_can_be_given(void **state) {
  (void)state;
  laju_access_names names = {.count = 0};
  char text[512] = "time=a", why[LAJU_TEXT_SIZE];
  size_t len = strlen(text);
  for (int i = 1; i < LAJU_ACCESS_MAPPED_MAX; i++, len += 7) memcpy(text + len, ",time=a", 8);
  assert_int_equal(laju_access_names_parse(&names, text, why), 0);
  assert_int_equal(names.count, 32);
  memcpy(text + len, ",time=b", 8);
  assert_int_equal(laju_access_names_parse(&names, text, why), -1);
  assert_non_null(strstr(why, "\"time=b\" is one too many"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(usual_names_are_known),
      cmocka_unit_test(the_better_of_two_names_has_the_lower_rank),
      cmocka_unit_test(a_name_of_more_than_64_bytes_is_nothing),
      cmocka_unit_test(names_that_are_given_come_first),
      cmocka_unit_test(a_bad_list_is_refused_and_changes_nothing),
      cmocka_unit_test(thirty_two_names_can_be_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
