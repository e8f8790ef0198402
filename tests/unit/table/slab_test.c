#include "table/fixture.h"

#include "table/slab.h"

#define BLOCKS 3
#define UNITS (BLOCKS * LAJU_SLAB_BLOCK_UNITS)

static laju_slab new_slab(void) {
  laju_slab slab;
  uint64_t *marks = calloc(UNITS, sizeof *marks);
  void *bytes = malloc(UNITS * LAJU_SLAB_UNIT);
  assert_true(marks != NULL && bytes != NULL);
  laju_slab_init(&slab, marks, bytes, UNITS);
  return slab;
}

static void free_slab(laju_slab *slab) {
  free(slab->marks);
  free(slab->bytes);
}

static void a_block_begins_at_a_multiple_of_its_size(void **unused) {
  (void)unused;
  laju_slab slab = new_slab();
  for (unsigned order = 0; order < LAJU_SLAB_ORDERS; order++) {
    uint64_t unit = laju_slab_alloc(&slab, order, 1000 + order);
    assert_int_not_equal(unit, LAJU_SLAB_NONE);
    assert_int_equal(unit & ((UINT64_C(1) << order) - 1), 0);
    laju_slab_block block = laju_slab_block_at(&slab, unit + (UINT64_C(1) << order) - 1);
    assert_int_equal(block.unit, unit);
    assert_int_equal(block.order, order);
    assert_int_equal(block.owner, 1000 + order);
    assert_true(block.used);
  }
  free_slab(&slab);
}

static void a_full_slab_says_so_and_is_whole_again_when_all_is_released(void **unused) {
  (void)unused;
  laju_slab slab = new_slab();
  for (uint64_t i = 0; i < UNITS; i++) assert_int_not_equal(laju_slab_alloc(&slab, 0, i), LAJU_SLAB_NONE);
  assert_int_equal(laju_slab_alloc(&slab, 0, 0), LAJU_SLAB_NONE);
  assert_int_equal(slab.used_bytes, UNITS * LAJU_SLAB_UNIT);
  for (uint64_t i = 0; i < UNITS; i += 2) laju_slab_release(&slab, i, 0);
  assert_int_equal(laju_slab_alloc(&slab, 1, 0), LAJU_SLAB_NONE); /* half is free, no two side by side */
  for (uint64_t i = 1; i < UNITS; i += 2) laju_slab_release(&slab, i, 0);
  assert_int_equal(slab.used_bytes, 0);
  for (int i = 0; i < BLOCKS; i++) assert_int_not_equal(laju_slab_alloc(&slab, LAJU_SLAB_ORDER_MAX, 0), LAJU_SLAB_NONE);
  free_slab(&slab);
}

static void a_block_widens_where_its_neighbours_are_free(void **unused) {
  (void)unused;
  laju_slab slab = new_slab();
  uint64_t first = laju_slab_alloc(&slab, 0, 7), second = laju_slab_alloc(&slab, 0, 8);
  assert_int_equal(second, first + 1);
  assert_int_equal(laju_slab_widen(&slab, first, 0, 1), LAJU_SLAB_NONE); /* the neighbour is taken */
  laju_slab_release(&slab, first, 0);
  assert_int_equal(laju_slab_widen(&slab, second, 0, 3), first); /* the larger block begins before it */
  laju_slab_block block = laju_slab_block_at(&slab, second);
  assert_int_equal(block.unit, first);
  assert_int_equal(block.order, 3);
  assert_int_equal(block.owner, 8);
  assert_int_equal(slab.used_bytes, 8 * LAJU_SLAB_UNIT);
  laju_slab_release(&slab, first, 3);
  assert_int_equal(slab.used_bytes, 0);
  free_slab(&slab);
}

#define HELD_MAX 400

/* Random blocks, each filled with its own number: none may ever reach into another. */
static void blocks_never_overlap(void **unused) {
  (void)unused;
  laju_slab slab = new_slab();
  uint64_t units[HELD_MAX], random = 9;
  unsigned orders[HELD_MAX], held = 0;
  for (uint64_t step = 0; step < 20000; step++) {
    uint64_t x = random_next(&random);
    unsigned order = (unsigned)(x >> 8) % 9;
    uint64_t unit = held < HELD_MAX && x % 2 == 0 ? laju_slab_alloc(&slab, order, step) : LAJU_SLAB_NONE;
    if (unit != LAJU_SLAB_NONE) {
      memset(laju_slab_stamps(&slab, unit), (int)(unit % 251), (size_t)LAJU_SLAB_UNIT << order);
      units[held] = unit;
      orders[held++] = order;
    } else if (held > 0) {
      unsigned i = (unsigned)(x >> 16) % held;
      const unsigned char *bytes = (const unsigned char *)laju_slab_stamps(&slab, units[i]);
      for (size_t j = 0; j < (size_t)LAJU_SLAB_UNIT << orders[i]; j++) assert_int_equal(bytes[j], units[i] % 251);
      laju_slab_release(&slab, units[i], orders[i]);
      units[i] = units[--held];
      orders[i] = orders[held];
    }
  }
  while (held > 0) {
    held--;
    laju_slab_release(&slab, units[held], orders[held]);
  }
  assert_int_equal(slab.used_bytes, 0);
  free_slab(&slab);
}

static void a_logs_place_is_kept_in_sixteen_bytes(void **unused) {
  (void)unused;
  laju_slab slab = new_slab();
  laju_log log = {.capacity = 65536, .head = 65535, .count = 65536};
  laju_log again = laju_slab_view(&slab, laju_slab_refer(LAJU_SLAB_BLOCK_UNITS, &log));
  assert_ptr_equal(again.stamps, laju_slab_stamps(&slab, LAJU_SLAB_BLOCK_UNITS));
  assert_int_equal(again.capacity, 65536);
  assert_int_equal(again.head, 65535);
  assert_int_equal(again.count, 65536);
  assert_int_equal(again.pending, 0);
  free_slab(&slab);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_begins_at_a_multiple_of_its_size),
      cmocka_unit_test(a_full_slab_says_so_and_is_whole_again_when_all_is_released),
      cmocka_unit_test(a_block_widens_where_its_neighbours_are_free),
      cmocka_unit_test(blocks_never_overlap),
      cmocka_unit_test(a_logs_place_is_kept_in_sixteen_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
