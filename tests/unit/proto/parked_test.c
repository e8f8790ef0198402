#include "proto/parked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "proto/made.h"

static laju_lot lot;
static laju_batch *batch;
static laju_rule named;

static int open_batch(void **state) {
  (void)state;
  lot = (laju_lot){.taken = 0};
  batch = laju_batch_new();
  named = made_rule("named=5/1m");
  return batch == NULL ? -1 : 0;
}

static int shut_batch(void **state) {
  (void)state;
  laju_lot_deinit(&lot);
  laju_batch_free(batch);
  return 0;
}

static char fed[20]; /* the bytes that the keys lie in */

/* One ask of `count` checks under a rule, whose keys are "k0", "k1", ... */
static laju_ask *add(const laju_rule *rule, uint32_t count, bool waiting) {
  memcpy(fed, "k0k1k2k3k4k5k6k7k8k9", sizeof fed);
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask = (laju_ask){
      .kind = LAJU_ASK_EACH, .first = (uint32_t)batch->check_count, .count = count, .waiting = waiting, .form = 7};
  for (uint32_t i = 0; i < count; i++) {
    batch->checks[batch->check_count + i] =
        (laju_check){.rule = rule, .key = fed + 2 * (i % 10), .key_len = 2, .cost = i};
    batch->decisions[batch->check_count + i] = (laju_decision){.remaining = 100 + i};
  }
  batch->check_count += count;
  return ask;
}

static void add_note(const char *text) {
  laju_ask *ask = &batch->asks[batch->ask_count++];
  *ask =
      (laju_ask){.kind = LAJU_ASK_NOTE, .first = (uint32_t)batch->note_len, .count = (uint32_t)strlen(text), .form = 3};
  memcpy(batch->notes + batch->note_len, text, ask->count);
  batch->note_len += ask->count;
}

/* Nothing of the copy may lie in what is used for others meanwhile. */
static laju_parked *park(void) {
  laju_parked *parked = laju_parked_new(&lot, batch);
  assert_non_null(parked);
  memset(batch->asks, 0x55, LAJU_BATCH_ASKS * sizeof *batch->asks);
  memset(batch->checks, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->checks);
  memset(batch->decisions, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->decisions);
  memset(batch->rules, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->rules);
  memset(batch->groups, 0x55, LAJU_BATCH_CHECKS * sizeof *batch->groups);
  memset(batch->notes, 0x55, LAJU_BATCH_NOTES);
  memset(batch->keys, 0x55, LAJU_BATCH_KEYS);
  memset(fed, 0x55, sizeof fed);
  laju_batch_clear(batch);
  return parked;
}

static void a_copy_has_what_replies_are_made_of(void **state) {
  (void)state;
  batch->now_us = 1234;
  add_note("first");
  add(&named, 3, true);
  add_note("second");
  add(&named, 2, false);
  laju_parked *parked = park();
  const laju_batch *copy = laju_parked_batch(parked);
  assert_int_equal(copy->now_us, 1234);
  assert_int_equal(copy->ask_count, 4);
  assert_int_equal(copy->asks[0].form, 3);
  assert_memory_equal(copy->notes + copy->asks[2].first, "second", 6);
  const laju_ask *waiting = &copy->asks[1], *decided = &copy->asks[3];
  assert_true(waiting->waiting && !decided->waiting);
  assert_int_equal(waiting->count, 3);
  assert_memory_equal(copy->checks[waiting->first + 2].key, "k2", 2);
  assert_int_equal(copy->checks[waiting->first + 2].cost, 2);
  assert_ptr_equal(copy->checks[waiting->first].rule, &named);
  assert_ptr_equal(copy->checks[decided->first + 1].rule, &named);
  assert_int_equal(copy->decisions[decided->first + 1].remaining, 101);
  laju_parked_free(parked);
}

