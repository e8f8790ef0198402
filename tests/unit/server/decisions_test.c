#include "server/decisions.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

#define PATIENCE_MS 30000

static laju_decisions *decisions;
static laju_terms terms;
static laju_policy policies[2];
static laju_ruleset *rules;
static laju_batch *batch;
static uint64_t random_state;
static int ends[2], stderr_before;

static laju_policy policy_of(const char *line, laju_part_kind kind) {
  laju_rule rule;
  laju_policy policy;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, line, why), 0);
  rule.number = 1;
  laju_policy_init(&policy, &rule);
  policy.parts[0] = (laju_part){.kind = kind, .name = "x"};
  return policy;
}

/* What is written to stderr comes here. */
static int setup(void **state) {
  static const uint64_t hash_key[2] = {1, 2};
  (void)state;
  policies[0] = policy_of("login=5/1m token-bucket", LAJU_PART_IP);
  policies[1] = policy_of("api=5/1m", LAJU_PART_HEADER);
  batch = laju_batch_new();
  if (batch == NULL || laju_ruleset_new(&rules, policies, 2) < 0 || laju_decisions_new(&decisions, hash_key) < 0)
    return -1;
  terms = (laju_terms){.rules = rules, .log_decisions = LAJU_LOG_ALL, .log_sample = LAJU_CONFIG_SAMPLE_ALL};
  laju_batch_clear(batch);
  random_state = 1;
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  stderr_before = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  return 0;
}

static void give_stderr_back(void) {
  if (stderr_before < 0) return;
  dup2(stderr_before, STDERR_FILENO);
  close(stderr_before);
  stderr_before = -1;
}

/* Reads what is left, to its end. */
static void *drain(void *unused) {
  static char text[65536];
  while (read(ends[0], text, sizeof text) > 0) {
  }
  return unused;
}

static int teardown(void **state) {
  pthread_t reader;
  (void)state;
  if (pthread_create(&reader, NULL, drain, NULL) != 0) return -1;
  laju_decisions_free(decisions);
  give_stderr_back();
  close(ends[1]);
  pthread_join(reader, NULL);
  close(ends[0]);
  laju_ruleset_free(rules);
  laju_batch_free(batch);
  return 0;
}

static void given(size_t rule, const char *key, size_t len, laju_decision decision) {
  size_t at = batch->check_count++;
  batch->checks[at] =
      (laju_check){.rule = &laju_ruleset_at(rules, rule)->rule, .key = key, .key_len = (uint32_t)len, .cost = 1};
  batch->decisions[at] = decision;
  batch->asks[batch->ask_count++] = (laju_ask){.kind = LAJU_ASK_EACH, .first = (uint32_t)at, .count = 1};
  batch->now_us = INT64_C(1767225599123456);
}

static void logged(void) {
  laju_decisions_write(decisions, &terms, LAJU_DOOR_HTTP, batch, &random_state);
}

/* `lines` lines. */
static const char *heard(size_t lines) {
  static char text[65536];
  size_t len = 0;
  for (size_t found = 0; found < lines;) {
    struct pollfd there = {.fd = ends[0], .events = POLLIN};
    assert_int_equal(poll(&there, 1, PATIENCE_MS), 1);
    ssize_t got = read(ends[0], text + len, sizeof text - 1 - len);
    assert_true(got > 0);
    for (ssize_t i = 0; i < got; i++) found += text[len + (size_t)i] == '\n';
    len += (size_t)got;
  }
  text[len] = '\0';
  return text;
}

static const laju_decision allowed = {.allowed = true, .limit = 5, .remaining = 4},
                           denied = {.limit = 5, .retry_after_us = 1500001},
                           never = {.limit = 5, .retry_after_us = LAJU_NEVER},
                           fallback = {.allowed = true, .limit = 5, .remaining = 5, .basis = LAJU_FALLBACK};

