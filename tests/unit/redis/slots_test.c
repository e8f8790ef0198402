#include "redis/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MANY 1000

static laju_slots slots;
static char owners[MANY];

static int begin(void **unused) {
  (void)unused;
  laju_slots_init(&slots);
  return 0;
}

static int end(void **unused) {
  (void)unused;
  laju_slots_deinit(&slots);
  return 0;
}

static void assert_oldest(uint64_t wanted) {
  uint64_t number;
  assert_non_null(laju_slots_oldest(&slots, &number));
  assert_int_equal(number, wanted);
}

static void an_owner_is_found_by_its_number(void **unused) {
  (void)unused;
  uint64_t numbers[MANY];
  for (int i = 0; i < MANY; i++) numbers[i] = laju_slots_add(&slots, &owners[i], i);
  for (int i = 0; i < MANY; i++) {
    assert_int_not_equal(numbers[i], 0);
    assert_ptr_equal(laju_slots_find(&slots, numbers[i])->owner, &owners[i]);
    assert_int_equal(laju_slots_find(&slots, numbers[i])->since_us, i);
  }
}

static void who_has_gone_is_not_found_and_nor_is_who_came_after(void **unused) {
  (void)unused;
  uint64_t first = laju_slots_add(&slots, &owners[0], 0);
  laju_slots_remove(&slots, first);
  assert_null(laju_slots_find(&slots, first));
  for (int i = 0; i < MANY; i++) {
    uint64_t next = laju_slots_add(&slots, &owners[1], 0);
    assert_int_not_equal(next, first);
    assert_null(laju_slots_find(&slots, first));
    laju_slots_remove(&slots, next);
  }
  assert_int_equal(slots.size, 64); /* the same slot all the time */
}

static void a_number_that_was_never_given_is_nobody(void **unused) {
  (void)unused;
  assert_null(laju_slots_find(&slots, 0));
  assert_null(laju_slots_find(&slots, 1));
  laju_slots_add(&slots, &owners[0], 0);
  assert_null(laju_slots_find(&slots, 0));
  assert_null(laju_slots_find(&slots, 2));
  assert_null(laju_slots_find(&slots, UINT64_MAX));
}

static void the_oldest_comes_first_whoever_leaves(void **unused) {
  (void)unused;
  uint64_t n[5], none;
  assert_null(laju_slots_oldest(&slots, &none));
  for (int i = 0; i < 5; i++) n[i] = laju_slots_add(&slots, &owners[i], i);
  assert_oldest(n[0]);
  laju_slots_remove(&slots, n[2]);
  assert_oldest(n[0]);
  laju_slots_remove(&slots, n[0]);
  assert_oldest(n[1]);
  uint64_t last = laju_slots_add(&slots, &owners[0], 5); /* in a slot that an older one had */
  laju_slots_remove(&slots, n[4]);
  laju_slots_remove(&slots, n[1]);
  assert_oldest(n[3]);
  laju_slots_remove(&slots, n[3]);
  assert_oldest(last);
  laju_slots_remove(&slots, last);
  assert_null(laju_slots_oldest(&slots, &none));
}

static void the_bytes_of_an_owner_go_with_its_slot(void **unused) {
  (void)unused;
  uint64_t number = laju_slots_add(&slots, &owners[0], 0);
  laju_slots_find(&slots, number)->bytes = strdup("freed with it");
  laju_slots_remove(&slots, number);
  number = laju_slots_add(&slots, &owners[0], 0);
  assert_null(laju_slots_find(&slots, number)->bytes);
}

static void texts_are_copies(void **unused) {
  (void)unused;
  uint64_t number = laju_slots_add(&slots, &owners[0], 0);
  laju_slot *slot = laju_slots_find(&slots, number);
  char text[] = "OOM";
  const char *first = laju_slot_keep_text(slot, text, "none");
  const char *second = laju_slot_keep_text(slot, "WRONGTYPE", "none");
  text[0] = 'X';
  assert_string_equal(first, "OOM");
  assert_string_equal(second, "WRONGTYPE");
  laju_slot_texts_free(slot->texts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(an_owner_is_found_by_its_number, begin, end),
      cmocka_unit_test_setup_teardown(who_has_gone_is_not_found_and_nor_is_who_came_after, begin, end),
      cmocka_unit_test_setup_teardown(a_number_that_was_never_given_is_nobody, begin, end),
      cmocka_unit_test_setup_teardown(the_oldest_comes_first_whoever_leaves, begin, end),
      cmocka_unit_test_setup_teardown(the_bytes_of_an_owner_go_with_its_slot, begin, end),
      cmocka_unit_test_setup_teardown(texts_are_copies, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
