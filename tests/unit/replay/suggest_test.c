#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/decide.h"
#include "core/rule.h"
#include "replay/suggest.h"

#define SECOND INT64_C(1000000)
#define BEGIN (INT64_C(1790000000) * SECOND)

static laju_history history;
static laju_ruleset *rules;
static laju_suggested out[2];

static void begin(const char *first, const char *second) {
  laju_policy policies[2];
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  size_t count = 0;
  for (const char *line = first; line != NULL; line = count == 1 ? second : NULL) {
    assert_int_equal(laju_rule_parse(&rule, line, why), 0);
    laju_policy_init(&policies[count++], &rule);
  }
  assert_int_equal(laju_ruleset_new(&rules, policies, count), 0);
  assert_int_equal(laju_history_init(&history), 0);
}

static void finish(void) {
  laju_history_deinit(&history);
  laju_ruleset_free(rules);
}

static void ask(uint32_t rule, const char *key, int64_t after_us) {
  laju_history_add(&history, rule, key, strlen(key), BEGIN + after_us);
}

static void suggests(uint32_t share, const uint32_t limits[3], const uint32_t bursts[3]) {
  assert_int_equal(laju_suggest(&history, rules, share, out), 0);
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(out[0].periods[i].limit, limits[i]);
    assert_int_equal(out[0].periods[i].burst, bursts[i]);
  }
}

/* 4 at once, 2 a minute later, 1 half an hour later. */
static void ask_seven(void) {
  for (int i = 0; i < 4; i++) ask(0, "a", 0);
  for (int i = 0; i < 2; i++) ask(0, "a", 60 * SECOND);
  ask(0, "a", 1800 * SECOND);
}

static void a_log_needs_the_most_in_any_window(void **state) {
  (void)state;
  begin("r=1/1s sliding-window-log", NULL);
  ask_seven();
  suggests(0, (uint32_t[]){4, 4, 7}, (uint32_t[]){4, 4, 7});
  finish();
}

static void a_window_ends_exactly_one_period_later(void **state) {
  (void)state;
  begin("r=1/1s sliding-window-log", NULL);
  ask(0, "a", 0);
  ask(0, "a", SECOND);
  ask(0, "a", 2 * SECOND - 1);
  suggests(0, (uint32_t[]){2, 3, 3}, (uint32_t[]){2, 3, 3});
  finish();
}

static void fixed_windows_need_the_most_in_one_of_the_clocks(void **state) {
  (void)state;
  begin("r=1/1s fixed-window", NULL);
  ask(0, "a", 900000);
  ask(0, "a", 1100000); /* within one second, and in two of the clock's */
  suggests(0, (uint32_t[]){1, 2, 2}, (uint32_t[]){1, 2, 2});
  finish();
}

/* 10 tokens a second steadily: a bucket needs a limit of 10 a second, and then a burst of 1. */
static void a_steady_stream_needs_little_burst(void **state) {
  (void)state;
  begin("r=1/1s token-bucket", NULL);
  for (int i = 0; i < 6000; i++) ask(0, "a", i * SECOND / 10);
  assert_int_equal(laju_suggest(&history, rules, 0, out), 0);
  assert_int_equal(out[0].periods[0].limit, 10);
  assert_int_equal(out[0].periods[0].burst, 1);
  finish();
}

static void costs_are_counted(void **state) {
  (void)state;
  begin("r=1/1s sliding-window-log cost 5", NULL);
  ask_seven();
  suggests(0, (uint32_t[]){20, 20, 35}, (uint32_t[]){20, 20, 35});
  finish();
}

static void so_many_keys_may_be_refused(void **state) {
  (void)state;
  char key[8];
  begin("r=1/1s fixed-window", NULL);
  for (int i = 1; i <= 10; i++) { /* key i asks i times */
    snprintf(key, sizeof key, "%d", i);
    for (int n = 0; n < i; n++) ask(0, key, 0);
  }
  suggests(0, (uint32_t[]){10, 10, 10}, (uint32_t[]){10, 10, 10});
  assert_int_equal(out[0].refused, 0);
  suggests(99999, (uint32_t[]){10, 10, 10}, (uint32_t[]){10, 10, 10});
  suggests(100000, (uint32_t[]){9, 9, 9}, (uint32_t[]){9, 9, 9});
  assert_int_equal(out[0].keys, 10);
  assert_int_equal(out[0].refused, 1);
  suggests(500000, (uint32_t[]){5, 5, 5}, (uint32_t[]){5, 5, 5});
  finish();
}

static void rules_are_looked_at_apart(void **state) {
  (void)state;
  begin("r=1/1s token-bucket", "s=1/1s fixed-window");
  for (int i = 0; i < 3; i++) ask(0, "a", 0);
  for (int i = 0; i < 7; i++) ask(1, "a", 0);
  suggests(0, (uint32_t[]){3, 3, 3}, (uint32_t[]){3, 3, 3});
  assert_int_equal(out[1].periods[0].limit, 7);
  finish();
}

static void a_rule_that_nobody_met_has_none(void **state) {
  (void)state;
  begin("r=1/1s token-bucket", "s=1/1s fixed-window");
  ask(1, "a", 0);
  suggests(0, (uint32_t[]){0, 0, 0}, (uint32_t[]){0, 0, 0});
  assert_int_equal(out[0].keys, 0);
  assert_int_equal(out[1].periods[2].limit, 1);
  finish();
}

