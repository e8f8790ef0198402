#include "table/table.h"

#include <sys/mman.h>
#include <sys/random.h>

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
  uint64_t table, touched, marks, slab, buckets;
} layout;

static int lay_out(layout *out, uint64_t memory_bytes, uint64_t logs_bytes) {
  if (memory_bytes == 0) memory_bytes = LAJU_TABLE_MEMORY_DEFAULT;
  if (memory_bytes < LAJU_TABLE_MEMORY_MIN || memory_bytes > LAJU_TABLE_MEMORY_MAX) return LAJU_ERR_MEMORY;
  if (logs_bytes == 0) logs_bytes = memory_bytes / 4;
  if (logs_bytes > memory_bytes) return LAJU_ERR_MEMORY;

  uint64_t pages = memory_bytes / LAJU_PAGE_BYTES;
  uint64_t blocks = logs_bytes / (LAJU_SLAB_BLOCK_BYTES + LAJU_SLAB_MARK_BYTES);
  if (blocks == 0) blocks = 1;
  layout l = {.table = pages_of(sizeof(struct laju_table))};
  l.marks = blocks * LAJU_SLAB_MARK_BYTES / LAJU_PAGE_BYTES;
  l.slab = blocks * LAJU_SLAB_BLOCK_BYTES / LAJU_PAGE_BYTES;
  uint64_t taken = l.table + l.marks + l.slab;
  if (pages < taken + pages / 8) return LAJU_ERR_MEMORY;
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
  int error = lay_out(&l, options->memory_bytes, options->logs_bytes);
  if (error < 0) return error;
  uint64_t key[2];
  if (options->hash_key != NULL) {
    key[0] = options->hash_key[0];
    key[1] = options->hash_key[1];
  } else if ((error = random_key(key)) < 0) {
    return error;
  }

  uint64_t bytes = (l.table + l.touched + l.marks + l.slab + l.buckets) * LAJU_PAGE_BYTES;
  unsigned char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return LAJU_ERR_MEMORY;
  madvise(at, bytes,
          MADV_NOHUGEPAGE); /* a few keys must not bring in the whole table; where refused, all is right but larger */

  laju_table *table = (laju_table *)(void *)at;
  table->hash_key[0] = key[0];
  table->hash_key[1] = key[1];
  table->mapped_bytes = bytes;
  at += l.table * LAJU_PAGE_BYTES;
  table->touched = (_Atomic uint64_t *)(void *)at;
  table->touched_words = (l.buckets + 63) / 64;
  at += l.touched * LAJU_PAGE_BYTES;
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
static bool decide_in_slot(laju_table *table, laju_bucket *bucket, unsigned slot, const laju_check *check,
                           int64_t now_us, laju_decision *out) {
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

/* Where a key seems to stand, looked up without a lock. */
typedef struct hint {
  laju_bucket *bucket;
  unsigned slot;
} hint;

static inline bool find_hint(const laju_table *table, const laju_place *place, hint *out) {
  laju_bucket *first = &table->buckets[place->buckets[0]], *second = &table->buckets[place->buckets[1]];
  unsigned slots = laju_bucket_hint(first, place->print) | laju_bucket_hint(second, place->print) << LAJU_BUCKET_SLOTS;
  if (slots == 0) return false;
  unsigned slot = (unsigned)__builtin_ctz(slots);
  bool in_first = slot < LAJU_BUCKET_SLOTS;
  *out = (hint){.bucket = in_first ? first : second, .slot = in_first ? slot : slot - LAJU_BUCKET_SLOTS};
  return true;
}

/* One check by itself: nearly always of a key that is there and stays where it is, so one lock is enough. */
static bool decide_one(laju_table *table, const laju_check *check, const laju_place *place, int64_t now_us,
                       laju_decision *out) {
  hint at;
  if (find_hint(table, place, &at)) {
    laju_bucket_lock(at.bucket);
    bool done = laju_bucket_holds(at.bucket, at.slot, place->print, laju_rule_is_log(check->rule)) &&
                decide_in_slot(table, at.bucket, at.slot, check, now_us, out);
    laju_bucket_unlock(at.bucket);
    if (done) return out->allowed;
  }
  return laju_request_decide(table, check, place, 1, now_us, out);
}

/* Asks for the lines that a search looks at; the processor's neighbour-line fetch brings the rest of the bucket. */
static inline void fetch_ahead(const laju_table *table, const laju_place *place) {
  __builtin_prefetch(&table->buckets[place->buckets[0]], 1);
  __builtin_prefetch(&table->buckets[place->buckets[1]], 1);
}

static void find_places(const laju_table *table, const laju_check *checks, size_t count, laju_place *places) {
  for (size_t i = 0; i < count; i++) {
    places[i] = laju_place_of(table, checks[i].rule, checks[i].key, checks[i].key_len);
    fetch_ahead(table, &places[i]);
  }
}

bool laju_table_decide_all(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                           laju_decision *decisions) {
  laju_place places[LAJU_CHECKS_MAX];
  find_places(table, checks, count, places);
  if (count == 1) return decide_one(table, checks, places, now_us, decisions);
  return laju_request_decide(table, checks, places, count, now_us, decisions);
}

void laju_table_decide_each(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                            laju_decision *decisions) {
  laju_place places[GROUP];
  while (count > 0) {
    size_t group = count < GROUP ? count : GROUP;
    find_places(table, checks, group, places);
    for (size_t i = 0; i < group; i++) decide_one(table, &checks[i], &places[i], now_us, &decisions[i]);
    checks += group;
    decisions += group;
    count -= group;
  }
}

uint32_t laju_table_take(laju_table *table, const laju_check *check, int64_t now_us, laju_decision *decision) {
  laju_place place = laju_place_of(table, check->rule, check->key, check->key_len);
  return laju_request_take(table, check, &place, now_us, decision);
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

/* ---- statistics ---- */

void laju_table_stats_read(const laju_table *table, laju_table_stats *out) {
  laju_table_stats stats = {
      .slots = table->bucket_count * LAJU_BUCKET_SLOTS,
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
