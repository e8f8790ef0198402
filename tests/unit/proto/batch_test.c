#include "proto/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redis/store.h"

#define NOW_US INT64_C(1700000000000000)

typedef struct fixture {
  laju_way way;
  laju_batch *batch;
  laju_rule queue, slow, shut; /* an admission waits 100 ms or 1 s for each before it; none is admitted */
  laju_rule here, there;       /* decided by the table, and by the store */
  uv_loop_t loop;              /* the store's, where there is one */
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
  make_rule(&f.here, "here=5/1d token-bucket");
  make_rule(&f.there, "there=5/1d token-bucket");
  f.there.mode = LAJU_EXACT;
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

/* ---- with a shared store ---- */

/* One whose server is not there: what is asked of it is not looked at here. */
static int open_with_store(void **state) {
  char why[LAJU_TEXT_SIZE];
  laju_store_options options = {.url = {.kind = LAJU_STORE_SINGLE, .unix_path = "/nonexistent/redis"},
                                .timeout_us = 1000000,
                                .connect_timeout_us = 1000000,
                                .pool = 1,
                                .max_inflight = 100};
  open_batch(state);
  fixture *f = *state;
  if (uv_loop_init(&f->loop) < 0) return -1;
  return laju_store_new(&f->way.store, &f->loop, &options, why);
}

static int shut_with_store(void **state) {
  fixture *f = *state;
  laju_store_close(f->way.store, NULL, NULL);
  uv_run(&f->loop, UV_RUN_DEFAULT);
  f->way.store = NULL;
  return shut_batch(state) + uv_loop_close(&f->loop);
}

static bool waits(const fixture *f, size_t ask) {
  return f->batch->asks[ask].waiting;
}

static void without_a_store_nothing_waits_whatever_the_mode(void **state) {
  fixture *f = *state;
  laju_batch_clear(f->batch);
  add(f, &f->there, &f->here, 0);
  add(f, &f->there, NULL, 0);
  assert_true(laju_batch_decide(f->batch, &f->way, NOW_US));
  assert_true(f->batch->asks[0].allowed && f->batch->asks[1].allowed);
  assert_int_equal(f->batch->decisions[2].remaining, 3);
}

static void what_is_the_stores_waits_and_the_rest_does_not(void **state) {
  fixture *f = *state;
  laju_batch_clear(f->batch);
  add(f, &f->here, NULL, 0);
  add(f, &f->there, NULL, 0);
  f->batch->asks[f->batch->ask_count++] = (laju_ask){.kind = LAJU_ASK_NOTE};
  add(f, &f->here, NULL, 0);
  add(f, &f->there, &f->there, 0);
  f->batch->asks[4].kind = LAJU_ASK_EACH;
  add(f, &f->there, NULL, 0);
  f->batch->asks[5].kind = LAJU_ASK_RESET;
  assert_false(laju_batch_decide(f->batch, &f->way, NOW_US));
  assert_true(waits(f, 1) && waits(f, 4) && waits(f, 5));
  assert_false(waits(f, 0) || waits(f, 2) || waits(f, 3));
  assert_int_equal(f->batch->decisions[0].remaining, 4);
  assert_int_equal(f->batch->decisions[2].remaining, 3);
}

static void nothing_overtakes_a_request_of_both_kinds(void **state) {
  fixture *f = *state;
  laju_batch_clear(f->batch);
  add(f, &f->here, NULL, 0);
  add(f, &f->here, &f->there, 0);
  add(f, &f->here, NULL, 0);
  assert_false(laju_batch_decide(f->batch, &f->way, NOW_US));
  assert_false(waits(f, 0));
  assert_true(waits(f, 1) && waits(f, 2));
  laju_batch_clear(f->batch);
  add(f, &f->here, NULL, 0);
  assert_true(laju_batch_decide(f->batch, &f->way, NOW_US));
  assert_int_equal(f->batch->decisions[0].remaining, 3); /* only the first was charged */
}

static void what_needs_no_store_to_be_refused_does_not_wait(void **state) {
  fixture *f = *state;
  f->shut.mode = LAJU_EXACT;
  laju_batch_clear(f->batch);
  add(f, &f->shut, NULL, 0);
  add(f, &f->here, &f->shut, 0);
  assert_true(laju_batch_decide(f->batch, &f->way, NOW_US));
  assert_false(f->batch->asks[0].allowed || f->batch->asks[1].allowed);
  laju_batch_clear(f->batch);
  add(f, &f->here, NULL, 0);
  laju_batch_decide(f->batch, &f->way, NOW_US);
  assert_int_equal(f->batch->decisions[0].remaining, 4); /* nothing was charged before */
}

static void a_claim_is_its_asks_part_of_the_batch(void **state) {
  fixture *f = *state;
  laju_batch_clear(f->batch);
  add(f, &f->here, NULL, 0);
  add(f, &f->here, &f->there, 0);
  laju_claim claim = laju_batch_claim(f->batch, &f->batch->asks[1]);
  assert_int_equal(claim.kind, LAJU_CLAIM_ALL);
  assert_int_equal(claim.count, 2);
  assert_ptr_equal(claim.checks, &f->batch->checks[1]);
  assert_ptr_equal(claim.groups, &f->batch->groups[1]);
  assert_ptr_equal(claim.decisions, &f->batch->decisions[1]);
  laju_ask ask = {.kind = LAJU_ASK_ALL, .waiting = true, .form = 9};
  claim.allowed = claim.split = true;
  laju_ask_settle(&ask, &claim);
  assert_true(ask.allowed && ask.split && !ask.waiting && !ask.failed && ask.form == 9);
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
#define STORE_CLAIM(f) cmocka_unit_test_setup_teardown(f, open_with_store, shut_with_store)
  const struct CMUnitTest tests[] = {
      CLAIM(an_answer_is_held_for_the_delay_of_its_admission),
      CLAIM(only_checks_that_wait_hold),
      CLAIM(a_refusal_is_not_held),
      CLAIM(a_full_arena_of_keys_leaves_no_room),
      CLAIM(without_a_store_nothing_waits_whatever_the_mode),
      CLAIM(a_claim_is_its_asks_part_of_the_batch),
      STORE_CLAIM(what_is_the_stores_waits_and_the_rest_does_not),
      STORE_CLAIM(nothing_overtakes_a_request_of_both_kinds),
      STORE_CLAIM(what_needs_no_store_to_be_refused_does_not_wait),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
