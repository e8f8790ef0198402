#include "proto/admin_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_terms terms;
static laju_ruleset *rules;
static laju_batch *batch;
static laju_admin_query query;
static laju_problem problem;

static int make(void **state) {
  (void)state;
  laju_policy policies[] = {made_policy("login=5/1m", "ip", NULL, NULL)};
  batch = laju_batch_new();
  if (batch == NULL || laju_ruleset_new(&rules, policies, 1) < 0) return -1;
  laju_batch_clear(batch);
  terms = (laju_terms){.rules = rules};
  return 0;
}

static int end(void **state) {
  (void)state;
  laju_ruleset_free(rules);
  laju_batch_free(batch);
  return 0;
}

static bool read(const char *path, uint8_t method, const char *text) {
  laju_batch_clear(batch);
  laju_slice said = text != NULL ? made_slice(text) : (laju_slice){NULL, 0};
  return laju_admin_read_query(&query, laju_admin_find_route(made_slice(path)), method, said, &terms, batch, &problem);
}

static void refused(const char *path, uint8_t method, const char *text, const char *field, const char *detail) {
  assert_false(read(path, method, text));
  assert_int_equal(problem.status, 400);
  assert_int_equal(problem.field.len, strlen(field));
  assert_memory_equal(problem.field.text, field, problem.field.len);
  assert_string_equal(problem.detail, detail);
}

static void paths_have_routes_and_all_others_are_the_page_s(void **state) {
  (void)state;
  assert_int_equal(laju_admin_find_route(made_slice("/metrics"))->name, LAJU_ADMIN_METRICS);
  assert_int_equal(laju_admin_find_route(made_slice("/v1/keys"))->name, LAJU_ADMIN_KEYS);
  assert_int_equal(laju_admin_find_route(made_slice("/v1/keys/"))->name, LAJU_ADMIN_PAGE);
  assert_int_equal(laju_admin_find_route(made_slice(""))->name, LAJU_ADMIN_PAGE);
}

static void a_route_takes_the_methods_that_it_names(void **state) {
  (void)state;
  const laju_admin_route *keys = laju_admin_find_route(made_slice("/v1/keys"));
  const laju_admin_route *session = laju_admin_find_route(made_slice("/v1/session"));
  assert_true(laju_admin_takes(keys, HTTP_GET) && laju_admin_takes(keys, HTTP_HEAD) &&
              laju_admin_takes(keys, HTTP_PUT));
  assert_true(laju_admin_takes(keys, HTTP_DELETE));
  assert_false(laju_admin_takes(keys, HTTP_POST));
  assert_true(laju_admin_takes(session, HTTP_GET) && laju_admin_takes(session, HTTP_POST));
  assert_false(laju_admin_takes(session, HTTP_PUT));
}

static void a_key_is_decoded(void **state) {
  (void)state;
  assert_true(read("/v1/keys", HTTP_GET, "key=a%3Ab+c%00&rule=login&group=g"));
  assert_string_equal(query.policy->rule.name, "login");
  assert_true(laju_slice_equal(query.key, (laju_slice){"a:b c\0", 6}));
  assert_true(laju_slice_equal(query.group, made_slice("g")));
}

static void what_is_missing_twice_there_or_not_known_is_named(void **state) {
  (void)state;
  refused("/v1/keys", HTTP_GET, NULL, "rule", "is missing");
  refused("/v1/keys", HTTP_GET, "rule=login", "key", "is missing");
  refused("/v1/keys", HTTP_GET, "rule=login&rule=login&key=a", "rule", "is given twice");
  refused("/v1/keys", HTTP_GET, "rule=nosuch&key=a", "rule", "is not known");
  refused("/v1/keys", HTTP_GET, "rule=login&key=", "key", "is empty");
  refused("/v1/keys", HTTP_GET, "rule=login&key", "key", "is empty");
  refused("/v1/keys", HTTP_GET, "rule=login&key=a&x=1", "x", "is not known");
  refused("/v1/keys", HTTP_PUT, "rule=login&key=a&group=g", "group", "is not known");
  refused("/v1/rules", HTTP_GET, "rule=login", "rule", "is not known");
  refused("/v1/overrides", HTTP_GET, "rule=login&key=a", "rule", "is not known");
  refused("/v1/overrides", HTTP_DELETE, "rule=login", "key", "is missing");
}

static void keys_are_at_most_1024_bytes_however_they_are_written(void **state) {
  (void)state;
  static char text[8192];
  size_t at = (size_t)snprintf(text, sizeof text, "rule=login&key=");
  for (size_t i = 0; i < LAJU_KEY_MAX; i++, at += 3) memcpy(text + at, "%41", 4);
  assert_true(read("/v1/keys", HTTP_GET, text));
  assert_int_equal(query.key.len, LAJU_KEY_MAX);
  memcpy(text + at, "B", 2);
  refused("/v1/keys", HTTP_GET, text, "key", "is too long");
  memset(text + 15, 'k', LAJU_KEY_MAX + 1);
  text[15 + LAJU_KEY_MAX + 1] = '\0';
  refused("/v1/keys", HTTP_GET, text, "key", "is too long");
}

static void how_many_is_1_to_100(void **state) {
  (void)state;
  assert_true(read("/v1/top", HTTP_GET, NULL));
  assert_int_equal(query.limit, 0);
  assert_true(read("/v1/top", HTTP_GET, "limit=100"));
  assert_int_equal(query.limit, 100);
  static const char *const bad[] = {
      "limit=0", "limit=101", "limit=", "limit=1x", "limit=-1", "limit=99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refused("/v1/top", HTTP_GET, bad[i], "limit", "is out of range");
}

static void the_page_may_have_any_query(void **state) {
  (void)state;
  assert_true(read("/", HTTP_GET, "seed=1&seed=2"));
  assert_true(read("/metrics", HTTP_GET, "name[]=x"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(paths_have_routes_and_all_others_are_the_page_s),
      TEST(a_route_takes_the_methods_that_it_names),
      TEST(a_key_is_decoded),
      TEST(what_is_missing_twice_there_or_not_known_is_named),
      TEST(keys_are_at_most_1024_bytes_however_they_are_written),
      TEST(how_many_is_1_to_100),
      TEST(the_page_may_have_any_query),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
