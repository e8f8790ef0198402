#include "table/room.h"

#include <string.h>

#include "table/standing.h"

typedef struct search {
  laju_table *table;
  const laju_held *held;
  int64_t now_us;
  uint64_t owner; /* bucket of the log that needs room */
  uint64_t self;  /* first unit of the block that it has, or LAJU_SLAB_NONE */
  unsigned self_order;
  unsigned order;  /* of the block that it needs */
  unsigned looked; /* logs looked at */
  bool busy;       /* a bucket was locked by another */
} search;

static bool holds_bucket(const laju_held *held, uint64_t bucket) {
  for (size_t i = 0; i < held->bucket_count; i++) {
    if (held->buckets[i] == bucket) return true;
  }
  return false;
}

bool laju_held_keeps(const laju_held *held, uint64_t bucket, unsigned slot) {
  for (size_t i = 0; i < held->slot_count; i++) {
    if (held->slots[i].bucket == bucket && held->slots[i].slot == slot) return true;
  }
  return false;
}

/* ---- one log that stands in the way ---- */

static void let_go(search *s, uint64_t bucket) {
  if (!holds_bucket(s->held, bucket)) laju_bucket_unlock(&s->table->buckets[bucket]);
}

/* The slot that owns a block, its bucket locked until let_go; -1 where it is not to be had. */
static int owner_slot(search *s, laju_slab_block block) {
  laju_bucket *bucket = &s->table->buckets[block.owner];
  bool held = holds_bucket(s->held, block.owner);
  if (!held && !laju_bucket_try_lock(bucket)) {
    s->busy = true;
    return -1;
  }
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
    if (!laju_shape_is_log(laju_bucket_shape(bucket, slot))) continue;
    if (laju_slab_state_unit(bucket->states[slot]) != block.unit) continue;
    if (held && laju_held_keeps(s->held, block.owner, slot)) break;
    return (int)slot;
  }
  let_go(s, block.owner); /* this request's own, perhaps not in its slot yet */
  return -1;
}

static bool judge(search *s, laju_slab_block block, laju_decision *standing) {
  s->looked++;
  int slot = owner_slot(s, block);
  if (slot < 0) return false;
  *standing = laju_standing_of(s->table, &s->table->buckets[block.owner], (unsigned)slot, s->now_us);
  let_go(s, block.owner);
  return true;
}

static void evict(search *s, laju_slab_block block) {
  int slot = owner_slot(s, block);
  if (slot < 0) return; /* locked since it was judged: the next round finds a smaller task */
  laju_decision standing = laju_standing_of(s->table, &s->table->buckets[block.owner], (unsigned)slot, s->now_us);
  laju_tally *tally = laju_store_tally(s->table, block.owner);
  atomic_fetch_add_explicit(laju_standing_is_fresh(&standing) ? &tally->logs_evicted_fresh : &tally->logs_evicted_used,
                            1, memory_order_relaxed);
  laju_store_drop_under_slab(s->table, block.owner, (unsigned)slot);
  let_go(s, block.owner);
}

/* ---- regions ---- */

static uint64_t region_size(const search *s) {
  return UINT64_C(1) << s->order;
}

/* The standing of the region's log that is furthest from fresh. False where the region is not to be had, or is no better
 * than `best` (NULL: none yet). */
static bool judge_region(search *s, uint64_t first, const laju_decision *best, laju_decision *worst) {
  bool any = false;
  for (uint64_t unit = first; unit < first + region_size(s);) {
    laju_slab_block block = laju_slab_block_at(&s->table->slab, unit);
    unit = block.unit + (UINT64_C(1) << block.order);
    if (!block.used || block.unit == s->self) continue;
    laju_decision standing;
    if (!judge(s, block, &standing)) return false;
    if (!any || laju_standing_goes_before(worst, &standing)) *worst = standing;
    any = true;
    if (best != NULL && !laju_standing_goes_before(worst, best)) return false;
  }
  return any;
}

static void clear_region(search *s, uint64_t first) {
  for (uint64_t unit = first; unit < first + region_size(s);) {
    laju_slab_block block = laju_slab_block_at(&s->table->slab, unit);
    unit = block.unit + (UINT64_C(1) << block.order);
    if (block.used && block.unit != s->self) evict(s, block);
  }
}

static bool seen_enough(const search *s, const laju_decision *best) {
  if (laju_standing_is_fresh(best) || s->looked >= s->table->slab.patience) return true;
  return s->looked >= LAJU_ROOM_FEW && best->remaining > 0;
}

