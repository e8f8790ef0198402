#include "proto/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW_US INT64_C(1700000000000000)

typedef struct fixture {
  laju_way way;
  laju_batch *batch;
  laju_rule queue, slow, shut; /* an admission waits 100 ms or 1 s for each before it; none is admitted */
} fixture;

static void make_rule(laju_rule *rule, const char *line) {
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(rule, line, why), 0);
}

static int open_batch(void **state) {
  static fixture f;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  assert_int_equal(laju_limiter_new(&f.way.limiter, &options), 0);
  f.batch = laju_batch_new();
  assert_non_null(f.batch);
  make_rule(&f.queue, "queue=10/1s leaky-bucket burst 5");
  make_rule(&f.slow, "slow=1/1s leaky-bucket burst 5");
  make_rule(&f.shut, "shut=0/1s");
  *state = &f;
  return 0;
}

static int shut_batch(void **state) {
  fixture *f = *state;
  laju_batch_free(f->batch);
  laju_limiter_free(f->way.limiter);
  return 0;
}

/* One request of one or two checks of the key "k". */
static void add(fixture *f, const laju_rule *first, const laju_rule *second, unsigned waits) {
  laju_batch *batch = f->batch;
  laju_ask ask = {.kind = LAJU_ASK_ALL, .waits = (uint16_t)waits, .first = (uint32_t)batch->check_count};
  batch->checks[batch->check_count++] = (laju_check){.rule = first, .key = "k", .key_len = 1, .cost = 1};
  if (second != NULL)
    batch->checks[batch->check_count++] = (laju_check){.rule = second, .key = "k", .key_len = 1, .cost = 1};
  ask.count = (uint32_t)batch->check_count - ask.first;
  batch->asks[batch->ask_count++] = ask;
}

static int64_t held_us(fixture *f, const laju_rule *first, const laju_rule *second, unsigned waits) {
  laju_batch_clear(f->batch);
  add(f, first, second, waits);
  laju_batch_decide(f->batch, &f->way, NOW_US);
  return f->batch->hold_us;
}

static void an_answer_is_held_for_the_delay_of_its_admission(void **state) {
  assert_int_equal(held_us(*state, &((fixture *)*state)->queue, NULL, 1), 0);
  assert_int_equal(held_us(*state, &((fixture *)*state)->queue, NULL, 1), 100000);
  assert_int_equal(held_us(*state, &((fixture *)*state)->queue, NULL, 1), 200000);
}

static void only_checks_that_wait_hold(void **state) {
  fixture *f = *state;
  held_us(f, &f->queue, &f->slow, 3);
  assert_int_equal(held_us(f, &f->queue, &f->slow, 0), 0);
  assert_int_equal(held_us(f, &f->queue, &f->slow, 1), 200000);
  assert_int_equal(held_us(f, &f->queue, &f->slow, 3), 3000000);
}

static void a_refusal_is_not_held(void **state) {
  fixture *f = *state;
  held_us(f, &f->queue, NULL, 1);
  assert_int_equal(held_us(f, &f->queue, &f->shut, 1), 0);
  assert_false(f->batch->asks[0].allowed);
}

static void a_full_arena_of_keys_leaves_no_room(void **state) {
  fixture *f = *state;
  f->batch->key_len = LAJU_BATCH_KEYS - LAJU_DERIVED_MAX;
  assert_true(laju_batch_has_room(f->batch, 1));
  f->batch->key_len++;
  assert_false(laju_batch_has_room(f->batch, 1));
  laju_batch_clear(f->batch);
  assert_true(laju_batch_has_room(f->batch, 1));
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, open_batch, shut_batch)
  const struct CMUnitTest tests[] = {
      CLAIM(an_answer_is_held_for_the_delay_of_its_admission),
      CLAIM(only_checks_that_wait_hold),
      CLAIM(a_refusal_is_not_held),
      CLAIM(a_full_arena_of_keys_leaves_no_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
