#include "table/table.h"

#include <sys/mman.h>
#include <sys/random.h>

#include "base/siphash_many.h"
#include "core/decide.h"
#include "table/request.h"
#include "table/standing.h"

#define GROUP 16 /* checks whose memory is fetched ahead together */

/* ---- making one ---- */

static uint64_t pages_of(uint64_t bytes) {
  return (bytes + LAJU_PAGE_BYTES - 1) / LAJU_PAGE_BYTES;
}

/* How many pages each part of the mapping has. */
typedef struct layout {
  uint64_t table, touched, denials, marks, slab, buckets;
} layout;

static int lay_out(layout *out, uint64_t memory_bytes, uint64_t logs_bytes, uint64_t denials_bytes) {
  if (memory_bytes == 0) memory_bytes = LAJU_TABLE_MEMORY_DEFAULT;
  if (memory_bytes < LAJU_TABLE_MEMORY_MIN || memory_bytes > LAJU_TABLE_MEMORY_MAX) return LAJU_ERR_MEMORY;
  if (logs_bytes == 0) logs_bytes = memory_bytes / 4;
  if (logs_bytes > memory_bytes || denials_bytes > memory_bytes) return LAJU_ERR_MEMORY;
  if (denials_bytes > 0 && denials_bytes < LAJU_PAGE_BYTES) return LAJU_ERR_MEMORY;

  uint64_t pages = memory_bytes / LAJU_PAGE_BYTES;
  uint64_t blocks = logs_bytes / (LAJU_SLAB_BLOCK_BYTES + LAJU_SLAB_MARK_BYTES);
  if (blocks == 0) blocks = 1;
  layout l = {.table = pages_of(sizeof(struct laju_table)), .denials = denials_bytes / LAJU_PAGE_BYTES};
  l.marks = blocks * LAJU_SLAB_MARK_BYTES / LAJU_PAGE_BYTES;
  l.slab = blocks * LAJU_SLAB_BLOCK_BYTES / LAJU_PAGE_BYTES;
  uint64_t taken = l.table + l.marks + l.slab;
  if (pages < taken + pages / 8 || pages < taken + l.denials + pages / 16) return LAJU_ERR_MEMORY;
  taken += l.denials;
  l.touched = (pages - taken) / (LAJU_PAGE_BYTES * 8) + 1; /* a bit for each page of buckets */
  l.buckets = pages - taken - l.touched;
  if (l.buckets > LAJU_BUCKETS_MAX / LAJU_PAGE_BUCKETS) l.buckets = LAJU_BUCKETS_MAX / LAJU_PAGE_BUCKETS;
  *out = l;
  return 0;
}

static int random_key(uint64_t key[2]) {
  return getrandom(key, 16, 0) == 16 ? 0 : LAJU_ERR_SYSTEM;
}

int laju_table_new(laju_table **out, const laju_table_options *options) {
  static const laju_table_options defaults;
  if (options == NULL) options = &defaults;
  layout l;
  int error = lay_out(&l, options->memory_bytes, options->logs_bytes, options->denials_bytes);
  if (error < 0) return error;
  uint64_t key[2];
  if (options->hash_key != NULL) {
    key[0] = options->hash_key[0];
    key[1] = options->hash_key[1];
  } else if ((error = random_key(key)) < 0) {
    return error;
  }

  uint64_t bytes = (l.table + l.touched + l.denials + l.marks + l.slab + l.buckets) * LAJU_PAGE_BYTES;
  unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return LAJU_ERR_MEMORY;
  /* Without being asked for, no huge pages: a few keys would bring in the whole table. Where the kernel does not do as it is
   * asked, all is right, but larger or slower. */
  madvise(at, bytes, options->huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);

  laju_table *table = (laju_table *)(void *)at;
  table->hash_key[0] = key[0];
  table->hash_key[1] = key[1];
  table->mapped_bytes = bytes;
  at += l.table * LAJU_PAGE_BYTES;
  table->touched = (_Atomic uint64_t *)(void *)at;
  table->touched_words = (l.buckets + 63) / 64;
  at += l.touched * LAJU_PAGE_BYTES;
  if (l.denials > 0) laju_denials_init(&table->denials, at, l.denials * LAJU_PAGE_BYTES, key);
  at += l.denials * LAJU_PAGE_BYTES;
  uint64_t *marks = (uint64_t *)(void *)at;
  at += l.marks * LAJU_PAGE_BYTES;
  laju_slab_init(&table->slab, marks, at, l.slab * LAJU_PAGE_BYTES / LAJU_SLAB_UNIT);
  at += l.slab * LAJU_PAGE_BYTES;
  table->buckets = (laju_bucket *)(void *)at;
  table->bucket_count = l.buckets * LAJU_PAGE_BUCKETS;
  *out = table;
  return 0;
}