static void rules_that_were_made_go_along_and_stay_shared(void **state) {
  (void)state;
  batch->rules[1] = made_rule("made=7/1m");
  add(&named, 1, true);
  add(&batch->rules[1], 1, true);
  add(&batch->rules[1], 1, false);
  batch->rules[3] = made_rule("other=9/1m");
  add(&batch->rules[3], 1, true);
  laju_parked *parked = park();
  const laju_check *checks = laju_parked_batch(parked)->checks;
  assert_ptr_equal(checks[0].rule, &named);
  assert_string_equal(checks[1].rule->name, "made");
  assert_ptr_equal(checks[2].rule, checks[1].rule);
  assert_int_equal(checks[3].rule->limit, 9);
  laju_parked_free(parked);
}

static void groups_go_along_where_the_rule_has_them(void **state) {
  (void)state;
  laju_rule grouped = named;
  grouped.grouped = true;
  add(&grouped, 2, true);
  memcpy(batch->keys, "tenant", 6);
  batch->groups[0] = (laju_slice){batch->keys, 6};
  batch->groups[1] = (laju_slice){NULL, 0};
  add(&named, 1, true);
  batch->groups[2] = (laju_slice){"not written for it", 99999};
  laju_parked *parked = park();
  const laju_slice *groups = laju_parked_batch(parked)->groups;
  assert_int_equal(groups[0].len, 6);
  assert_memory_equal(groups[0].at, "tenant", 6);
  assert_int_equal(groups[1].len, 0);
  assert_int_equal(groups[2].len, 0);
  laju_parked_free(parked);
}

static void a_copy_is_as_large_as_what_is_in_it(void **state) {
  (void)state;
  add(&named, 1, true);
  laju_parked *small = park();
  assert_true(laju_parked_size(small) < 2048);
  for (int i = 0; i < 16; i++) add(&named, 60, true);
  laju_parked *large = park();
  assert_true(laju_parked_size(large) > LAJU_PARKED_KEPT && laju_parked_size(large) < 256 * 1024);
  laju_parked_free(small);
  laju_parked_free(large);
}

static void copies_are_used_again_unless_they_are_large(void **state) {
  (void)state;
  add(&named, 1, true);
  laju_parked *first = park();
  laju_parked_free(first);
  add(&named, 2, true);
  assert_ptr_equal(park(), first);
  laju_parked_free(first);
  assert_int_equal(lot.spare_count, 1);
  for (int i = 0; i < 16; i++) add(&named, 60, true);
  laju_parked *large = park();
  laju_parked_free(large);
  assert_int_equal(lot.spare_count, 0);
}

static void no_more_spares_are_kept_than_are_allowed(void **state) {
  (void)state;
  static laju_parked *all[LAJU_LOT_SPARES + 3];
  add(&named, 1, true);
  for (size_t i = 0; i < LAJU_LOT_SPARES + 3; i++) all[i] = laju_parked_new(&lot, batch);
  for (size_t i = 0; i < LAJU_LOT_SPARES + 3; i++) laju_parked_free(all[i]);
  assert_int_equal(lot.spare_count, LAJU_LOT_SPARES);
}

static void the_oldest_is_known_in_whatever_order_they_go(void **state) {
  (void)state;
  add(&named, 1, true);
  assert_int_equal(laju_lot_oldest(&lot), 0);
  laju_parked *a = laju_parked_new(&lot, batch), *b = laju_parked_new(&lot, batch), *c = laju_parked_new(&lot, batch);
  assert_int_equal(lot.taken, 3);
  assert_int_equal(laju_lot_oldest(&lot), 0);
  laju_parked_free(b);
  assert_int_equal(laju_lot_oldest(&lot), 0);
  laju_parked_free(a);
  assert_int_equal(laju_lot_oldest(&lot), 2);
  laju_parked_free(c);
  assert_int_equal(laju_lot_oldest(&lot), 3);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, open_batch, shut_batch)
  const struct CMUnitTest tests[] = {
      CLAIM(a_copy_has_what_replies_are_made_of),           CLAIM(rules_that_were_made_go_along_and_stay_shared),
      CLAIM(groups_go_along_where_the_rule_has_them),       CLAIM(a_copy_is_as_large_as_what_is_in_it),
      CLAIM(copies_are_used_again_unless_they_are_large),   CLAIM(no_more_spares_are_kept_than_are_allowed),
      CLAIM(the_oldest_is_known_in_whatever_order_they_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
