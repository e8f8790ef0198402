#include "limiter/fixture.h"

#include "limiter/fallback.h"

static laju_rule rule_on_error(const char *text, laju_on_store_error on_store_error) {
  laju_rule rule = exact_of(text);
  rule.on_store_error = on_store_error;
  return rule;
}

static bool fall_back(const laju_rule *rule, uint32_t cost, laju_decision *out) {
  laju_check check = check_of(rule, "ann", cost);
  return laju_fallback_decide(&node, &check, 1, NOON, out);
}

static const laju_on_store_error every[] = {LAJU_STORE_ERROR_ALLOW, LAJU_STORE_ERROR_DENY, LAJU_STORE_ERROR_LOCAL};

static void allow_lets_pass_as_if_nothing_had_been_used(void **unused) {
  (void)unused;
  laju_rule rule = rule_on_error("api=10/1m", LAJU_STORE_ERROR_ALLOW);
  for (int i = 0; i < 20; i++) {
    laju_decision d;
    assert_true(fall_back(&rule, 4, &d));
    assert_true(d.allowed);
    assert_int_equal(d.basis, LAJU_FALLBACK);
    assert_int_equal(d.limit, 10);
    assert_int_equal(d.remaining, 6);
    assert_true(d.retry_after_us == 0 && d.more_after_us == 0 && d.reset_after_us == 0 && d.delay_us == 0);
  }
  assert_int_equal(node.counters.fallbacks_allowed, 20);
  assert_int_equal(node.counters.fallbacks_denied, 0);
  assert_int_equal(here(&rule, "ann"), 10);
}

static void deny_refuses_for_a_second(void **unused) {
  (void)unused;
  laju_rule rule = rule_on_error("api=10/1m", LAJU_STORE_ERROR_DENY);
  laju_decision d;
  assert_false(fall_back(&rule, 1, &d));
  assert_false(d.allowed);
  assert_int_equal(d.basis, LAJU_FALLBACK);
  assert_int_equal(d.limit, 10);
  assert_int_equal(d.remaining, 0);
  assert_int_equal(d.retry_after_us, SECOND);
  assert_int_equal(d.more_after_us, SECOND);
  assert_int_equal(node.counters.fallbacks_denied, 1);
}

static void local_gives_this_node_its_share(void **unused) {
  (void)unused;
  atomic_store(&nodes, 3);
  laju_rule rule = rule_on_error("api=10/1m token-bucket burst 20", LAJU_STORE_ERROR_LOCAL);
  laju_decision d;
  for (int i = 0; i < 6; i++) assert_true(fall_back(&rule, 1, &d)); /* 20 / 3 at once */
  assert_int_equal(d.limit, 6);
  assert_int_equal(d.remaining, 0);
  assert_false(fall_back(&rule, 1, &d));
  assert_int_equal(d.basis, LAJU_FALLBACK);
  assert_int_equal(d.retry_after_us, 20 * SECOND); /* 10 / 3 a minute */
}

static void a_share_is_at_least_1_of_what_is_not_0(void **unused) {
  (void)unused;
  atomic_store(&nodes, 30);
  laju_rule few = rule_on_error("few=10/1m", LAJU_STORE_ERROR_LOCAL);
  laju_rule none = rule_on_error("none=0/1m", LAJU_STORE_ERROR_LOCAL);
  laju_decision d;
  assert_true(fall_back(&few, 1, &d));
  assert_int_equal(d.limit, 1);
  assert_false(fall_back(&few, 1, &d));
  assert_false(fall_back(&none, 1, &d));
  assert_int_equal(d.retry_after_us, LAJU_NEVER);
  assert_int_equal(d.limit, 0);
}

static void a_cost_above_the_share_waits_for_the_store(void **unused) {
  (void)unused;
  atomic_store(&nodes, 5);
  laju_rule rule = rule_on_error("api=10/1m", LAJU_STORE_ERROR_LOCAL);
  laju_decision d;
  assert_false(fall_back(&rule, 3, &d));
  assert_int_equal(d.retry_after_us, LAJU_FALLBACK_RETRY_US);
  assert_int_equal(d.remaining, 2);
  assert_true(fall_back(&rule, 2, &d));
}

