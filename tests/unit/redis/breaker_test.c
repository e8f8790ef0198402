#include "redis/breaker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000)

static laju_breaker opened_at(int64_t now_us) {
  laju_breaker breaker = {0};
  for (int i = 0; i < 5; i++) laju_breaker_fail(&breaker, now_us);
  return breaker;
}

static void the_fifth_failure_in_a_row_opens_it(void **unused) {
  (void)unused;
  laju_breaker breaker = {0};
  for (int i = 1; i <= 4; i++) {
    assert_false(laju_breaker_fail(&breaker, 0));
    assert_true(laju_breaker_admit(&breaker, 0));
  }
  assert_true(laju_breaker_fail(&breaker, 0));
  assert_true(laju_breaker_is_open(&breaker));
  assert_false(laju_breaker_admit(&breaker, 0));
}

static void a_success_between_begins_the_count_anew(void **unused) {
  (void)unused;
  laju_breaker breaker = {0};
  for (int i = 0; i < 4; i++) laju_breaker_fail(&breaker, 0);
  assert_false(laju_breaker_succeed(&breaker));
  for (int i = 0; i < 4; i++) assert_false(laju_breaker_fail(&breaker, 0));
  assert_true(laju_breaker_fail(&breaker, 0));
}

static void open_it_lets_one_through_every_hundred_milliseconds(void **unused) {
  (void)unused;
  laju_breaker breaker = opened_at(1000 * MS);
  assert_false(laju_breaker_admit(&breaker, 1100 * MS - 1));
  assert_true(laju_breaker_admit(&breaker, 1100 * MS));
  assert_false(laju_breaker_admit(&breaker, 1100 * MS));
  assert_false(laju_breaker_admit(&breaker, 1200 * MS - 1));
  assert_true(laju_breaker_admit(&breaker, 1250 * MS));
  assert_false(laju_breaker_admit(&breaker, 1350 * MS - 1)); /* from the probe on, however late that was */
  assert_true(laju_breaker_admit(&breaker, 1350 * MS));
}

static void more_failures_while_open_change_nothing(void **unused) {
  (void)unused;
  laju_breaker breaker = opened_at(1000 * MS);
  assert_false(laju_breaker_fail(&breaker, 1099 * MS));
  assert_true(laju_breaker_admit(&breaker, 1100 * MS));
  for (int i = 0; i < 1000; i++) assert_false(laju_breaker_fail(&breaker, 1150 * MS));
  assert_true(laju_breaker_admit(&breaker, 1200 * MS));
}

static void the_first_success_closes_it(void **unused) {
  (void)unused;
  laju_breaker breaker = opened_at(1000 * MS);
  assert_true(laju_breaker_succeed(&breaker));
  for (int i = 0; i < 3; i++) assert_true(laju_breaker_admit(&breaker, 1001 * MS));
  for (int i = 0; i < 4; i++) assert_false(laju_breaker_fail(&breaker, 1002 * MS));
  assert_true(laju_breaker_admit(&breaker, 1002 * MS));
}

static void in_a_hurry_the_next_check_probes_at_once_and_no_other(void **unused) {
  (void)unused;
  laju_breaker breaker = opened_at(1000 * MS);
  laju_breaker_hurry(&breaker, 1010 * MS);
  assert_true(laju_breaker_admit(&breaker, 1010 * MS));
  assert_false(laju_breaker_admit(&breaker, 1110 * MS - 1));
  assert_true(laju_breaker_admit(&breaker, 1150 * MS));
  laju_breaker_hurry(&breaker, 1300 * MS); /* due already: stays so */
  assert_true(laju_breaker_admit(&breaker, 1300 * MS));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_fifth_failure_in_a_row_opens_it),
      cmocka_unit_test(a_success_between_begins_the_count_anew),
      cmocka_unit_test(open_it_lets_one_through_every_hundred_milliseconds),
      cmocka_unit_test(more_failures_while_open_change_nothing),
      cmocka_unit_test(the_first_success_closes_it),
      cmocka_unit_test(in_a_hurry_the_next_check_probes_at_once_and_no_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