static void what_no_log_can_hold_is_not_suggested(void **state) {
  (void)state;
  begin("r=1/1s sliding-window-log cost 65536", NULL);
  ask(0, "a", 0);
  suggests(0, (uint32_t[]){65536, 65536, 65536}, (uint32_t[]){65536, 65536, 65536});
  ask(0, "a", 1800 * SECOND);
  suggests(0, (uint32_t[]){65536, 65536, 0}, (uint32_t[]){65536, 65536, 0});
  finish();
}

static void what_no_rule_can_hold_is_not_suggested(void **state) {
  (void)state;
  static const char *const lines[] = {"r=1/1s token-bucket cost 4000000000", "r=1/1s fixed-window cost 4000000000",
                                      "r=1/1s cost 4000000000"};
  for (size_t i = 0; i < 3; i++) {
    begin(lines[i], NULL);
    ask(0, "a", 0);
    ask(0, "a", 10 * SECOND);
    suggests(0, (uint32_t[]){4000000000, 0, 0}, (uint32_t[]){4000000000, 0, 0});
    finish();
  }
}

/* ---- by trying ---- */

typedef struct asked {
  int64_t now_us;
  uint32_t key;
} asked;

#define ASKED 3000
#define KEYS 40

static asked all[ASKED];

/* How many keys meet a refusal under this rule. */
static unsigned refused_under(const laju_rule *rule) {
  laju_state states[KEYS] = {0};
  bool met[KEYS] = {false};
  unsigned count = 0;
  for (size_t i = 0; i < ASKED; i++) {
    laju_decision d;
    laju_decide(rule, &states[all[i].key], all[i].now_us, rule->cost, &d);
    if (!d.allowed && !met[all[i].key]) count++;
    if (!d.allowed) met[all[i].key] = true;
  }
  return count;
}

static unsigned refused_with(laju_algorithm algorithm, int64_t period_us, uint32_t limit, uint32_t burst) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "r", 1, algorithm, limit, period_us, limit > 0 ? burst : 0), 0);
  return refused_under(&rule);
}

static void make_asked(unsigned seed) {
  int64_t now_us = BEGIN;
  char key[8];
  srandom(seed);
  for (size_t i = 0; i < ASKED; i++) {
    if (random() % 4 == 0) now_us += random() % (10 * SECOND);
    if (random() % 200 == 0) now_us += random() % (1000 * SECOND);
    uint32_t draw = (uint32_t)(random() % KEYS);
    all[i] = (asked){now_us, draw * draw / KEYS};
    snprintf(key, sizeof key, "%u", all[i].key);
    laju_history_add(&history, 0, key, strlen(key), now_us);
  }
}

static void one_less_refuses_more_than_the_share(void **state) {
  (void)state;
  static const char *const lines[] = {"r=1/1s token-bucket", "r=1/1s leaky-bucket", "r=1/1s fixed-window", "r=1/1s"};
  for (size_t i = 0; i < 4; i++) {
    begin(lines[i], NULL);
    make_asked((unsigned)i + 1);
    assert_int_equal(laju_suggest(&history, rules, 100000, out), 0);
    laju_algorithm algorithm = laju_ruleset_at(rules, 0)->rule.algorithm;
    bool bucket = laju_algorithm_is_bucket(algorithm);
    for (size_t p = 0; p < LAJU_SUGGEST_PERIODS; p++) {
      int64_t period_us = laju_suggest_periods_us[p];
      uint32_t limit = out[0].periods[p].limit, burst = out[0].periods[p].burst;
      assert_true(refused_with(algorithm, period_us, limit, burst) <= out[0].refused);
      assert_true(refused_with(algorithm, period_us, limit - 1, limit - 1) > out[0].refused);
      if (bucket && burst > 1) assert_true(refused_with(algorithm, period_us, limit, burst - 1) > out[0].refused);
    }
    finish();
  }
}

/* ---- shares ---- */

static void shares_are_read_to_the_millionth(void **state) {
  (void)state;
  uint32_t share;
  assert_int_equal(laju_share_parse("p99.9", &share), 0);
  assert_int_equal(share, 1000);
  assert_int_equal(laju_share_parse("p99.9999", &share), 0);
  assert_int_equal(share, 1);
  assert_int_equal(laju_share_parse("p50", &share), 0);
  assert_int_equal(share, 500000);
  assert_int_equal(laju_share_parse("p100", &share), 0);
  assert_int_equal(share, 0);
  static const char *const bad[] = {"",     "99.9",      "p",      "p9",   "p49.9999", "p100.1", "p99.",
                                    "p.99", "p99.99999", "p99.9%", "p-99", "p999",     "P99"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(laju_share_parse(bad[i], &share), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_log_needs_the_most_in_any_window),
      cmocka_unit_test(a_window_ends_exactly_one_period_later),
      cmocka_unit_test(fixed_windows_need_the_most_in_one_of_the_clocks),
      cmocka_unit_test(a_steady_stream_needs_little_burst),
      cmocka_unit_test(costs_are_counted),
      cmocka_unit_test(so_many_keys_may_be_refused),
      cmocka_unit_test(rules_are_looked_at_apart),
      cmocka_unit_test(a_rule_that_nobody_met_has_none),
      cmocka_unit_test(what_no_log_can_hold_is_not_suggested),
      cmocka_unit_test(what_no_rule_can_hold_is_not_suggested),
      cmocka_unit_test(one_less_refuses_more_than_the_share),
      cmocka_unit_test(shares_are_read_to_the_millionth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