static void a_cost_above_the_capacity_is_refused_for_ever_under_all_three(void **unused) {
  (void)unused;
  for (size_t i = 0; i < 3; i++) {
    laju_rule rule = rule_on_error("api=10/1m", every[i]), zero = rule_on_error("zero=0/1m", every[i]);
    laju_decision d;
    assert_false(fall_back(&rule, 11, &d));
    assert_int_equal(d.retry_after_us, LAJU_NEVER);
    assert_int_equal(d.basis, LAJU_FALLBACK);
    assert_int_equal(d.limit, 10);
    assert_false(fall_back(&zero, 1, &d));
    assert_int_equal(d.retry_after_us, LAJU_NEVER);
  }
}

static void a_peek_is_allowed_under_all_three(void **unused) {
  (void)unused;
  for (size_t i = 0; i < 3; i++) {
    laju_rule rule = rule_on_error("api=10/1m", every[i]), zero = rule_on_error("zero=0/1m", every[i]);
    laju_decision d;
    assert_true(fall_back(&rule, 0, &d));
    assert_int_equal(d.retry_after_us, 0);
    assert_int_equal(d.remaining, every[i] == LAJU_STORE_ERROR_DENY ? 0 : 10);
    assert_true(fall_back(&zero, 0, &d));
    assert_int_equal(d.remaining, 0);
  }
}

static void of_several_any_refusal_refuses_and_nothing_is_charged(void **unused) {
  (void)unused;
  laju_rule local = rule_on_error("local=10/1m", LAJU_STORE_ERROR_LOCAL);
  laju_rule deny = rule_on_error("deny=10/1m", LAJU_STORE_ERROR_DENY);
  laju_rule allow = rule_on_error("allow=10/1m", LAJU_STORE_ERROR_ALLOW);
  laju_check checks[] = {check_of(&local, "ann", 4), check_of(&deny, "ann", 1), check_of(&allow, "ann", 1)};
  laju_decision d[3];
  assert_false(laju_fallback_decide(&node, checks, 3, NOON, d));
  assert_true(d[0].allowed && !d[1].allowed && d[2].allowed);
  assert_int_equal(d[0].remaining, 6); /* as it answered at its turn */
  assert_int_equal(here(&local, "ann"), 10);
  assert_int_equal(node.counters.fallbacks_allowed, 2);
  assert_int_equal(node.counters.fallbacks_denied, 1);

  checks[1].cost = 0;
  assert_true(laju_fallback_decide(&node, checks, 3, NOON, d));
  assert_int_equal(here(&local, "ann"), 6);
}

static void shares_of_one_request_are_charged_together_or_not_at_all(void **unused) {
  (void)unused;
  laju_rule wide = rule_on_error("wide=10/1m", LAJU_STORE_ERROR_LOCAL);
  laju_rule narrow = rule_on_error("narrow=2/1m", LAJU_STORE_ERROR_LOCAL);
  laju_check checks[] = {check_of(&wide, "ann", 1), check_of(&narrow, "ann", 2), check_of(&narrow, "ann", 1)};
  laju_decision d[3];
  assert_false(laju_fallback_decide(&node, checks, 3, NOON, d)); /* the repeat finds the two tokens taken */
  assert_false(d[2].allowed);
  assert_int_equal(here(&wide, "ann"), 10);
  assert_true(laju_fallback_decide(&node, checks, 2, NOON, d));
  assert_int_equal(here(&wide, "ann"), 9);
  assert_int_equal(here(&narrow, "ann"), 0);
}

static void sixteen_shares_are_decided_each_at_its_place(void **unused) {
  (void)unused;
  laju_rule rule = rule_on_error("api=16/1m", LAJU_STORE_ERROR_LOCAL);
  laju_check checks[LAJU_CHECKS_MAX];
  laju_decision d[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < LAJU_CHECKS_MAX; i++) checks[i] = check_of(&rule, "ann", 1);
  assert_true(laju_fallback_decide(&node, checks, LAJU_CHECKS_MAX, NOON, d));
  for (uint32_t i = 0; i < LAJU_CHECKS_MAX; i++) assert_int_equal(d[i].remaining, 15 - i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(allow_lets_pass_as_if_nothing_had_been_used),
      TEST(deny_refuses_for_a_second),
      TEST(local_gives_this_node_its_share),
      TEST(a_share_is_at_least_1_of_what_is_not_0),
      TEST(a_cost_above_the_share_waits_for_the_store),
      TEST(a_cost_above_the_capacity_is_refused_for_ever_under_all_three),
      TEST(a_peek_is_allowed_under_all_three),
      TEST(of_several_any_refusal_refuses_and_nothing_is_charged),
      TEST(shares_of_one_request_are_charged_together_or_not_at_all),
      TEST(sixteen_shares_are_decided_each_at_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
