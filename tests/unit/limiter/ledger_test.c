#include "limiter/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void a_name_keeps_its_number(void **state) {
  (void)state;
  laju_rule_names *names = laju_rule_names_new();
  assert_int_equal(laju_rule_names_count(names), 1);
  uint32_t login = laju_rule_names_number(names, "login"), api = laju_rule_names_number(names, "api");
  assert_int_not_equal(login, 0);
  assert_int_not_equal(login, api);
  assert_int_equal(laju_rule_names_number(names, "login"), login);
  assert_string_equal(laju_rule_names_at(names, api), "api");
  assert_string_equal(laju_rule_names_at(names, 0), "");
  assert_int_equal(laju_rule_names_count(names), 3);
  laju_rule_names_free(names);
}

static void names_beyond_the_last_number_share_number_0(void **state) {
  (void)state;
  laju_rule_names *names = laju_rule_names_new();
  char name[LAJU_NAME_MAX + 1];
  for (uint32_t i = 1; i < LAJU_RULE_NUMBERS; i++) {
    snprintf(name, sizeof name, "rule-%u", i);
    assert_int_equal(laju_rule_names_number(names, name), i);
  }
  assert_int_equal(laju_rule_names_number(names, "one-too-many"), 0);
  assert_int_equal(laju_rule_names_number(names, "rule-77"), 77);
  assert_int_equal(laju_rule_names_count(names), LAJU_RULE_NUMBERS);
  laju_rule_names_free(names);
}

static void each_verdict_of_each_rule_has_its_count(void **state) {
  (void)state;
  laju_ledger *ledger = laju_ledger_new();
  laju_ledger_count(ledger, 7, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledger, 7, LAJU_VERDICT_ALLOWED);
  laju_ledger_count(ledger, 7, LAJU_VERDICT_DENIED);
  laju_ledger_count(ledger, LAJU_RULE_NUMBERS, LAJU_VERDICT_ERROR); /* no such number: counted as 0 */
  assert_int_equal(laju_ledger_read(ledger, 7, LAJU_VERDICT_ALLOWED), 2);
  assert_int_equal(laju_ledger_read(ledger, 7, LAJU_VERDICT_DENIED), 1);
  assert_int_equal(laju_ledger_read(ledger, 7, LAJU_VERDICT_SHADOW_DENIED), 0);
  assert_int_equal(laju_ledger_read(ledger, 0, LAJU_VERDICT_ERROR), 1);
  laju_ledger_free(ledger);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_keeps_its_number),
      cmocka_unit_test(names_beyond_the_last_number_share_number_0),
      cmocka_unit_test(each_verdict_of_each_rule_has_its_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
