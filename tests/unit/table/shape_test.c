#include "table/fixture.h"

#include "table/shape.h"

static laju_shape numbered(laju_algorithm algorithm, uint32_t limit) {
  laju_rule rule = rule_of("api", algorithm, limit, 60 * SECOND);
  return laju_shape_of(&rule);
}

static unsigned id_of(laju_shapes *shapes, laju_algorithm algorithm, uint32_t limit, int64_t now_us) {
  return laju_shape_id(shapes, numbered(algorithm, limit), now_us);
}

static laju_shapes *new_shapes(void) {
  laju_shapes *shapes = calloc(1, sizeof *shapes);
  assert_non_null(shapes);
  return shapes;
}

static void equal_numbers_share_an_id(void **unused) {
  (void)unused;
  laju_shapes *shapes = new_shapes();
  unsigned ten = id_of(shapes, LAJU_FIXED_WINDOW, 10, NOON);
  assert_int_not_equal(ten, 0);
  assert_int_not_equal(id_of(shapes, LAJU_FIXED_WINDOW, 11, NOON), ten);
  assert_int_not_equal(id_of(shapes, LAJU_TOKEN_BUCKET, 10, NOON), ten);
  assert_int_equal(id_of(shapes, LAJU_FIXED_WINDOW, 10, NOON + 1), ten);
  free(shapes);
}

static void a_shape_gives_back_its_rule(void **unused) {
  (void)unused;
  laju_rule rule, again;
  assert_int_equal(laju_rule_init(&rule, "api", 3, LAJU_LEAKY_BUCKET, 7, 366 * 86400 * SECOND, UINT32_MAX), 0);
  again = laju_shape_rule(laju_shape_of(&rule));
  assert_int_equal(again.algorithm, rule.algorithm);
  assert_int_equal(again.limit, rule.limit);
  assert_int_equal(again.capacity, rule.capacity);
  assert_int_equal(again.period, rule.period);
  assert_int_equal(again.tick_us, rule.tick_us);
  assert_true(laju_shape_valid(laju_shape_of(&rule)));
}

static void an_id_tells_a_log_from_a_state(void **unused) {
  (void)unused;
  laju_shapes *shapes = new_shapes();
  for (uint32_t i = 1; i <= 5000; i++) {
    assert_true(laju_shape_is_log(id_of(shapes, LAJU_SLIDING_WINDOW_LOG, i, NOON)));
    unsigned id = id_of(shapes, LAJU_TOKEN_BUCKET, i, NOON);
    assert_true(id != 0 && !laju_shape_is_log(id) && id <= LAJU_SHAPE_MAX);
  }
  free(shapes);
}

static void the_least_recently_used_id_is_given_to_a_newcomer(void **unused) {
  (void)unused;
  laju_shapes *shapes = new_shapes();
  const uint32_t room = LAJU_SHAPE_LOG_FIRST - 1;
  unsigned of_700 = 0;
  for (uint32_t i = 1; i <= room; i++) { /* an hour ago, but for 700, an hour and a half ago */
    unsigned id = id_of(shapes, LAJU_FIXED_WINDOW, i, i == 700 ? NOON - 5400 * SECOND : NOON - 3600 * SECOND);
    if (i == 700) of_700 = id;
  }
  assert_int_equal(id_of(shapes, LAJU_FIXED_WINDOW, room + 1, NOON), of_700);
  laju_shape here = laju_shape_read_whole(shapes, of_700), wanted = numbered(LAJU_FIXED_WINDOW, room + 1);
  assert_int_equal(here.tokens, wanted.tokens);
  assert_int_equal(here.time, wanted.time);
  for (uint32_t i = 1; i <= room; i++) { /* the others stand, and are found again */
    if (i == 700) continue;
    unsigned id = id_of(shapes, LAJU_FIXED_WINDOW, i, NOON);
    assert_int_equal(laju_shape_read(shapes, id).tokens, numbered(LAJU_FIXED_WINDOW, i).tokens);
    assert_int_not_equal(id, of_700);
  }
  free(shapes);
}

static void newcomers_of_the_same_moment_take_turns(void **unused) {
  (void)unused;
  laju_shapes *shapes = new_shapes();
  for (uint32_t i = 1; i < LAJU_SHAPE_LOG_FIRST; i++) id_of(shapes, LAJU_FIXED_WINDOW, i, NOON);
  unsigned a = id_of(shapes, LAJU_FIXED_WINDOW, 10001, NOON), b = id_of(shapes, LAJU_FIXED_WINDOW, 10002, NOON);
  assert_int_not_equal(a, b);
  assert_int_equal(id_of(shapes, LAJU_FIXED_WINDOW, 10001, NOON), a);
  free(shapes);
}

static void words_that_no_rule_has_are_not_valid(void **unused) {
  (void)unused;
  laju_shape shape = numbered(LAJU_FIXED_WINDOW, 10);
  assert_true(laju_shape_valid(shape));
  assert_false(laju_shape_valid((laju_shape){.tokens = shape.tokens + (UINT64_C(1) << 32), .time = shape.time}));
  assert_false(laju_shape_valid((laju_shape){.tokens = shape.tokens, .time = 0}));
  assert_false(laju_shape_valid((laju_shape){.tokens = shape.tokens, .time = shape.time + (UINT64_C(3) << 48)}));
  assert_false(laju_shape_valid((laju_shape){.tokens = shape.tokens, .time = shape.time + (UINT64_C(1) << 21)}));
  assert_false(laju_shape_valid((laju_shape){.tokens = UINT64_MAX, .time = UINT64_MAX}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_numbers_share_an_id),
      cmocka_unit_test(a_shape_gives_back_its_rule),
      cmocka_unit_test(an_id_tells_a_log_from_a_state),
      cmocka_unit_test(the_least_recently_used_id_is_given_to_a_newcomer),
      cmocka_unit_test(newcomers_of_the_same_moment_take_turns),
      cmocka_unit_test(words_that_no_rule_has_are_not_valid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
