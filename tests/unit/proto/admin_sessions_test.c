#include "proto/admin_sessions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static laju_sessions sessions;
static char name[LAJU_SESSION_LEN], other[LAJU_SESSION_LEN];

static int clear(void **state) {
  (void)state;
  memset(&sessions, 0, sizeof sessions);
  return 0;
}

static bool use(const char *token, const char *session, int64_t now_us) {
  return laju_sessions_use(&sessions, token, (laju_slice){session, LAJU_SESSION_LEN}, now_us);
}

static void a_session_has_a_name_that_nobody_else_has(void **state) {
  (void)state;
  assert_true(laju_sessions_begin(&sessions, "t", 1, name));
  assert_true(laju_sessions_begin(&sessions, "t", 1, other));
  assert_memory_not_equal(name, other, LAJU_SESSION_LEN);
  assert_true(use("t", name, 2));
  assert_true(use("t", other, 2));
  other[LAJU_SESSION_LEN - 1] ^= 1;
  assert_false(use("t", other, 2));
}

static void it_lives_for_twelve_hours_from_its_last_use(void **state) {
  (void)state;
  int64_t now_us = 1;
  laju_sessions_begin(&sessions, "t", now_us, name);
  for (int i = 0; i < 3; i++) assert_true(use("t", name, now_us += LAJU_SESSION_IDLE_US));
  assert_false(use("t", name, now_us + LAJU_SESSION_IDLE_US + 1));
}

static void another_token_ends_all(void **state) {
  (void)state;
  laju_sessions_begin(&sessions, "t", 1, name);
  assert_false(use("u", name, 2));
  assert_false(use("t", name, 3)); /* and it does not come back */
}

static void one_that_is_ended_is_gone(void **state) {
  (void)state;
  laju_sessions_begin(&sessions, "t", 1, name);
  assert_true(laju_sessions_end(&sessions, (laju_slice){name, LAJU_SESSION_LEN}));
  assert_false(laju_sessions_end(&sessions, (laju_slice){name, LAJU_SESSION_LEN}));
  assert_false(use("t", name, 2));
}

static void names_that_are_none_open_nothing(void **state) {
  (void)state;
  char zeros[LAJU_SESSION_LEN] = {0};
  assert_false(use("t", zeros, 1)); /* as an empty place has it */
  assert_false(laju_sessions_use(&sessions, "t", (laju_slice){NULL, 0}, 1));
  laju_sessions_begin(&sessions, "t", 1, name);
  assert_false(laju_sessions_use(&sessions, "t", (laju_slice){name, LAJU_SESSION_LEN - 1}, 1));
}

static void the_thousand_and_first_takes_the_place_of_the_longest_unused(void **state) {
  (void)state;
  char first[LAJU_SESSION_LEN], second[LAJU_SESSION_LEN];
  laju_sessions_begin(&sessions, "t", 1, first);
  laju_sessions_begin(&sessions, "t", 2, second);
  for (int64_t i = 2; i < LAJU_SESSIONS_MAX; i++) laju_sessions_begin(&sessions, "t", i + 1, name);
  assert_true(use("t", first, 5000));
  laju_sessions_begin(&sessions, "t", 5001, name);
  assert_true(use("t", first, 5002));
  assert_false(use("t", second, 5002));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(a_session_has_a_name_that_nobody_else_has, clear),
      cmocka_unit_test_setup(it_lives_for_twelve_hours_from_its_last_use, clear),
      cmocka_unit_test_setup(another_token_ends_all, clear),
      cmocka_unit_test_setup(one_that_is_ended_is_gone, clear),
      cmocka_unit_test_setup(names_that_are_none_open_nothing, clear),
      cmocka_unit_test_setup(the_thousand_and_first_takes_the_place_of_the_longest_unused, clear),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
