/* Errands to a real Redis that does not answer: each rule's on_store_error, at once or after the deadline, and exact again once
 * it is back. */
#include "redis/node.h"

#include <signal.h>

#define TIMEOUT_US 50000
#define PROMISE_US (10 * TIMEOUT_US)

static node n;

static int open_it(void **unused) {
  empty(unused);
  laju_store_options options = options_of(&server);
  options.timeout_us = TIMEOUT_US;
  open_node(&n, &options);
  return 0;
}

static int close_it(void **unused) {
  (void)unused;
  atomic_store(&nodes, 1);
  kill(server.pid, SIGCONT);
  close_node(&n);
  return 0;
}

static void freeze(void) {
  kill(server.pid, SIGSTOP);
}

static laju_rule failing(const char *text, laju_on_store_error on_store_error) {
  laju_rule rule = exact_of(text);
  rule.on_store_error = on_store_error;
  return rule;
}

/* Asks until the store decides again. */
static laju_decision ask_until_decided(const laju_rule *rule, const char *key) {
  laju_decision d;
  for (int i = 0; i < 500; i++) {
    d = ask(&n, rule, key, 1);
    if (d.basis == LAJU_DECIDED) break;
    let_pass(uv_default_loop(), 10);
  }
  assert_int_equal(d.basis, LAJU_DECIDED);
  return d;
}

static void after_the_deadline_each_rule_s_on_store_error_decides(void **unused) {
  (void)unused;
  atomic_store(&nodes, 2);
  laju_rule allow = failing("allow=10/1d", LAJU_STORE_ERROR_ALLOW), deny = failing("deny=10/1d", LAJU_STORE_ERROR_DENY);
  laju_rule local = failing("local=10/1d", LAJU_STORE_ERROR_LOCAL);
  laju_check checks[] = {check_of(&allow, "ann", 1), check_of(&deny, "ann", 1), check_of(&local, "ann", 1)};
  laju_decision d[3];
  laju_claim claim = claim_of(LAJU_CLAIM_EACH, checks, 3, d);
  freeze();
  int64_t begun_us = laju_limiter_now_us(n.limiter);
  assert_true(decide_claim(&n, &claim));
  assert_true(laju_limiter_now_us(n.limiter) - begun_us < PROMISE_US);
  for (size_t i = 0; i < 3; i++) assert_int_equal(d[i].basis, LAJU_FALLBACK);
  assert_true(d[0].allowed && !d[1].allowed && d[2].allowed);
  assert_int_equal(d[0].remaining, 9);
  assert_int_equal(d[1].retry_after_us, SECOND);
  assert_int_equal(d[2].limit, 5);
  assert_int_equal(d[2].remaining, 4);
  assert_int_equal(n.way.counters.fallbacks_allowed, 2);
  assert_int_equal(n.way.counters.fallbacks_denied, 1);
}

static void of_several_any_refusal_refuses_and_what_was_charged_here_is_given_back(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=10/1d"), local = failing("local=2/1d", LAJU_STORE_ERROR_LOCAL);
  laju_rule allow = failing("allow=10/1d", LAJU_STORE_ERROR_ALLOW), deny = failing("deny=10/1d", LAJU_STORE_ERROR_DENY);
  laju_check checks[] = {check_of(&mine, "ann", 3), check_of(&local, "ann", 1), check_of(&allow, "ann", 1)};
  laju_decision d[3];
  freeze();
  assert_true(request(&n, checks, 3, d));
  assert_int_equal(here(&n, &mine, "ann"), 7);
  assert_int_equal(here(&n, &local, "ann"), 1);

  checks[2].rule = &deny;
  assert_false(request(&n, checks, 3, d));
  assert_true(d[0].allowed && d[1].allowed && !d[2].allowed);
  assert_int_equal(here(&n, &mine, "ann"), 7);
  assert_int_equal(here(&n, &local, "ann"), 1);

  checks[1].cost = 2; /* the share has one left */
  checks[2].rule = &allow;
  assert_false(request(&n, checks, 3, d));
  assert_int_equal(here(&n, &mine, "ann"), 7);
  assert_int_equal(here(&n, &local, "ann"), 1);
  assert_int_equal(n.way.counters.given_back, 2);
}

static void a_shadow_without_an_answer_changes_none(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=10/1d"), shadow = failing("shadow=10/1d", LAJU_STORE_ERROR_DENY);
  shadow.shadow = true;
  laju_check checks[] = {check_of(&mine, "ann", 1), check_of(&shadow, "ann", 1)};
  laju_decision d[2];
  freeze();
  assert_true(request(&n, checks, 2, d));
  assert_false(d[1].allowed);
  assert_int_equal(d[1].basis, LAJU_FALLBACK);
  assert_int_equal(here(&n, &mine, "ann"), 9);
}

static void once_the_breaker_is_open_nothing_waits_any_more(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=100/1d"), deny = failing("deny=100/1d", LAJU_STORE_ERROR_DENY);
  laju_check checks[] = {check_of(&mine, "ann", 1), check_of(&deny, "ann", 1)};
  laju_decision d[2];
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, checks, 2, d);
  freeze();
  int at_once = 0;
  for (int i = 0; i < 30; i++) {
    at_once += !decide_claims(&n, &claim, 1);
    assert_false(claim.allowed);
    assert_int_equal(here(&n, &mine, "ann"), 100);
  }
  assert_in_range(at_once, 10, 25); /* all but the first five, and a probe now and then */
}

