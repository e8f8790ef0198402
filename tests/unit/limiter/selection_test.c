#include "limiter/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define POLICIES 40

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

static laju_pattern pattern_of(const char *text) {
  return (laju_pattern){.text = strdup(text), .len = strlen(text), .literal = strchr(text, '*') == NULL};
}

/* A policy for these hosts and paths: words with spaces between them, or NULL for any. */
static void make_policy(laju_policy *policy, size_t number, const char *hosts, const char *paths, const char *method) {
  laju_rule rule;
  char name[16], words[256], *rest = NULL;
  int len = snprintf(name, sizeof name, "r%zu", number);
  assert_int_equal(laju_rule_init(&rule, name, (size_t)len, LAJU_FIXED_WINDOW, 1, 60000000, 0), 0);
  laju_policy_init(policy, &rule);
  laju_match *match = &policy->match;
  if (hosts != NULL) match->hosts = calloc(8, sizeof *match->hosts);
  if (paths != NULL) match->paths = calloc(8, sizeof *match->paths);
  snprintf(words, sizeof words, "%s", hosts != NULL ? hosts : "");
  for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    match->hosts[match->host_count++] = pattern_of(word);
  }
  snprintf(words, sizeof words, "%s", paths != NULL ? paths : "");
  for (char *word = strtok_r(words, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    match->paths[match->path_count++] = pattern_of(word);
  }
  if (method != NULL) snprintf(match->methods[match->method_count++], LAJU_METHOD_MAX + 1, "%s", method);
}

typedef struct found {
  const laju_policy *policies;
  bool is[POLICIES];
  size_t stop_after;
} found;

static bool note(void *context, const laju_policy *policy) {
  found *f = context;
  f->is[policy - f->policies] = true;
  return f->stop_after == 0 || --f->stop_after > 0;
}

static void the_method_the_host_and_the_path_must_all_fit(void **state) {
  (void)state;
  laju_policy policy;
  make_policy(&policy, 0, "a.example *.b.example", "/x /y/*", "GET");
  laju_request_line fits = {slice("GET"), slice("w.b.example"), slice("/y/z")};
  assert_true(laju_match_takes(&policy.match, &fits));
  laju_request_line method = {slice("get"), slice("a.example"), slice("/x")};
  assert_false(laju_match_takes(&policy.match, &method));
  laju_request_line host = {slice("GET"), slice("b.example"), slice("/x")};
  assert_false(laju_match_takes(&policy.match, &host));
  laju_request_line path = {slice("GET"), slice("a.example"), slice("/y")};
  assert_false(laju_match_takes(&policy.match, &path));
  policy.match.none = true;
  assert_false(laju_match_takes(&policy.match, &fits));
  laju_policy_deinit(&policy);
}

static void without_conditions_every_request_fits(void **state) {
  (void)state;
  laju_policy policy;
  make_policy(&policy, 0, NULL, NULL, NULL);
  laju_request_line request = {slice("PURGE"), slice(""), slice("/")};
  assert_true(laju_match_takes(&policy.match, &request));
  laju_policy_deinit(&policy);
}

/* Patterns of every shape, over and over; none is special to the index, and all are to be found. */
static void make_all(laju_policy policies[POLICIES]) {
  static const char *const hosts[] = {NULL, "a.example", "*.example", "b.*",
                                      "*",  "a.* *.b",   "x*y",       "c.example a.example"};
  static const char *const paths[] = {NULL,
                                      "/",
                                      "/api/*",
                                      "/api/x",
                                      "*.php",
                                      "/*/x",
                                      "/a* /b*",
                                      "/a/very/long/path/that/is/longer/than/what/an/anchor/holds/0123456789/x",
                                      "/a/very/long/path/that/is/longer/than/what/an/anchor/holds/0123456789/*"};
  static const char *const methods[] = {NULL, "GET", "POST"};
  for (size_t i = 0; i < POLICIES; i++) {
    make_policy(&policies[i], i, hosts[i * 7 % 8], paths[i * 5 % 9], methods[i % 3]);
  }
  policies[5].match.none = true;
}

static void the_index_finds_what_a_look_at_each_finds(void **state) {
  (void)state;
  static const char *const hosts[] = {"", "a.example", "w.example", "b.b", "a.b", "xy", "c.example", "example", "b."};
  static const char *const paths[] = {"/",
                                      "/api/",
                                      "/api/x",
                                      "/api",
                                      "/i.php",
                                      "/q/x",
                                      "/b",
                                      "/",
                                      "/a/very/long/path/that/is/longer/than/what/an/anchor/holds/0123456789/x",
                                      "/a/very/long/path/that/is/longer/than/what/an/anchor/holds/0123456789/y"};
  laju_policy policies[POLICIES];
  laju_selection *selection;
  make_all(policies);
  assert_int_equal(laju_selection_new(&selection, policies, POLICIES), 0);
  size_t matches = 0;
  for (size_t i = 0; i < 9 * 10; i++) {
    laju_request_line request = {slice(i % 2 == 0 ? "GET" : "PUT"), slice(hosts[i % 9]), slice(paths[i / 9])};
    found f = {.policies = policies};
    laju_selection_each(selection, &request, note, &f);
    for (size_t j = 0; j < POLICIES; j++) {
      assert_int_equal(f.is[j], laju_match_takes(&policies[j].match, &request));
      matches += f.is[j];
    }
  }
  assert_true(matches > 200);
  laju_selection_free(selection);
  for (size_t i = 0; i < POLICIES; i++) laju_policy_deinit(&policies[i]);
}

static void a_taker_that_has_enough_is_not_asked_again(void **state) {
  (void)state;
  laju_policy policies[POLICIES];
  laju_selection *selection;
  for (size_t i = 0; i < POLICIES; i++) make_policy(&policies[i], i, NULL, i % 2 == 0 ? "/a*" : NULL, NULL);
  assert_int_equal(laju_selection_new(&selection, policies, POLICIES), 0);
  laju_request_line request = {slice("GET"), slice("a"), slice("/a")};
  for (size_t enough = 1; enough <= POLICIES; enough++) {
    found f = {.policies = policies, .stop_after = enough};
    laju_selection_each(selection, &request, note, &f);
    size_t count = 0;
    for (size_t i = 0; i < POLICIES; i++) count += f.is[i];
    assert_int_equal(count, enough);
  }
  laju_selection_free(selection);
  for (size_t i = 0; i < POLICIES; i++) laju_policy_deinit(&policies[i]);
}

static void no_policy_is_no_trouble(void **state) {
  (void)state;
  laju_selection *selection;
  assert_int_equal(laju_selection_new(&selection, NULL, 0), 0);
  laju_request_line request = {slice("GET"), slice("a"), slice("/a")};
  found f = {.policies = NULL};
  laju_selection_each(selection, &request, note, &f);
  laju_selection_free(selection);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_method_the_host_and_the_path_must_all_fit),
      cmocka_unit_test(without_conditions_every_request_fits),
      cmocka_unit_test(the_index_finds_what_a_look_at_each_finds),
      cmocka_unit_test(a_taker_that_has_enough_is_not_asked_again),
      cmocka_unit_test(no_policy_is_no_trouble),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
