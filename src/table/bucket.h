/* Inside `table` only: five keys in two neighbouring cache lines, and their lock.
 *
 * Header: bit 0 is the lock, bits 4 to 63 hold five shape ids of 12 bits (shape.h), 0 for a free slot. Everything is
 * written under the lock. Without it only the fingerprints may be read, as a hint of where a key stands.
 */
#ifndef LAJU_TABLE_BUCKET_H
#define LAJU_TABLE_BUCKET_H

#include "core/state.h"
#include "table/shape.h"
#include "table/spin.h"

#define LAJU_BUCKET_SLOTS 5
#define LAJU_BUCKET_LOCK UINT64_C(1)

typedef struct laju_bucket {
  _Alignas(128) _Atomic uint64_t header;
  _Atomic uint64_t prints[LAJU_BUCKET_SLOTS];
  laju_state states[LAJU_BUCKET_SLOTS]; /* of a log: where its stamps are (slab.h) */
} laju_bucket;

_Static_assert(sizeof(laju_bucket) == 128, "two cache lines, which the processor fetches together");
_Static_assert(sizeof(((laju_bucket *)0)->prints) + 24 == 64, "the first line holds all that a search looks at");

static inline bool laju_bucket_try_lock(laju_bucket *bucket) {
  return (atomic_fetch_or_explicit(&bucket->header, LAJU_BUCKET_LOCK, memory_order_acquire) & LAJU_BUCKET_LOCK) == 0;
}

static inline void laju_bucket_lock(laju_bucket *bucket) {
  unsigned turns = 0;
  while (__builtin_expect(!laju_bucket_try_lock(bucket), 0)) {
    do {
      laju_spin_pause(&turns);
    } while ((atomic_load_explicit(&bucket->header, memory_order_relaxed) & LAJU_BUCKET_LOCK) != 0);
  }
}

/* The holder is the only one who changes the header (others can but set the bit that is set), so plain stores will do. */
static inline void laju_bucket_unlock(laju_bucket *bucket) {
  uint64_t header = atomic_load_explicit(&bucket->header, memory_order_relaxed);
  atomic_store_explicit(&bucket->header, header & ~LAJU_BUCKET_LOCK, memory_order_release);
}

/* No key stands in it (a hint, where the lock is not held). */
static inline bool laju_bucket_is_empty(const laju_bucket *bucket) {
  return (atomic_load_explicit(&bucket->header, memory_order_relaxed) & ~LAJU_BUCKET_LOCK) == 0;
}

/* ---- under the lock ---- */

static inline unsigned laju_bucket_shape(const laju_bucket *bucket, unsigned slot) {
  return (unsigned)(atomic_load_explicit(&bucket->header, memory_order_relaxed) >> (4 + 12 * slot)) & LAJU_SHAPE_MAX;
}

static inline void laju_bucket_set_shape(laju_bucket *bucket, unsigned slot, unsigned shape) {
  uint64_t header = atomic_load_explicit(&bucket->header, memory_order_relaxed);
  header &= ~((uint64_t)LAJU_SHAPE_MAX << (4 + 12 * slot));
  header |= (uint64_t)shape << (4 + 12 * slot);
  atomic_store_explicit(&bucket->header, header, memory_order_relaxed);
}

static inline uint64_t laju_bucket_print(const laju_bucket *bucket, unsigned slot) {
  return atomic_load_explicit(&bucket->prints[slot], memory_order_relaxed);
}

/* Does this slot hold this key? Of the same kind, too: a state must never be taken for a log. */
static inline bool laju_bucket_holds(const laju_bucket *bucket, unsigned slot, uint64_t print, bool log) {
  unsigned shape = laju_bucket_shape(bucket, slot);
  return laju_bucket_print(bucket, slot) == print && shape != 0 && laju_shape_is_log(shape) == log;
}

/* The slot of a key, or -1. */
static inline int laju_bucket_find(const laju_bucket *bucket, uint64_t print, bool log) {
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
    if (laju_bucket_holds(bucket, slot, print, log)) return (int)slot;
  }
  return -1;
}

static inline unsigned laju_bucket_keys(const laju_bucket *bucket) {
  unsigned keys = 0;
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) keys += laju_bucket_shape(bucket, slot) != 0;
  return keys;
}

/* A slot without a key, or -1. */
static inline int laju_bucket_free_slot(const laju_bucket *bucket) {
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
    if (laju_bucket_shape(bucket, slot) == 0) return (int)slot;
  }
  return -1;
}

/* Puts a key into a free slot. */
static inline void laju_bucket_fill(laju_bucket *bucket, unsigned slot, unsigned shape, uint64_t print,
                                    laju_state state) {
  bucket->states[slot] = state;
  atomic_store_explicit(&bucket->prints[slot], print, memory_order_relaxed);
  laju_bucket_set_shape(bucket, slot, shape);
}

/* Frees a slot (its log's stamps are the caller's business). */
static inline void laju_bucket_empty(laju_bucket *bucket, unsigned slot) {
  laju_bucket_set_shape(bucket, slot, 0);
  atomic_store_explicit(&bucket->prints[slot], 0, memory_order_relaxed);
}

/* ---- without the lock ---- */

/* The slot with this fingerprint, or LAJU_BUCKET_SLOTS. Written for conditional moves: where a key stands cannot be
 * foreseen, so a branch would be guessed wrong. */
static inline unsigned laju_bucket_hint(const laju_bucket *bucket, uint64_t print) {
  unsigned slot = LAJU_BUCKET_SLOTS;
  slot = laju_bucket_print(bucket, 4) == print ? 4 : slot;
  slot = laju_bucket_print(bucket, 3) == print ? 3 : slot;
  slot = laju_bucket_print(bucket, 2) == print ? 2 : slot;
  slot = laju_bucket_print(bucket, 1) == print ? 1 : slot;
  slot = laju_bucket_print(bucket, 0) == print ? 0 : slot;
  return slot;
}

#endif
