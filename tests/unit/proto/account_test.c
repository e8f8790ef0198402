#include "proto/account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static laju_account account;
static laju_batch *batch;
static laju_rule login, quiet;

static int make(void **state) {
  (void)state;
  static const uint64_t hash_key[2] = {1, 2};
  memset(&account, 0, sizeof account);
  laju_rule_init(&login, "login", 5, LAJU_TOKEN_BUCKET, 5, 60000000, 0);
  laju_rule_init(&quiet, "quiet", 5, LAJU_TOKEN_BUCKET, 5, 60000000, 0);
  login.number = 1;
  quiet.number = 2;
  quiet.shadow = true;
  batch = laju_batch_new();
  laju_batch_clear(batch);
  return laju_account_init(&account, hash_key);
}

static int end(void **state) {
  (void)state;
  laju_account_deinit(&account);
  laju_batch_free(batch);
  return 0;
}

static laju_ask *ask(laju_ask_kind kind) {
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask = (laju_ask){.kind = kind, .first = (uint32_t)batch->check_count};
  return ask;
}

static void check(laju_ask *ask, const laju_rule *rule, bool allowed, laju_basis basis) {
  batch->checks[batch->check_count] = (laju_check){.rule = rule, .key = "ada", .key_len = 3, .cost = 1};
  batch->decisions[batch->check_count++] = (laju_decision){.allowed = allowed, .basis = basis};
  ask->count++;
}

static uint64_t requests(laju_request_verdict verdict) {
  return account.requests[LAJU_DOOR_HTTP][verdict];
}

static uint64_t checks(uint32_t number, laju_verdict verdict) {
  return laju_ledger_read(account.ledger, number, verdict);
}

static void each_check_counts_by_its_own_decision(void **state) {
  (void)state;
  laju_ask *all = ask(LAJU_ASK_ALL); /* refused by one: the other was allowed at its turn */
  check(all, &login, true, LAJU_DECIDED);
  check(all, &login, false, LAJU_DECIDED);
  check(all, &quiet, false, LAJU_DECIDED);
  check(all, &login, true, LAJU_UNASKED);
  laju_account_batch(&account, LAJU_DOOR_HTTP, batch, 100);
  assert_int_equal(requests(LAJU_REQUEST_DENIED), 1);
  assert_int_equal(checks(1, LAJU_VERDICT_ALLOWED), 1);
  assert_int_equal(checks(1, LAJU_VERDICT_DENIED), 1);
  assert_int_equal(checks(2, LAJU_VERDICT_SHADOW_DENIED), 1);
  laju_top *tops[] = {account.top};
  laju_top_entry entry;
  assert_int_equal(laju_top_read(tops, 1, &entry, 1, 0), 1);
  assert_int_equal(entry.count, 1); /* what only a shadow refuses is nobody's refusal */
}

static void a_batch_of_which_one_is_refused_is_refused(void **state) {
  (void)state;
  laju_ask *each = ask(LAJU_ASK_EACH);
  check(each, &login, true, LAJU_DECIDED);
  check(each, &quiet, false, LAJU_DECIDED);
  laju_account_batch(&account, LAJU_DOOR_HTTP, batch, 100);
  assert_int_equal(requests(LAJU_REQUEST_ALLOWED), 1);
  check(each, &login, false, LAJU_FALLBACK);
  laju_account_batch(&account, LAJU_DOOR_HTTP, batch, 100);
  assert_int_equal(requests(LAJU_REQUEST_DENIED), 1);
}

static void errors_and_requests_without_a_rule_count_and_small_talk_does_not(void **state) {
  (void)state;
  ask(LAJU_ASK_NOTE);
  ask(LAJU_ASK_NOTE)->counts = true;
  laju_ask *error = ask(LAJU_ASK_NOTE);
  error->counts = error->failed = true;
  ask(LAJU_ASK_RESET);
  laju_ask *split = ask(LAJU_ASK_ALL);
  split->split = true;
  check(split, &login, false, LAJU_DECIDED);
  laju_account_batch(&account, LAJU_DOOR_HTTP, batch, 100);
  assert_int_equal(requests(LAJU_REQUEST_ALLOWED), 1);
  assert_int_equal(requests(LAJU_REQUEST_ERROR), 2);
  assert_int_equal(requests(LAJU_REQUEST_DENIED), 0);
  assert_int_equal(checks(1, LAJU_VERDICT_ERROR), 1);
  assert_int_equal(laju_histogram_count(&account.latency), 3);
  assert_int_equal(account.requests[LAJU_DOOR_RESP][LAJU_REQUEST_ERROR], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_check_counts_by_its_own_decision, make, end),
      cmocka_unit_test_setup_teardown(a_batch_of_which_one_is_refused_is_refused, make, end),
      cmocka_unit_test_setup_teardown(errors_and_requests_without_a_rule_count_and_small_talk_does_not, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
