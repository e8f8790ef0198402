#include "redis/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static laju_pieces pieces;

static int end(void **unused) {
  (void)unused;
  laju_pieces_deinit(&pieces);
  return 0;
}

static void push(uint64_t slot) {
  assert_true(laju_pieces_push(&pieces, &(laju_piece){.slot = slot}));
}

static void what_came_first_goes_first_however_it_grows(void **unused) {
  (void)unused;
  uint64_t in = 0, out = 0;
  for (int round = 0; round < 200; round++) { /* more come than go, so it grows while it is turned over its end */
    for (int i = 0; i < 7; i++) push(++in);
    for (int i = 0; i < 5; i++) {
      assert_int_equal(laju_pieces_first(&pieces)->slot, ++out);
      laju_pieces_pop(&pieces);
    }
    assert_int_equal(laju_pieces_last(&pieces)->slot, in);
    assert_int_equal(pieces.count, in - out);
  }
}

static void an_empty_queue_has_no_first(void **unused) {
  (void)unused;
  assert_null(laju_pieces_first(&pieces));
  assert_null(laju_pieces_last(&pieces));
  push(1);
  laju_pieces_pop(&pieces);
  assert_null(laju_pieces_first(&pieces));
}

static void the_first_is_changed_in_place(void **unused) {
  (void)unused;
  push(1);
  push(2);
  laju_pieces_first(&pieces)->from = 7;
  assert_int_equal(laju_pieces_first(&pieces)->from, 7);
  laju_pieces_pop(&pieces);
  assert_int_equal(laju_pieces_first(&pieces)->from, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(what_came_first_goes_first_however_it_grows, end),
      cmocka_unit_test_teardown(an_empty_queue_has_no_first, end),
      cmocka_unit_test_teardown(the_first_is_changed_in_place, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