void laju_table_free(laju_table *table) {
  if (table != NULL) munmap(table, table->mapped_bytes);
}

/* ---- deciding ---- */

/* A slot of a locked bucket decides its own check. False where a log has to grow first, and nothing was charged. */
__attribute__((flatten)) static bool decide_in_slot(laju_table *table, laju_bucket *bucket, unsigned slot,
                                                    const laju_check *check, int64_t now_us, laju_decision *out) {
  const laju_rule *rule = check->rule;
  laju_state *state = &bucket->states[slot];
  if (laju_rule_is_log(rule)) {
    laju_log log = laju_slab_view(&table->slab, *state);
    laju_log_decide(rule, &log, now_us, check->cost, out);
    if (!out->allowed || check->cost == 0) return true;
    if (laju_log_need(rule, &log, now_us, check->cost) > log.capacity) return false;
    laju_log_admit(rule, &log, now_us, check->cost);
    *state = laju_slab_refer(laju_slab_state_unit(*state), &log);
  } else {
    laju_decide(rule, state, now_us, check->cost, out);
  }
  if (out->allowed && check->cost > 0) laju_store_note_shape(table, bucket, slot, rule, now_us);
  return true;
}

/* Where a check's key may stand, and where it seems to. */
typedef struct lookup {
  laju_place place;
  laju_bucket *bucket;
  unsigned slot; /* LAJU_BUCKET_SLOTS: in neither bucket */
} lookup;

/* Looks without a lock. */
static inline void look_up(const laju_table *table, lookup *l) {
  laju_bucket *first = &table->buckets[l->place.buckets[0]], *second = &table->buckets[l->place.buckets[1]];
  unsigned in_first = laju_bucket_hint(first, l->place.print), in_second = laju_bucket_hint(second, l->place.print);
  l->bucket = in_first < LAJU_BUCKET_SLOTS ? first : second;
  l->slot = in_first < LAJU_BUCKET_SLOTS ? in_first : in_second;
}

/* One check by itself: nearly always of a key that is there and stays where it is, so one lock is enough. */
static inline bool decide_one(laju_table *table, const laju_check *check, const lookup *l, int64_t now_us,
                              laju_decision *out) {
  if (__builtin_expect(l->slot < LAJU_BUCKET_SLOTS, 1)) {
    laju_bucket_lock(l->bucket);
    bool done = laju_bucket_holds(l->bucket, l->slot, l->place.print, laju_rule_is_log(check->rule)) &&
                decide_in_slot(table, l->bucket, l->slot, check, now_us, out);
    laju_bucket_unlock(l->bucket);
    if (done) return out->allowed;
  }
  return laju_request_decide(table, check, &l->place, 1, now_us, out);
}

/* All four lines at once: which of them will be needed shows only when the first two are here. */
static bool decide_alone(laju_table *table, const laju_check *check, int64_t now_us, laju_decision *out) {
  lookup l = {.place = laju_place_of(table, check->rule, check->key, check->key_len)};
  for (unsigned i = 0; i < 2; i++) {
    const laju_bucket *bucket = &table->buckets[l.place.buckets[i]];
    __builtin_prefetch(bucket, 1);
    __builtin_prefetch(&bucket->states[1], 1);
  }
  look_up(table, &l);
  return decide_one(table, check, &l, now_us, out);
}

