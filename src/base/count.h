/* Counters that one thread writes and any may read: no addition of another's gets between, so a load and a store do, which are
 * cheaper than an atomic addition. */
#ifndef LAJU_BASE_COUNT_H
#define LAJU_BASE_COUNT_H

#include <stdatomic.h>
#include <stdint.h>

static inline uint64_t laju_count_read(const _Atomic uint64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void laju_count_set(_Atomic uint64_t *counter, uint64_t value) {
  atomic_store_explicit(counter, value, memory_order_relaxed);
}

static inline void laju_count_more(_Atomic uint64_t *counter, uint64_t more) {
  laju_count_set(counter, laju_count_read(counter) + more);
}

static inline void laju_count_less(_Atomic uint64_t *counter, uint64_t less) {
  laju_count_set(counter, laju_count_read(counter) - less);
}

static inline void laju_count(_Atomic uint64_t *counter) {
  laju_count_more(counter, 1);
}

#endif
