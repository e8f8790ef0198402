#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/policy_text.h"

static laju_policy policy;
static char why[LAJU_TEXT_SIZE];

static int init(void **state) {
  (void)state;
  policy = (laju_policy){0};
  why[0] = '\0';
  return 0;
}

static int deinit(void **state) {
  (void)state;
  laju_policy_deinit(&policy);
  return 0;
}

typedef int (*add)(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

static void taken(add what, const char *text) {
  why[0] = '\0';
  int error = what(&policy, text, strlen(text), why);
  assert_string_equal(why, "");
  assert_int_equal(error, 0);
}

/* Refused with a complaint that begins so. */
static void refused(add what, const char *text, const char *complaint) {
  assert_int_equal(what(&policy, text, strlen(text), why), -1);
  if (strncmp(why, complaint, strlen(complaint)) != 0) assert_string_equal(why, complaint);
}

static void a_host_is_put_in_lower_case(void **unused) {
  (void)unused;
  taken(laju_policy_add_host, "API.Example.com");
  taken(laju_policy_add_host, "*.b_c-d");
  taken(laju_policy_add_host, "2001:DB8::1");
  assert_int_equal(policy.match.host_count, 3);
  assert_string_equal(policy.match.hosts[0].text, "api.example.com");
  assert_true(policy.match.hosts[0].literal);
  assert_false(policy.match.hosts[1].literal);
  assert_string_equal(policy.match.hosts[2].text, "2001:db8::1");
}

static void a_host_has_no_port_scheme_brackets_or_dot_at_its_end(void **unused) {
  (void)unused;
  refused(laju_policy_add_host, "a.b:8080", "\"a.b:8080\" has a port; did you mean \"a.b\"? allowed: a name");
  refused(laju_policy_add_host, "a.b:*", "\"a.b:*\" has a port; did you mean \"a.b\"?");
  refused(laju_policy_add_host, "https://a.b/c", "\"https://a.b/c\" is not a host; did you mean \"a.b\"?");
  refused(laju_policy_add_host, "[::1]:80", "\"[::1]:80\" has brackets; did you mean \"::1\"?");
  refused(laju_policy_add_host, "a.b.", "\"a.b.\" ends with a dot; did you mean \"a.b\"?");
  refused(laju_policy_add_host, "a b", "\"a b\" is not a host; allowed:");
  refused(laju_policy_add_host, "m\xc3\xbcller.de", "\"m??ller.de\" is not a host; allowed:");
  refused(laju_policy_add_host, "", "is empty; allowed: 1 to 1024 bytes");
  assert_int_equal(policy.match.host_count, 0);
}

static void a_path_begins_with_a_slash_or_a_star(void **unused) {
  (void)unused;
  taken(laju_policy_add_path, "/");
  taken(laju_policy_add_path, "*.php");
  taken(laju_policy_add_path, "/A b/\xc3\xbc");
  assert_string_equal(policy.match.paths[2].text, "/A b/\xc3\xbc");
  refused(laju_policy_add_path, "api/*", "\"api/*\" does not begin with /; did you mean \"/api/*\"? allowed: / or *");
  refused(laju_policy_add_path, "", "is empty;");
  refused(laju_policy_add_path, "/\x01", "\"/?\" holds a control character;");
  assert_int_equal(policy.match.path_count, 3);
}

static void a_pattern_has_at_most_1024_bytes(void **unused) {
  (void)unused;
  char text[LAJU_PATTERN_MAX + 2];
  memset(text, '/', sizeof text);
  text[LAJU_PATTERN_MAX + 1] = '\0';
  refused(laju_policy_add_path, text,
          "\"////////////////////////////////////////...\" is too long; allowed: 1 to 1024");
  text[LAJU_PATTERN_MAX] = '\0';
  taken(laju_policy_add_path, text);
}

static void sixty_four_patterns_are_taken_and_one_more_is_refused(void **unused) {
  (void)unused;
  for (int i = 0; i < LAJU_PATTERNS_MAX; i++) taken(laju_policy_add_path, "/a");
  refused(laju_policy_add_path, "/b", "too many; allowed: at most 64");
  assert_int_equal(policy.match.path_count, 64);
}

static void a_method_is_a_token_as_it_is_written(void **unused) {
  (void)unused;
  taken(laju_policy_add_method, "GET");
  taken(laju_policy_add_method, "M-SEARCH");
  assert_string_equal(policy.match.methods[1], "M-SEARCH");
  refused(laju_policy_add_method, "GET POST", "\"GET POST\" is not a method; allowed: 1 to 32 letters");
  refused(laju_policy_add_method, "*", "\"*\" is not a method;");
  refused(laju_policy_add_method, "", "\"\" is not a method;");
  taken(laju_policy_add_method, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF");
  refused(laju_policy_add_method, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG", "\"ABCDEFGHIJ");
  for (int i = 3; i < LAJU_METHODS_MAX; i++) taken(laju_policy_add_method, "X");
  refused(laju_policy_add_method, "X", "too many; allowed: at most 16");
}

static void every_part_of_a_key_is_known(void **unused) {
  (void)unused;
  taken(laju_policy_add_part, "ip");
  taken(laju_policy_add_part, "header:X-User-Id");
  taken(laju_policy_add_part, "cookie:Session");
  taken(laju_policy_add_part, "query:API key");
  taken(laju_policy_add_part, "path");
  taken(laju_policy_add_part, "method");
  taken(laju_policy_add_part, "host");
  assert_int_equal(policy.part_count, 7);
  assert_int_equal(policy.parts[0].kind, LAJU_PART_IP);
  assert_int_equal(policy.parts[1].kind, LAJU_PART_HEADER);
  assert_string_equal(policy.parts[1].name, "x-user-id"); /* headers are compared in lower case, */
  assert_string_equal(policy.parts[2].name, "Session");   /* cookies and parameters as they are */
  assert_string_equal(policy.parts[3].name, "API key");
  assert_int_equal(policy.parts[6].kind, LAJU_PART_HOST);
  taken(laju_policy_add_part, "ip");
  refused(laju_policy_add_part, "ip", "too many; allowed: at most 8");
  taken(laju_policy_add_group_part, "header:X-Tenant"); /* a group's are counted apart */
  assert_int_equal(policy.group_count, 1);
  assert_string_equal(policy.group_parts[0].name, "x-tenant");
}

static void a_part_that_is_none_is_told_the_nearest(void **unused) {
  (void)unused;
  refused(laju_policy_add_part, "X-User-Id",
          "\"X-User-Id\" is not a part of a key; did you mean \"header:X-User-Id\"? allowed: ip, header:NAME");
  refused(laju_policy_add_part, "Headers:a", "\"Headers:a\" is not a part of a key; did you mean \"header:a\"?");
  refused(laju_policy_add_part, "header", "\"header\" needs a name; allowed:");
  refused(laju_policy_add_part, "cookie:", "\"cookie:\" needs a name; allowed:");
  refused(laju_policy_add_part, "path:x", "\"path:x\" takes no name; did you mean \"path\"?");
  refused(laju_policy_add_part, "header:a b", "\"header:a b\" has a name that cannot be;");
  refused(laju_policy_add_part, "query:\n", "\"query:?\" has a name that cannot be;");
  refused(laju_policy_add_part, "", "\"\" is not a part of a key;");
  assert_int_equal(policy.part_count, 0);
}

static void a_name_has_at_most_64_bytes(void **unused) {
  (void)unused;
  char text[80] = "cookie:";
  memset(text + 7, 'n', 65);
  refused(laju_policy_add_part, text, "\"cookie:nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\" has too long a name;");
  text[7 + 64] = '\0';
  taken(laju_policy_add_part, text);
}

static void what_stands_in_for_a_missing_part_is_one_of_four(void **unused) {
  (void)unused;
  taken(laju_policy_set_missing, "shared");
  assert_int_equal(policy.missing, LAJU_MISSING_SHARED);
  taken(laju_policy_set_missing, "skip");
  assert_int_equal(policy.missing, LAJU_MISSING_SKIP);
  taken(laju_policy_set_missing, "ip");
  assert_int_equal(policy.missing, LAJU_MISSING_IP);
  taken(laju_policy_set_missing, "deny");
  refused(laju_policy_set_missing, "Deny",
          "\"Deny\" is not known here; did you mean \"deny\"? allowed: ip, skip, deny, shared");
  assert_int_equal(policy.missing, LAJU_MISSING_DENY);
}

static void an_exemption_is_a_network_or_a_key(void **unused) {
  (void)unused;
  taken(laju_policy_add_exempt, "10.0.0.0/8");
  taken(laju_policy_add_exempt, "::1");
  taken(laju_policy_add_exempt, "key:health");
  taken(laju_policy_add_exempt, "key:10.0.0.1");
  taken(laju_policy_add_exempt, "key:probe-*");
  assert_int_equal(policy.exempt_network_count, 2);
  assert_int_equal(policy.exempt_networks[0].prefix, 104);
  assert_int_equal(policy.exempt_networks[1].prefix, 128);
  assert_int_equal(policy.exempt_key_count, 3);
  assert_string_equal(policy.exempt_keys[0].text, "health");
  assert_false(policy.exempt_keys[2].literal);
}

static void an_exemption_that_is_neither_is_told_what_was_meant(void **unused) {
  (void)unused;
  refused(laju_policy_add_exempt, "health",
          "\"health\" is not an address or a network; did you mean \"key:health\"? allowed: an address, a network");
  refused(laju_policy_add_exempt, "10.1.2.3/8",
          "\"10.1.2.3/8\" has bits beyond its prefix; did you mean \"10.0.0.0/8\"?");
  refused(laju_policy_add_exempt, "2001:db8::7/32",
          "\"2001:db8::7/32\" has bits beyond its prefix; did you mean \"2001:db8::/32\"?");
  refused(laju_policy_add_exempt, "::ffff:10.1.2.3/104",
          "\"::ffff:10.1.2.3/104\" has bits beyond its prefix; did you mean \"10.0.0.0/8\"?");
  refused(laju_policy_add_exempt, "10.0.0.0/33", "\"10.0.0.0/33\" is not an address or a network; allowed:");
  refused(laju_policy_add_exempt, "", "\"\" is not an address or a network; allowed:");
  refused(laju_policy_add_exempt, "key:", "is empty; allowed: 1 to 1024 bytes");
  assert_int_equal(policy.exempt_network_count + policy.exempt_key_count, 0);
}

static void a_thousand_exemptions_are_taken_and_one_more_is_refused(void **unused) {
  (void)unused;
  for (int i = 0; i < LAJU_EXEMPT_MAX; i++) taken(laju_policy_add_exempt, "192.0.2.1");
  refused(laju_policy_add_exempt, "192.0.2.1", "too many; allowed: at most 1024");
  for (int i = 0; i < LAJU_EXEMPT_MAX; i++) taken(laju_policy_add_exempt, "key:a");
  refused(laju_policy_add_exempt, "key:a", "too many; allowed: at most 1024");
}

static int wait_of(const char *line) {
  laju_rule rule;
  assert_int_equal(laju_rule_parse(&rule, line, why), 0);
  return laju_policy_wait_verify(&rule, why);
}

static void an_answer_is_held_back_for_a_minute_at_most(void **unused) {
  (void)unused;
  assert_int_equal(wait_of("a=10/1s leaky-bucket burst 600"), 0);
  assert_int_equal(wait_of("a=10/1s leaky-bucket burst 601"), -1);
  assert_string_equal(why,
                      "a full queue would take longer than an answer is held back (wait: server); allowed: burst * "
                      "per / limit of at most 60s");
  assert_int_equal(wait_of("a=1/1m leaky-bucket burst 1"), 0);
  assert_int_equal(wait_of("a=4294967295/1ms leaky-bucket"), 0);
  assert_int_equal(wait_of("a=1/366d leaky-bucket burst 4294967295"), -1);
  assert_int_equal(wait_of("a=0/366d leaky-bucket"), 0);
}

static void only_a_queue_has_something_to_wait_for(void **unused) {
  (void)unused;
  assert_int_equal(wait_of("a=1/1s token-bucket"), -1);
  assert_string_equal(why, "is not for token-bucket; allowed: with leaky-bucket only");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_host_is_put_in_lower_case),
      TEST(a_host_has_no_port_scheme_brackets_or_dot_at_its_end),
      TEST(a_path_begins_with_a_slash_or_a_star),
      TEST(a_pattern_has_at_most_1024_bytes),
      TEST(sixty_four_patterns_are_taken_and_one_more_is_refused),
      TEST(a_method_is_a_token_as_it_is_written),
      TEST(every_part_of_a_key_is_known),
      TEST(a_part_that_is_none_is_told_the_nearest),
      TEST(a_name_has_at_most_64_bytes),
      TEST(what_stands_in_for_a_missing_part_is_one_of_four),
      TEST(an_exemption_is_a_network_or_a_key),
      TEST(an_exemption_that_is_neither_is_told_what_was_meant),
      TEST(a_thousand_exemptions_are_taken_and_one_more_is_refused),
      TEST(an_answer_is_held_back_for_a_minute_at_most),
      TEST(only_a_queue_has_something_to_wait_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