bool laju_table_decide_all(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                           laju_decision *decisions) {
  if (count == 1) return decide_alone(table, checks, now_us, decisions);
  laju_place places[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < count; i++) {
    places[i] = laju_place_of(table, checks[i].rule, checks[i].key, checks[i].key_len);
    __builtin_prefetch(&table->buckets[places[i].buckets[0]], 1);
    __builtin_prefetch(&table->buckets[places[i].buckets[1]], 1);
  }
  return laju_request_decide(table, checks, places, count, now_us, decisions);
}

bool laju_table_judge(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                      laju_decision *decisions) {
  laju_place places[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < count; i++) places[i] = laju_place_of(table, checks[i].rule, checks[i].key, checks[i].key_len);
  return laju_request_judge(table, checks, places, count, now_us, decisions);
}

/* In three goes, each of which asks for the memory that the next one needs: the fingerprints, the states, the decisions. */
static void decide_group(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                         laju_decision *decisions) {
  lookup lookups[GROUP];
  laju_siphash_input inputs[GROUP] = {{.len = 0}};
  laju_hash hashes[GROUP];
  for (size_t i = 0; i < count; i++) {
    inputs[i] = (laju_siphash_input){.prefix = checks[i].rule->id, .data = checks[i].key, .len = checks[i].key_len};
  }
  laju_siphash_many(table->hash_key[0], table->hash_key[1], inputs, count, hashes);
  for (size_t i = 0; i < count; i++) {
    lookups[i].place = laju_place_of_hash(table, hashes[i]);
    __builtin_prefetch(&table->buckets[lookups[i].place.buckets[0]]);
    __builtin_prefetch(&table->buckets[lookups[i].place.buckets[1]]);
  }
  for (size_t i = 0; i < count; i++) {
    look_up(table, &lookups[i]);
    __builtin_prefetch(lookups[i].bucket, 1);
    __builtin_prefetch(&lookups[i].bucket->states[lookups[i].slot], 1);
  }
  for (size_t i = 0; i < count; i++) decide_one(table, &checks[i], &lookups[i], now_us, &decisions[i]);
}

void laju_table_decide_each(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                            laju_decision *decisions) {
  for (size_t i = 0; i < count; i += GROUP) {
    decide_group(table, checks + i, count - i < GROUP ? count - i : GROUP, now_us, decisions + i);
  }
}

uint32_t laju_table_take(laju_table *table, const laju_check *check, int64_t now_us, laju_decision *decision) {
  laju_place place = laju_place_of(table, check->rule, check->key, check->key_len);
  return laju_request_take(table, check, &place, now_us, decision);
}

/* ---- giving back ---- */

/* True where the key stands in this bucket. */
static bool give_back_in(laju_table *table, uint64_t bucket, uint64_t print, const laju_check *check,
                         int64_t charged_us) {
  const laju_rule *rule = check->rule;
  laju_bucket *b = &table->buckets[bucket];
  laju_bucket_lock(b);
  int slot = laju_bucket_find(b, print, laju_rule_is_log(rule));
  if (slot >= 0 && laju_rule_is_log(rule)) {
    laju_log log = laju_slab_view(&table->slab, b->states[slot]);
    laju_log_give_back(rule, &log, charged_us, check->cost);
    b->states[slot] = laju_slab_refer(laju_slab_state_unit(b->states[slot]), &log);
  } else if (slot >= 0) {
    laju_give_back(rule, &b->states[slot], charged_us, check->cost);
  }
  laju_bucket_unlock(b);
  return slot >= 0;
}