static void a_decision_is_a_line(void **state) {
  (void)state;
  given(0, "192.0.2.1", 9, allowed);
  given(0, "ada lovelace\0", 13, denied);
  given(0, "x", 1, never);
  given(0, "x", 1, fallback);
  logged();
  assert_string_equal(
      heard(4),
      "time=2025-12-31T23:59:59.123Z level=info msg=decision door=http rule=login key=192.0.2.1 decision=allowed cost=1 "
      "limit=5 remaining=4 retry_after_ms=0\n"
      "time=2025-12-31T23:59:59.123Z level=info msg=decision door=http rule=login key=\"ada lovelace?\" decision=denied cost=1 "
      "limit=5 remaining=0 retry_after_ms=1501\n"
      "time=2025-12-31T23:59:59.123Z level=info msg=decision door=http rule=login key=x decision=denied cost=1 "
      "limit=5 remaining=0 retry_after_ms=never\n"
      "time=2025-12-31T23:59:59.123Z level=info msg=decision door=http rule=login key=x decision=allowed cost=1 "
      "limit=5 remaining=5 retry_after_ms=0 source=fallback\n");
}

static void keys_are_shown_as_operators_see_them(void **state) {
  (void)state;
  given(1, "Bearer abcdefghijkl", 19, denied);
  logged();
  const char *line = heard(1);
  assert_non_null(strstr(line, " key=Bear…"));
  assert_null(strstr(line, "Bearer"));
}

/* A check that waited for the store meanwhile was made under the rule before. */
static void what_was_a_secret_stays_one_over_a_reload(void **state) {
  (void)state;
  laju_rule secret = laju_ruleset_at(rules, 0)->rule, veiled = secret;
  secret.secret = true;
  veiled.veils = 0x0101;
  given(0, "0123456789abcdef", 16, denied);
  given(0, "0123456789abcdef", 16, denied);
  batch->checks[0].rule = &secret;
  batch->checks[1].rule = &veiled;
  logged();
  const char *lines = heard(2);
  assert_non_null(strstr(lines, " key=0123…"));
  assert_null(strstr(lines, "456789"));
}

static void only_denials_are_written_where_that_is_asked_for(void **state) {
  (void)state;
  terms.log_decisions = LAJU_LOG_DENIED;
  given(0, "in", 2, allowed);
  given(0, "out", 3, denied);
  logged();
  const char *text = heard(1);
  assert_non_null(strstr(text, "key=out"));
  assert_null(strstr(text, "key=in"));
}

static void nobody_s_decisions_are_left_out_and_what_was_not_decided_is_an_error(void **state) {
  (void)state;
  given(0, "unasked", 7, (laju_decision){.allowed = true, .basis = LAJU_UNASKED});
  given(0, "split", 5, denied);
  batch->asks[1].split = true;
  logged();
  const char *text = heard(1);
  assert_null(strstr(text, "unasked"));
  assert_non_null(strstr(text, "key=split decision=error"));
}

static void a_sample_is_about_as_large_as_it_is_told(void **state) {
  (void)state;
  terms.log_sample = LAJU_CONFIG_SAMPLE_ALL / 100;
  for (size_t i = 0; i < 100; i++) given(0, "k", 1, denied);
  for (size_t i = 0; i < 200; i++) logged(); /* 20,000 decisions: 200 of them */
  laju_decisions_free(decisions);
  decisions = NULL;
  give_stderr_back();
  assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0); /* all is there */
  static char text[65536];
  size_t lines = 0;
  for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < got; i++) lines += text[i] == '\n';
  }
  assert_in_range(lines, 120, 300);
  assert_int_equal(fcntl(ends[0], F_SETFL, 0), 0);
}

static void where_nobody_reads_nobody_waits_and_what_is_dropped_is_counted(void **state) {
  (void)state;
  for (size_t i = 0; i < 100; i++) given(0, "k", 1, denied);
  for (size_t i = 0; i < 400; i++) logged(); /* 40,000 lines, some 5 MiB */
  assert_in_range(laju_decisions_dropped(decisions), 15000, 39000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_decision_is_a_line),
      TEST(keys_are_shown_as_operators_see_them),
      TEST(what_was_a_secret_stays_one_over_a_reload),
      TEST(only_denials_are_written_where_that_is_asked_for),
      TEST(nobody_s_decisions_are_left_out_and_what_was_not_decided_is_an_error),
      TEST(a_sample_is_about_as_large_as_it_is_told),
      TEST(where_nobody_reads_nobody_waits_and_what_is_dropped_is_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
