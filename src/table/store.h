/* Inside `table` only: what a laju_table is made of, and the few moves that everything else is built from.
 *
 * One mapping holds, each from a page on: this struct, a bit for each page of buckets that ever held a key, the memory of
 * denials where there is one, the slab's marks, the slab, the buckets. A bucket is found by multiplying, not by masking, so any number of them will do, and each
 * stands for one stretch of the hash's range: that is how a snapshot finds its way into a table of another size.
 */
#ifndef LAJU_TABLE_STORE_H
#define LAJU_TABLE_STORE_H

#include "base/siphash.h"
#include "table/bucket.h"
#include "table/slab.h"
#include "table/table.h"

#define LAJU_PAGE_BYTES UINT64_C(4096)
#define LAJU_PAGE_BUCKETS (LAJU_PAGE_BYTES / sizeof(laju_bucket))
#define LAJU_BUCKETS_MAX (UINT64_C(1) << 32) /* 512 GiB of them */
#define LAJU_TALLIES 64

/* Counters are spread over cache lines by bucket, so that threads seldom meet on one. */
typedef struct laju_tally {
  _Alignas(64) _Atomic int64_t keys;
  _Atomic uint64_t evicted_fresh, evicted_used, logs_evicted_fresh, logs_evicted_used;
} laju_tally;

struct laju_table {
  uint64_t hash_key[2];
  laju_bucket *buckets;
  uint64_t bucket_count;
  _Atomic uint64_t *touched; /* bit i of word w: page 64 * w + i of the buckets may hold a key */
  uint64_t touched_words;
  uint64_t mapped_bytes; /* of the whole mapping, which begins here */
  laju_slab slab;
  laju_denials denials; /* no sets: none */
  laju_tally tallies[LAJU_TALLIES];
  laju_shapes shapes;
};

/* Where a key may stand. */
typedef struct laju_place {
  uint64_t print;
  uint64_t buckets[2]; /* may be the same */
} laju_place;

static inline laju_place laju_place_of_hash(const laju_table *table, laju_hash hash) {
  return (laju_place){
      .print = hash.lo,
      .buckets = {((hash.hi & UINT32_MAX) * table->bucket_count) >> 32, ((hash.hi >> 32) * table->bucket_count) >> 32},
  };
}

static inline laju_place laju_place_of(const laju_table *table, const laju_rule *rule, const char *key,
                                       size_t key_len) {
  const uint64_t *hash_key = table->hash_key;
  return laju_place_of_hash(table, laju_siphash_prefixed(hash_key[0], hash_key[1], rule->id, key, key_len));
}

static inline laju_tally *laju_store_tally(laju_table *table, uint64_t bucket) {
  return &table->tallies[bucket % LAJU_TALLIES];
}

static inline bool laju_rule_is_log(const laju_rule *rule) {
  return rule->algorithm == LAJU_SLIDING_WINDOW_LOG;
}

/* ---- under the bucket's lock ---- */

/* A slot's rule may have another limit than when its shape was noted: from an admission on, it is judged by the new one. */
static inline void laju_store_note_shape(laju_table *table, laju_bucket *bucket, unsigned slot, const laju_rule *rule,
                                         int64_t now_us) {
  unsigned id = laju_bucket_shape(bucket, slot);
  laju_shape here = laju_shape_read(&table->shapes, id), wanted = laju_shape_of(rule);
  if (__builtin_expect(here.tokens == wanted.tokens && here.time == wanted.time, 1)) {
    laju_shape_touch(&table->shapes, id, now_us);
    return;
  }
  laju_bucket_set_shape(bucket, slot, laju_shape_id(&table->shapes, wanted, now_us));
}

/* Puts a key into a free slot. */
void laju_store_put(laju_table *table, uint64_t bucket, unsigned slot, unsigned shape, uint64_t print,
                    laju_state state);

/* Forgets what stands in a slot, and frees its log. Takes the slab's lock for a log. */
void laju_store_drop(laju_table *table, uint64_t bucket, unsigned slot);

/* The same where the caller holds the slab's lock. */
void laju_store_drop_under_slab(laju_table *table, uint64_t bucket, unsigned slot);

/* ---- pages ---- */

/* The first bucket at or after `bucket` whose page may hold a key; bucket_count where there is none. Reads no bucket, so
 * that pages which nobody ever needed stay unmapped. */
uint64_t laju_store_next_touched(const laju_table *table, uint64_t bucket);

/* Forgets everything and gives the memory back. No other thread may be using the table. */
void laju_store_clear(laju_table *table);

#endif