/* A check by itself: what one has lost, the others need not wait for. */
void laju_table_give_back(laju_table *table, const laju_check *checks, size_t count, int64_t charged_us) {
  for (size_t i = 0; i < count; i++) {
    if (checks[i].cost == 0) continue;
    laju_place place = laju_place_of(table, checks[i].rule, checks[i].key, checks[i].key_len);
    if (give_back_in(table, place.buckets[0], place.print, &checks[i], charged_us)) continue;
    give_back_in(table, place.buckets[1], place.print, &checks[i], charged_us);
  }
}

/* ---- forgetting ---- */

/* Drops a key from one bucket; true where it had something to lose. */
static bool forget_in(laju_table *table, uint64_t bucket, uint64_t print, bool log, int64_t now_us) {
  laju_bucket *b = &table->buckets[bucket];
  laju_bucket_lock(b);
  int slot = laju_bucket_find(b, print, log);
  bool used = false;
  if (slot >= 0) {
    laju_decision standing = laju_standing_of(table, b, (unsigned)slot, now_us);
    used = !laju_standing_is_fresh(&standing);
    laju_store_drop(table, bucket, (unsigned)slot);
  }
  laju_bucket_unlock(b);
  return used;
}

bool laju_table_forget(laju_table *table, const laju_rule *rule, const char *key, size_t key_len, int64_t now_us) {
  laju_place place = laju_place_of(table, rule, key, key_len);
  bool log = laju_rule_is_log(rule);
  bool known = forget_in(table, place.buckets[0], place.print, log, now_us);
  if (place.buckets[1] != place.buckets[0]) known |= forget_in(table, place.buckets[1], place.print, log, now_us);
  return known;
}

static void sweep_bucket(laju_table *table, uint64_t bucket, int64_t now_us) {
  laju_bucket *b = &table->buckets[bucket];
  if (laju_bucket_is_empty(b)) return;
  laju_bucket_lock(b);
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
    if (laju_bucket_shape(b, slot) == 0) continue;
    laju_decision standing = laju_standing_of(table, b, slot, now_us);
    if (laju_standing_is_fresh(&standing)) laju_store_drop(table, bucket, slot);
  }
  laju_bucket_unlock(b);
}

uint64_t laju_table_sweep(laju_table *table, uint64_t from, uint64_t count, int64_t now_us) {
  uint64_t bucket = laju_store_next_touched(table, from);
  for (; bucket < table->bucket_count && count > 0; count--) {
    sweep_bucket(table, bucket, now_us);
    bucket = laju_store_next_touched(table, bucket + 1);
  }
  return bucket < table->bucket_count ? bucket : 0;
}

/* ---- denials ---- */

laju_denials *laju_table_denials(laju_table *table) {
  return table->denials.sets != NULL ? &table->denials : NULL;
}

/* ---- statistics ---- */

void laju_table_stats_read(const laju_table *table, laju_table_stats *out) {
  laju_table_stats stats = {
      .slots = table->bucket_count * LAJU_BUCKET_SLOTS,
      .denials = table->denials.set_count * LAJU_DENIALS_WAYS,
      .denials_displaced = atomic_load_explicit(&table->denials.displaced, memory_order_relaxed),
      .logs_bytes = table->slab.units * LAJU_SLAB_UNIT,
      .logs_used_bytes = atomic_load_explicit(&table->slab.used_bytes, memory_order_relaxed),
  };
  int64_t keys = 0;
  for (unsigned i = 0; i < LAJU_TALLIES; i++) {
    const laju_tally *tally = &table->tallies[i];
    keys += atomic_load_explicit(&tally->keys, memory_order_relaxed);
    stats.evicted_fresh += atomic_load_explicit(&tally->evicted_fresh, memory_order_relaxed);
    stats.evicted_used += atomic_load_explicit(&tally->evicted_used, memory_order_relaxed);
    stats.logs_evicted_fresh += atomic_load_explicit(&tally->logs_evicted_fresh, memory_order_relaxed);
    stats.logs_evicted_used += atomic_load_explicit(&tally->logs_evicted_used, memory_order_relaxed);
  }
  stats.keys = keys > 0 ? (uint64_t)keys : 0;
  *out = stats;
}
