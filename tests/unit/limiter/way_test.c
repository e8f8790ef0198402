#include "limiter/fixture.h"

#include "core/decide.h"
#include "limiter/claim.h"

/* Notes in the memory of denials that a key's tokens were all used up at noon, which refused the check. */
static void remember(const laju_check *check, laju_slice group) {
  laju_denial denial = {.check = check, .group = group, .sent_us = NOON, .store_us = NOON};
  laju_decide(check->rule, &denial.found, NOON, check->rule->capacity, &denial.decision);
  laju_state state = denial.found;
  laju_decide(check->rule, &state, NOON, check->cost, &denial.decision);
  assert_false(denial.decision.allowed);
  laju_denials_remember(laju_limiter_denials(node.limiter), &denial, NOON);
}

static const laju_slice no_group;

#define CLAIM(of, the_checks, the_decisions)                                       \
  (laju_claim) {                                                                   \
    .kind = LAJU_CLAIM_##of, .checks = (the_checks), .decisions = (the_decisions), \
    .count = sizeof(the_checks) / sizeof *(the_checks)                             \
  }

/* ---- all or none ---- */

static void what_the_table_alone_holds_is_decided_at_once(void **unused) {
  (void)unused;
  laju_rule wide = rule_of("wide=10/1m"), narrow = rule_of("narrow=1/1m"), shadow = shadow_of(rule_of("shadow=1/1m"));
  laju_check checks[] = {check_of(&wide, "ann", 2), check_of(&shadow, "ann", 1), check_of(&narrow, "ann", 1)};
  laju_decision d[3];
  laju_claim claim = CLAIM(ALL, checks, d);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_true(claim.allowed);
  assert_int_equal(d[0].remaining, 8);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_false(claim.allowed);
  assert_true(d[0].allowed && !d[1].allowed && !d[2].allowed);
  assert_int_equal(here(&wide, "ann"), 8);
}

static void without_a_store_the_table_decides_exact_rules_too(void **unused) {
  (void)unused;
  node.store = NULL;
  laju_rule rule = exact_of("api=10/1m");
  laju_check checks[] = {check_of(&rule, "ann", 2)};
  laju_decision d[1];
  laju_claim claim = CLAIM(ALL, checks, d);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_int_equal(here(&rule, "ann"), 8);
}

static void an_exact_check_that_is_not_known_is_left_and_nothing_is_charged(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=10/1m"), exact = exact_of("exact=10/1m"),
            shadow = shadow_of(exact_of("shadow=1/1m"));
  laju_check checks[] = {check_of(&table, "ann", 2), check_of(&exact, "ann", 1)};
  laju_decision d[2];
  laju_claim claim = CLAIM(ALL, checks, d);
  assert_false(laju_way_decide(&node, &claim, NOON));
  checks[1] = check_of(&shadow, "ann", 1);
  assert_false(laju_way_decide(&node, &claim, NOON));
  assert_int_equal(here(&table, "ann"), 10);
}

static void a_remembered_refusal_refuses_the_request_without_asking(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=10/1m"), known = exact_of("known=5/1m token-bucket"), other = exact_of("other=7/1m");
  laju_check checks[] = {check_of(&table, "ann", 4), check_of(&other, "ann", 1), check_of(&known, "ann", 2),
                         check_of(&table, "ann", 4)};
  laju_decision d[4];
  laju_claim claim = CLAIM(ALL, checks, d);
  remember(&checks[2], no_group);
  assert_true(laju_way_decide(&node, &claim, NOON + 3 * SECOND));
  assert_false(claim.allowed);
  assert_false(d[2].allowed);
  assert_int_equal(d[2].basis, LAJU_DECIDED);
  assert_int_equal(d[2].retry_after_us, 21 * SECOND);
  assert_true(d[1].allowed);
  assert_int_equal(d[1].basis, LAJU_UNASKED);
  assert_int_equal(d[1].limit, 7);
  assert_int_equal(d[1].remaining, 7);
  assert_int_equal(d[1].retry_after_us + d[1].more_after_us + d[1].reset_after_us, 0);
  assert_int_equal(d[0].remaining, 6); /* as they would have answered, each at its turn */
  assert_int_equal(d[3].remaining, 2);
  assert_int_equal(here(&table, "ann"), 10);
  assert_int_equal(node.counters.remembered, 1);
  assert_false(laju_way_decide(&node, &claim, NOON + 24 * SECOND)); /* its wait is over */
}

static void the_memory_speaks_for_its_cost_and_above_and_of_no_peek(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=5/1m");
  laju_check checks[] = {check_of(&rule, "ann", 3)};
  laju_decision d[1];
  laju_claim claim = CLAIM(ALL, checks, d);
  remember(&checks[0], no_group);
  checks[0].cost = 2;
  assert_false(laju_way_decide(&node, &claim, NOON));
  checks[0].cost = 0;
  assert_false(laju_way_decide(&node, &claim, NOON));
  checks[0].cost = 5;
  assert_true(laju_way_decide(&node, &claim, NOON));
}