/* A region of order k may hold 2^k logs, but whoever needs it has made as many admissions as that to get there. */
static void earn_patience(laju_slab *slab, unsigned order) {
  unsigned four_regions = 4u << order, most = four_regions > LAJU_ROOM_MANY ? four_regions : LAJU_ROOM_MANY;
  slab->patience += four_regions > LAJU_ROOM_EARNED ? four_regions : LAJU_ROOM_EARNED;
  if (slab->patience > most) slab->patience = most;
}

/* Steps of this many regions come by all of them, once each: it is a prime, and above the number of largest blocks. */
#define STRIDE UINT64_C(1073741789)

/* The region to evict, by its first unit, or LAJU_SLAB_NONE. The slab is full, so all of it lies before the frontier. */
static uint64_t choose_region(search *s) {
  laju_slab *slab = &s->table->slab;
  uint64_t regions = slab->frontier >> s->order, chosen = LAJU_SLAB_NONE;
  laju_decision best, worst;
  earn_patience(slab, s->order);
  for (uint64_t i = 0; i < regions; i++) {
    uint64_t first = slab->hand++ % regions * STRIDE % regions << s->order;
    if (judge_region(s, first, chosen == LAJU_SLAB_NONE ? NULL : &best, &worst)) {
      best = worst;
      chosen = first;
    }
    if (chosen != LAJU_SLAB_NONE && seen_enough(s, &best)) break;
  }
  slab->patience -= s->looked < slab->patience ? s->looked : slab->patience;
  return chosen;
}

/* ---- the block ---- */

static uint64_t take_block(search *s) {
  laju_slab *slab = &s->table->slab;
  if (s->self != LAJU_SLAB_NONE) {
    uint64_t unit = laju_slab_widen(slab, s->self, s->self_order, s->order);
    if (unit != LAJU_SLAB_NONE) return unit;
  }
  return laju_slab_alloc(slab, s->order, s->owner);
}

static int find_block(search *s, uint64_t *unit) {
  for (;;) {
    *unit = take_block(s);
    if (*unit != LAJU_SLAB_NONE) return 0;
    s->looked = 0;
    s->busy = false;
    uint64_t region = choose_region(s);
    if (region == LAJU_SLAB_NONE) return s->busy ? LAJU_ROOM_BUSY : LAJU_ROOM_NONE;
    clear_region(s, region);
  }
}

int laju_room_find(laju_table *table, const laju_held *held, uint64_t bucket, uint32_t capacity, int64_t now_us,
                   uint64_t *unit) {
  search s = {.table = table, .held = held, .now_us = now_us, .owner = bucket, .self = LAJU_SLAB_NONE};
  s.order = laju_slab_order(capacity);
  laju_spin_lock(&table->slab.lock);
  int found = find_block(&s, unit);
  laju_spin_unlock(&table->slab.lock);
  return found;
}

/* The block grew in place, to at least twice its size: the part of the ring that went over the end goes on behind it. */
static void stretch(laju_log *log, uint64_t *stamps, uint32_t capacity) {
  if (stamps != log->stamps) memmove(stamps, log->stamps, log->capacity * sizeof *stamps);
  uint32_t end = log->head + log->count;
  if (end > log->capacity) memcpy(stamps + log->capacity, stamps, (end - log->capacity) * sizeof *stamps);
  log->stamps = stamps;
  log->capacity = capacity;
}

static bool contains(uint64_t unit, unsigned order, uint64_t inner) {
  return inner >= unit && inner - unit < UINT64_C(1) << order;
}

int laju_room_grow(laju_table *table, const laju_held *held, laju_slot slot, uint32_t capacity, int64_t now_us) {
  laju_slab *slab = &table->slab;
  laju_state *state = &table->buckets[slot.bucket].states[slot.slot];
  laju_log log = laju_slab_view(slab, *state);
  search s = {.table = table, .held = held, .now_us = now_us, .owner = slot.bucket};
  s.self = laju_slab_state_unit(*state);
  s.self_order = laju_slab_state_order(*state);
  s.order = laju_slab_order(capacity);

  uint64_t unit;
  laju_spin_lock(&slab->lock);
  int found = find_block(&s, &unit);
  if (found == 0) {
    uint64_t *stamps = laju_slab_stamps(slab, unit);
    if (contains(unit, s.order, s.self)) {
      stretch(&log, stamps, capacity);
    } else {
      laju_log_move(&log, stamps, capacity);
      laju_slab_release(slab, s.self, s.self_order);
    }
    *state = laju_slab_refer(unit, &log);
  }
  laju_spin_unlock(&slab->lock);
  return found;
}
