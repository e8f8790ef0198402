#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "limiter/limiter.h"
#include "table/snapshot.h"

#define NOON INT64_C(1700000000000000)

static laju_limiter *limiter;

static int init(void **state) {
  (void)state;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  return laju_limiter_new(&limiter, &options);
}

static int deinit(void **state) {
  (void)state;
  laju_limiter_free(limiter);
  return 0;
}

static laju_rule rule_of(const char *text) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, text, why), 0);
  return rule;
}

static laju_rule shadow_of(const char *text) {
  laju_rule rule = rule_of(text);
  rule.shadow = true;
  return rule;
}

static laju_check check_of(const laju_rule *rule, const char *key, uint32_t cost) {
  return (laju_check){.rule = rule, .key = key, .key_len = (uint32_t)strlen(key), .cost = cost};
}

static int64_t remaining(const laju_rule *rule, const char *key) {
  laju_check peek = check_of(rule, key, 0);
  laju_decision decision;
  assert_true(laju_limiter_decide_all(limiter, &peek, 1, NOON, &decision));
  return decision.remaining;
}

static void all_are_charged_or_none(void **unused) {
  (void)unused;
  laju_rule wide = rule_of("wide=10/1m"), narrow = rule_of("narrow=2/1m");
  laju_check both[] = {check_of(&wide, "k", 1), check_of(&narrow, "k", 1)};
  laju_decision decisions[2];
  assert_true(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_true(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_false(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_true(decisions[0].allowed);
  assert_false(decisions[1].allowed);
  assert_int_equal(remaining(&wide, "k"), 8);
  assert_int_equal(remaining(&narrow, "k"), 0);
}

static void a_shadow_that_would_refuse_keeps_nobody_from_passing(void **unused) {
  (void)unused;
  laju_rule enforced = rule_of("enforced=10/1m"), shadow = shadow_of("shadow=1/1m");
  laju_check both[] = {check_of(&shadow, "k", 1), check_of(&enforced, "k", 1)};
  laju_decision decisions[2];
  for (int i = 0; i < 3; i++) assert_true(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_false(decisions[0].allowed); /* what it would have said */
  assert_true(decisions[0].retry_after_us > 0);
  assert_true(decisions[1].allowed);
  assert_int_equal(decisions[1].remaining, 7);
  assert_int_equal(remaining(&shadow, "k"), 0);
}

static void a_shadow_is_charged_though_an_enforced_rule_refuses(void **unused) {
  (void)unused;
  laju_rule enforced = rule_of("enforced=1/1m"), shadow = shadow_of("shadow=10/1m");
  laju_check both[] = {check_of(&enforced, "k", 1), check_of(&shadow, "k", 1)};
  laju_decision decisions[2];
  assert_true(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_false(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_false(decisions[0].allowed);
  assert_true(decisions[1].allowed);
  assert_int_equal(decisions[1].remaining, 8);
  assert_int_equal(remaining(&shadow, "k"), 8);
}

static void shadows_do_not_hold_each_other_back(void **unused) {
  (void)unused;
  laju_rule narrow = shadow_of("narrow=1/1m"), wide = shadow_of("wide=10/1m");
  laju_check both[] = {check_of(&narrow, "k", 1), check_of(&wide, "k", 1)};
  laju_decision decisions[2];
  for (int i = 0; i < 4; i++) assert_true(laju_limiter_decide_all(limiter, both, 2, NOON, decisions));
  assert_false(decisions[0].allowed);
  assert_int_equal(decisions[1].remaining, 6);
}

static void each_decision_stands_at_the_place_of_its_check(void **unused) {
  (void)unused;
  laju_rule a = rule_of("a=10/1m"), b = rule_of("b=20/1m"), s = shadow_of("s=30/1m"), t = shadow_of("t=40/1m");
  laju_check checks[] = {check_of(&s, "k", 3), check_of(&a, "k", 1), check_of(&t, "k", 4), check_of(&b, "k", 2)};
  laju_decision decisions[4];
  assert_true(laju_limiter_decide_all(limiter, checks, 4, NOON, decisions));
  assert_int_equal(decisions[0].remaining, 27);
  assert_int_equal(decisions[1].remaining, 9);
  assert_int_equal(decisions[2].remaining, 36);
  assert_int_equal(decisions[3].remaining, 18);
}

static void as_many_shadows_as_there_may_be_checks_pass(void **unused) {
  (void)unused;
  laju_rule shadow = shadow_of("s=10/1m");
  laju_check checks[LAJU_CHECKS_MAX];
  laju_decision decisions[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < LAJU_CHECKS_MAX; i++) checks[i] = check_of(&shadow, "k", 1);
  assert_true(laju_limiter_decide_all(limiter, checks, LAJU_CHECKS_MAX, NOON, decisions));
  assert_true(decisions[9].allowed);
  assert_false(decisions[10].allowed); /* the eleventh of ten, in order */
}

static void a_rule_and_its_override_share_a_key_but_not_another_period(void **unused) {
  (void)unused;
  laju_rule own = rule_of("api=10/1m"), more = rule_of("api=100/1m"), other = rule_of("api=10/1h");
  laju_check check = check_of(&own, "k", 4);
  laju_decision decision;
  assert_true(laju_limiter_decide_all(limiter, &check, 1, NOON, &decision));
  assert_int_equal(remaining(&own, "k"), 6);
  assert_int_equal(remaining(&more, "k"), 96);
  assert_int_equal(remaining(&other, "k"), 10);
}

static void time_does_not_begin_before_the_snapshot_that_was_loaded(void **unused) {
  (void)unused;
  char path[] = "/tmp/laju-limiter-XXXXXX", why[LAJU_TEXT_SIZE];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  int64_t later_us = laju_limiter_now_us(limiter) + INT64_C(3600000000); /* the clock was set back by an hour since */
  assert_int_equal(laju_snapshot_save(laju_limiter_table(limiter), path, later_us, NULL, why), 0);
  laju_limiter *after;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  assert_int_equal(laju_limiter_new(&after, &options), 0);
  assert_int_equal(laju_limiter_load(after, path, why), 0);
  assert_true(laju_limiter_now_us(after) >= later_us);
  laju_limiter_free(after);
  unlink(path);
}

static void one_for_a_shared_store_has_a_memory_of_denials_in_its_own_memory(void **unused) {
  (void)unused;
  assert_null(laju_limiter_denials(limiter));
  laju_limiter *shared;
  laju_table_stats alone, with;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  assert_int_equal(laju_limiter_new_shared(&shared, &options), 0);
  assert_non_null(laju_limiter_denials(shared));
  laju_table_stats_read(laju_limiter_table(limiter), &alone);
  laju_table_stats_read(laju_limiter_table(shared), &with);
  assert_int_equal((alone.slots - with.slots) / 5 * 128, (1 << 20) / 16);
  laju_limiter_free(shared);
  assert_int_equal(laju_limiter_new_shared(&shared, NULL), 0);
  assert_non_null(laju_limiter_denials(shared));
  laju_limiter_free(shared);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(all_are_charged_or_none),
      TEST(a_shadow_that_would_refuse_keeps_nobody_from_passing),
      TEST(a_shadow_is_charged_though_an_enforced_rule_refuses),
      TEST(shadows_do_not_hold_each_other_back),
      TEST(each_decision_stands_at_the_place_of_its_check),
      TEST(as_many_shadows_as_there_may_be_checks_pass),
      TEST(a_rule_and_its_override_share_a_key_but_not_another_period),
      TEST(one_for_a_shared_store_has_a_memory_of_denials_in_its_own_memory),
      TEST(time_does_not_begin_before_the_snapshot_that_was_loaded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