static void no_memory_is_used_where_it_is_off_or_in_transactions(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=5/1m");
  laju_check checks[] = {check_of(&rule, "ann", 1)};
  laju_decision d[1];
  laju_claim claim = CLAIM(ALL, checks, d);
  remember(&checks[0], no_group);
  node.transaction = true;
  assert_false(laju_way_decide(&node, &claim, NOON));
  node.transaction = false;
  node.deny_cache = false;
  assert_false(laju_way_decide(&node, &claim, NOON));
  node.deny_cache = true;
  assert_true(laju_way_decide(&node, &claim, NOON));
}

static void a_key_of_another_group_is_another(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=5/1m");
  rule.grouped = true;
  laju_check checks[] = {check_of(&rule, "ann", 1)};
  laju_slice groups[] = {{"team", 4}};
  laju_decision d[1];
  laju_claim claim = CLAIM(ALL, checks, d);
  claim.groups = groups;
  remember(&checks[0], groups[0]);
  assert_true(laju_way_decide(&node, &claim, NOON));
  groups[0] = (laju_slice){"crew", 4};
  assert_false(laju_way_decide(&node, &claim, NOON));
  rule.grouped = false; /* then the group is nothing to it */
  remember(&checks[0], no_group);
  assert_true(laju_way_decide(&node, &claim, NOON));
}

static void a_limit_of_0_is_refused_without_store_or_memory(void **unused) {
  (void)unused;
  node.deny_cache = false;
  laju_rule zero = exact_of("zero=0/1m"), other = exact_of("other=7/1m");
  laju_check checks[] = {check_of(&zero, "ann", 1), check_of(&other, "ann", 1)};
  laju_decision d[2];
  laju_claim claim = CLAIM(ALL, checks, d);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_false(claim.allowed);
  assert_int_equal(d[0].retry_after_us, LAJU_NEVER);
  assert_int_equal(d[1].basis, LAJU_UNASKED);
  assert_int_equal(node.counters.remembered, 0);
  laju_check peek[] = {check_of(&zero, "ann", 0)}; /* costs nothing, so it may */
  claim = CLAIM(ALL, peek, d);
  assert_false(laju_way_decide(&node, &claim, NOON));
}

static void a_remembered_shadow_refuses_nobody(void **unused) {
  (void)unused;
  laju_rule shadow = shadow_of(exact_of("shadow=5/1m")), table = rule_of("table=10/1m"), exact = exact_of("exact=5/1m");
  laju_check checks[] = {check_of(&shadow, "ann", 1), check_of(&table, "ann", 1)};
  laju_decision d[2];
  laju_claim claim = CLAIM(ALL, checks, d);
  remember(&checks[0], no_group);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_true(claim.allowed);
  assert_false(d[0].allowed);
  assert_int_equal(here(&table, "ann"), 9);
  checks[1] = check_of(&exact, "ann", 1);
  assert_false(laju_way_decide(&node, &claim, NOON));
}

static void a_shadow_is_asked_though_the_request_is_refused_from_memory(void **unused) {
  (void)unused;
  laju_rule known = exact_of("known=5/1m"), shadow = shadow_of(exact_of("shadow=5/1m"));
  laju_rule here_too = shadow_of(rule_of("table=9/1m"));
  laju_check checks[] = {check_of(&known, "ann", 1), check_of(&shadow, "ann", 1), check_of(&here_too, "ann", 1)};
  laju_decision d[3];
  laju_claim claim = CLAIM(ALL, checks, d);
  remember(&checks[0], no_group);
  assert_false(laju_way_decide(&node, &claim, NOON));
  assert_int_equal(here(&here_too, "ann"), 9);
  laju_plan plan = laju_claim_plan(&node, &claim, NOON);
  assert_int_equal(laju_claim_begin(&node, &claim, &plan, NOON), 2); /* the shadow's bit */
  assert_false(claim.allowed);
  assert_int_equal(here(&here_too, "ann"), 8); /* a request of its own */
}

/* ---- what is left for the store ---- */

static void where_the_table_refuses_the_store_is_not_asked(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=1/1m"), exact = exact_of("exact=10/1m"), shadow = shadow_of(exact_of("shadow=3/1m"));
  laju_check checks[] = {check_of(&table, "ann", 1), check_of(&exact, "ann", 1), check_of(&shadow, "ann", 1)};
  laju_decision d[3];
  laju_claim claim = CLAIM(ALL, checks, d);
  laju_plan plan = laju_claim_plan(&node, &claim, NOON);
  assert_int_equal(laju_claim_begin(&node, &claim, &plan, NOON), 6); /* both exact ones */
  plan = laju_claim_plan(&node, &claim, NOON);
  assert_int_equal(laju_claim_begin(&node, &claim, &plan, NOON), 4); /* the shadow alone */
  assert_false(claim.allowed);
  assert_false(d[0].allowed);
  assert_int_equal(d[1].basis, LAJU_UNASKED);
}

