#include "table/store.h"

#include <string.h>
#include <sys/mman.h>

static void touch(laju_table *table, uint64_t bucket) {
  uint64_t page = bucket / LAJU_PAGE_BUCKETS, bit = UINT64_C(1) << page % 64;
  _Atomic uint64_t *word = &table->touched[page / 64];
  if ((atomic_load_explicit(word, memory_order_relaxed) & bit) == 0) {
    atomic_fetch_or_explicit(word, bit, memory_order_relaxed);
  }
}

void laju_store_put(laju_table *table, uint64_t bucket, unsigned slot, unsigned shape, uint64_t print,
                    laju_state state) {
  touch(table, bucket);
  laju_bucket_fill(&table->buckets[bucket], slot, shape, print, state);
  atomic_fetch_add_explicit(&laju_store_tally(table, bucket)->keys, 1, memory_order_relaxed);
}

void laju_store_drop_under_slab(laju_table *table, uint64_t bucket, unsigned slot) {
  laju_bucket *b = &table->buckets[bucket];
  if (laju_shape_is_log(laju_bucket_shape(b, slot))) {
    laju_state state = b->states[slot];
    laju_slab_release(&table->slab, laju_slab_state_unit(state), laju_slab_state_order(state));
  }
  laju_bucket_empty(b, slot);
  atomic_fetch_sub_explicit(&laju_store_tally(table, bucket)->keys, 1, memory_order_relaxed);
}

void laju_store_drop(laju_table *table, uint64_t bucket, unsigned slot) {
  bool log = laju_shape_is_log(laju_bucket_shape(&table->buckets[bucket], slot));
  if (log) laju_spin_lock(&table->slab.lock);
  laju_store_drop_under_slab(table, bucket, slot);
  if (log) laju_spin_unlock(&table->slab.lock);
}

uint64_t laju_store_next_touched(const laju_table *table, uint64_t bucket) {
  uint64_t page = bucket / LAJU_PAGE_BUCKETS;
  for (uint64_t word = page / 64; word < table->touched_words; word++) {
    uint64_t bits = atomic_load_explicit(&table->touched[word], memory_order_relaxed);
    if (word == page / 64) bits &= ~UINT64_C(0) << page % 64;
    if (bits == 0) continue;
    uint64_t first = (word * 64 + (uint64_t)__builtin_ctzll(bits)) * LAJU_PAGE_BUCKETS;
    return first > bucket ? first : bucket;
  }
  return table->bucket_count;
}

void laju_store_clear(laju_table *table) {
  laju_slab *slab = &table->slab;
  memset(table->tallies, 0, sizeof table->tallies);
  memset(&table->shapes, 0, sizeof table->shapes);
  /* The rest is pages of their own: dropped, they read as zeros again. */
  unsigned char *rest = (unsigned char *)table->touched, *end = (unsigned char *)table + table->mapped_bytes;
  if (madvise(rest, (size_t)(end - rest), MADV_DONTNEED) < 0) memset(rest, 0, (size_t)(end - rest)); /* locked memory */
  laju_slab_init(slab, slab->marks, slab->bytes, slab->units);
}
