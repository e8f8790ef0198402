#include "server/outbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_outbox outbox;
static char places[LAJU_OUTBOX_MAX]; /* their addresses stand for connections */

static struct laju_connection *connection(size_t i) {
  return (struct laju_connection *)(void *)&places[i];
}

static void expect_next(size_t i, const char *replies) {
  char *bytes = NULL;
  size_t len = 0;
  assert_ptr_equal(laju_outbox_take(&outbox, &bytes, &len), connection(i));
  assert_int_equal(len, strlen(replies));
  assert_memory_equal(bytes, replies, len);
}

static void expect_none(void) {
  char *bytes;
  size_t len;
  assert_null(laju_outbox_take(&outbox, &bytes, &len));
}

static void replies_come_out_in_the_order_in_which_they_came(void **state) {
  (void)state;
  expect_none();
  assert_true(laju_outbox_put(&outbox, connection(2), "two", 3));
  assert_true(laju_outbox_put(&outbox, connection(0), "zero", 4));
  assert_true(laju_outbox_put(&outbox, connection(1), "one", 3));
  expect_next(2, "two");
  expect_next(0, "zero");
  expect_next(1, "one");
  expect_none();
  assert_int_equal(outbox.count, 0);
}

static void a_connection_that_is_gone_is_passed_over(void **state) {
  (void)state;
  laju_outbox_put(&outbox, connection(0), "zero", 4);
  laju_outbox_put(&outbox, connection(1), "one", 3);
  laju_outbox_put(&outbox, connection(2), "two", 3);
  expect_next(0, "zero");
  laju_outbox_drop(&outbox, connection(1)); /* while the others are being sent */
  laju_outbox_drop(&outbox, connection(0)); /* nothing of it is left */
  expect_next(2, "two");
  expect_none();
}

static void there_is_room_for_so_many_connections(void **state) {
  (void)state;
  for (size_t i = 0; i < LAJU_OUTBOX_MAX; i++) assert_true(laju_outbox_put(&outbox, connection(i), "x", 1));
  assert_false(laju_outbox_put(&outbox, connection(0), "y", 1));
  for (size_t i = 0; i < LAJU_OUTBOX_MAX; i++) expect_next(i, "x");
  expect_none();
  assert_true(laju_outbox_put(&outbox, connection(0), "y", 1));
  expect_next(0, "y");
  expect_none();
}

static void there_is_room_for_so_many_bytes(void **state) {
  (void)state;
  char *replies = calloc(1, LAJU_OUTBOX_BYTES + 2);
  assert_non_null(replies);
  memset(replies, 'r', LAJU_OUTBOX_BYTES + 1);
  assert_false(laju_outbox_put(&outbox, connection(0), replies, LAJU_OUTBOX_BYTES + 1));
  replies[LAJU_OUTBOX_BYTES - 1] = '\0';
  assert_true(laju_outbox_put(&outbox, connection(0), replies, LAJU_OUTBOX_BYTES - 1));
  assert_false(laju_outbox_put(&outbox, connection(1), "xy", 2));
  assert_true(laju_outbox_put(&outbox, connection(1), "x", 1));
  assert_false(laju_outbox_put(&outbox, connection(2), "y", 1));
  expect_next(0, replies);
  expect_next(1, "x");
  expect_none();
  free(replies);
}

static int empty(void **state) {
  (void)state;
  laju_outbox_deinit(&outbox);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replies_come_out_in_the_order_in_which_they_came),
      cmocka_unit_test(a_connection_that_is_gone_is_passed_over),
      cmocka_unit_test(there_is_room_for_so_many_connections),
      cmocka_unit_test(there_is_room_for_so_many_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, empty);
}