static void where_the_store_refuses_the_table_s_are_given_back(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=10/1m"), exact = exact_of("exact=10/1m"), shadow = shadow_of(rule_of("shadow=9/1m"));
  laju_check checks[] = {check_of(&table, "ann", 3), check_of(&exact, "ann", 1), check_of(&shadow, "ann", 1),
                         check_of(&table, "ben", 2), check_of(&table, "cat", 0)};
  laju_decision d[5];
  laju_claim claim = CLAIM(ALL, checks, d);
  laju_plan plan = laju_claim_plan(&node, &claim, NOON);
  assert_int_equal(laju_claim_begin(&node, &claim, &plan, NOON), 2);
  assert_int_equal(here(&table, "ann"), 7);
  laju_claim_end(&node, &claim, false, NOON);
  assert_false(claim.allowed);
  assert_int_equal(d[0].remaining, 7);
  assert_int_equal(here(&table, "ann"), 10);
  assert_int_equal(here(&table, "ben"), 10);
  assert_int_equal(here(&shadow, "ann"), 8);
  assert_int_equal(node.counters.given_back, 2);

  plan = laju_claim_plan(&node, &claim, NOON);
  laju_claim_begin(&node, &claim, &plan, NOON);
  laju_claim_end(&node, &claim, true, NOON);
  assert_true(claim.allowed);
  assert_int_equal(here(&table, "ann"), 7);
}

/* ---- independent checks ---- */

static void independent_checks_are_decided_where_the_memory_knows_all_exact_ones(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=10/1m"), known = exact_of("known=5/1m"), zero = exact_of("zero=0/1m");
  laju_rule other = exact_of("other=5/1m");
  laju_check checks[] = {check_of(&table, "ann", 1), check_of(&table, "ann", 1), check_of(&known, "ann", 1),
                         check_of(&zero, "ann", 1), check_of(&table, "ann", 1)};
  laju_decision d[5];
  laju_claim claim = CLAIM(EACH, checks, d);
  assert_false(laju_way_decide(&node, &claim, NOON));
  assert_int_equal(here(&table, "ann"), 10);
  remember(&checks[2], no_group);
  assert_true(laju_way_decide(&node, &claim, NOON));
  assert_true(d[0].allowed && d[1].allowed && !d[2].allowed && !d[3].allowed && d[4].allowed);
  assert_int_equal(d[4].remaining, 7);
  assert_int_equal(node.counters.remembered, 1);
  checks[4] = check_of(&other, "ann", 1);
  assert_false(laju_way_decide(&node, &claim, NOON));
  assert_int_equal(here(&table, "ann"), 7);
}

/* ---- resets ---- */

static void a_reset_of_the_table_s_is_done_at_once(void **unused) {
  (void)unused;
  laju_rule table = rule_of("table=10/1m"), exact = exact_of("exact=10/1m");
  laju_check checks[] = {check_of(&table, "ann", 1)};
  laju_decision d[1];
  laju_claim spend = CLAIM(ALL, checks, d), reset = CLAIM(RESET, checks, d);
  laju_way_decide(&node, &spend, NOON);
  assert_true(laju_way_decide(&node, &reset, NOON));
  assert_true(reset.known && !reset.failed);
  assert_int_equal(here(&table, "ann"), 10);
  assert_true(laju_way_decide(&node, &reset, NOON));
  assert_false(reset.known);
  checks[0].rule = &exact;
  assert_false(laju_way_decide(&node, &reset, NOON));
}

static void a_reset_of_the_store_s_is_left_and_forgets_what_was_remembered(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=5/1m");
  laju_check checks[] = {check_of(&rule, "ann", 1)};
  laju_decision d[1];
  laju_claim asks = CLAIM(ALL, checks, d), reset = CLAIM(RESET, checks, d);
  remember(&checks[0], no_group);
  assert_true(laju_way_decide(&node, &asks, NOON));
  assert_false(laju_way_decide(&node, &reset, NOON));
  assert_false(laju_way_decide(&node, &asks, NOON));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_the_table_alone_holds_is_decided_at_once),
      TEST(without_a_store_the_table_decides_exact_rules_too),
      TEST(an_exact_check_that_is_not_known_is_left_and_nothing_is_charged),
      TEST(a_remembered_refusal_refuses_the_request_without_asking),
      TEST(the_memory_speaks_for_its_cost_and_above_and_of_no_peek),
      TEST(no_memory_is_used_where_it_is_off_or_in_transactions),
      TEST(a_key_of_another_group_is_another),
      TEST(a_limit_of_0_is_refused_without_store_or_memory),
      TEST(a_remembered_shadow_refuses_nobody),
      TEST(a_shadow_is_asked_though_the_request_is_refused_from_memory),
      TEST(where_the_table_refuses_the_store_is_not_asked),
      TEST(where_the_store_refuses_the_table_s_are_given_back),
      TEST(independent_checks_are_decided_where_the_memory_knows_all_exact_ones),
      TEST(a_reset_of_the_table_s_is_done_at_once),
      TEST(a_reset_of_the_store_s_is_left_and_forgets_what_was_remembered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
