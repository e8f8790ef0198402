#include "server/readings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static laju_readings *readings;

static int make(void **state) {
  (void)state;
  readings = calloc(1, sizeof *readings);
  return readings != NULL ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  free(readings);
  return 0;
}

/* Structs of nothing but counters, each with a number of its own: one that is left out, or taken for another, is seen. */
static void number_all(_Atomic uint64_t *counters, size_t count) {
  for (size_t i = 0; i < count; i++) atomic_store(&counters[i], i + 1);
}

static void are_doubled(const _Atomic uint64_t *counters, size_t count) {
  for (size_t i = 0; i < count; i++) assert_int_equal(atomic_load(&counters[i]), 2 * (i + 1));
}

static void every_counter_of_the_store_is_added_up(void **state) {
  (void)state;
  enum { COUNT = offsetof(laju_store_counters, latency) / sizeof(uint64_t) };
  laju_store_counters *counters = calloc(1, sizeof *counters);
  number_all((_Atomic uint64_t *)counters, COUNT);
  laju_histogram_add_times(&counters->latency, 7, 3);
  laju_readings_add_store(readings, counters);
  laju_readings_add_store(readings, counters);
  are_doubled((const _Atomic uint64_t *)&readings->store, COUNT);
  assert_int_equal(laju_histogram_count(&readings->store.latency), 6);
  free(counters);
}

static void every_counter_of_the_way_is_added_up(void **state) {
  (void)state;
  enum { COUNT = sizeof(laju_way_counters) / sizeof(uint64_t) };
  laju_way_counters counters;
  number_all((_Atomic uint64_t *)&counters, COUNT);
  laju_readings_add_way(readings, &counters);
  laju_readings_add_way(readings, &counters);
  are_doubled((const _Atomic uint64_t *)&readings->way, COUNT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(every_counter_of_the_store_is_added_up, make, end),
      cmocka_unit_test_setup_teardown(every_counter_of_the_way_is_added_up, make, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