static void decisions_are_exact_again_soon_after_the_store_is_back(void **unused) {
  (void)unused;
  laju_rule rule = failing("api=10/1d", LAJU_STORE_ERROR_LOCAL);
  assert_int_equal(ask(&n, &rule, "ann", 4).remaining, 6);
  freeze();
  for (int i = 0; i < 8; i++) assert_int_equal(ask(&n, &rule, "ann", 1).basis, LAJU_FALLBACK);
  kill(server.pid, SIGCONT);
  int64_t back_us = laju_limiter_now_us(n.limiter);
  laju_decision d = ask_until_decided(&rule, "ann");
  assert_true(laju_limiter_now_us(n.limiter) - back_us < 10 * SECOND);
  assert_true(d.remaining < 6); /* what was sent and not answered was carried out, and is charged */
  assert_in_range(here(&n, &rule, "ann"), 0, 2);
}

static void what_is_remembered_is_refused_without_the_store_too(void **unused) {
  (void)unused;
  laju_rule rule = failing("api=1/1d", LAJU_STORE_ERROR_ALLOW);
  ask(&n, &rule, "ann", 1);
  assert_false(ask(&n, &rule, "ann", 1).allowed);
  freeze();
  laju_decision d = ask(&n, &rule, "ann", 1);
  assert_false(d.allowed);
  assert_int_equal(d.basis, LAJU_DECIDED);
  assert_int_equal(n.way.counters.fallbacks_allowed, 0);
}

static void a_reset_without_an_answer_says_so(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=10/1d");
  laju_check check = check_of(&rule, "ann", 1);
  laju_claim claim = claim_of(LAJU_CLAIM_RESET, &check, 1, NULL);
  freeze();
  decide_claim(&n, &claim);
  assert_true(claim.failed && !claim.known);
}

static void a_reset_that_is_not_permitted_says_so(void **unused) {
  (void)unused;
  laju_rule rule = exact_of("api=10/1d");
  laju_check check = check_of(&rule, "ann", 1);
  laju_claim claim = claim_of(LAJU_CLAIM_RESET, &check, 1, NULL);
  freeReplyObject(redis_command(&server, "ACL SETUSER default -del"));
  decide_claim(&n, &claim);
  freeReplyObject(redis_command(&server, "ACL SETUSER default +del"));
  assert_true(claim.failed && !claim.known);
}

static void a_fallback_is_not_remembered(void **unused) {
  (void)unused;
  laju_rule rule = failing("api=10/1d", LAJU_STORE_ERROR_DENY);
  freeze();
  assert_false(ask(&n, &rule, "ann", 1).allowed);
  kill(server.pid, SIGCONT);
  assert_true(ask_until_decided(&rule, "ann").allowed);
}

static void checks_beyond_the_queue_s_bound_are_answered_at_once(void **unused) {
  (void)unused;
  node narrow;
  laju_store_options options = options_of(&server);
  options.max_inflight = 8;
  open_node(&narrow, &options);
  laju_rule rule = failing("api=100/1d", LAJU_STORE_ERROR_DENY);
  laju_check checks[20];
  laju_decision d[20];
  for (size_t i = 0; i < 20; i++) checks[i] = check_of(&rule, "ann", 1);
  laju_claim claim = claim_of(LAJU_CLAIM_EACH, checks, 20, d);
  decide_claim(&narrow, &claim);
  size_t fallbacks = 0;
  for (size_t i = 0; i < 20; i++) fallbacks += d[i].basis == LAJU_FALLBACK;
  assert_in_range(fallbacks, 12, 20);
  assert_int_equal(narrow.way.counters.fallbacks_denied, fallbacks);
  assert_true(ask(&narrow, &rule, "ann", 1).allowed);
  close_node(&narrow);
}

static void a_store_that_dies_under_way_is_fallen_back_from(void **unused) {
  (void)unused;
  laju_rule mine = embedded_of("mine=10/1d"), deny = failing("deny=10/1d", LAJU_STORE_ERROR_DENY);
  laju_check checks[] = {check_of(&mine, "ann", 1), check_of(&deny, "ann", 1)};
  laju_decision d[2];
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, checks, 2, d);
  freeze();
  assert_true(start_claims(&n, &claim, 1));
  redis_kill(&server);
  assert_true(COMES_TRUE(uv_default_loop(), n.done));
  assert_false(claim.allowed);
  assert_int_equal(d[1].basis, LAJU_FALLBACK);
  assert_int_equal(here(&n, &mine, "ann"), 10);
  decide_claims(&n, &claim, 1); /* nowhere to send it */
  assert_false(claim.allowed);
  assert_int_equal(d[1].basis, LAJU_FALLBACK);
  redis_start_again(&server);
  assert_true(ask_until_decided(&deny, "ann").allowed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(after_the_deadline_each_rule_s_on_store_error_decides),
      TEST(of_several_any_refusal_refuses_and_what_was_charged_here_is_given_back),
      TEST(a_shadow_without_an_answer_changes_none),
      TEST(once_the_breaker_is_open_nothing_waits_any_more),
      TEST(decisions_are_exact_again_soon_after_the_store_is_back),
      TEST(what_is_remembered_is_refused_without_the_store_too),
      TEST(a_reset_without_an_answer_says_so),
      TEST(a_reset_that_is_not_permitted_says_so),
      TEST(a_fallback_is_not_remembered),
      TEST(checks_beyond_the_queue_s_bound_are_answered_at_once),
      TEST(a_store_that_dies_under_way_is_fallen_back_from),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
