#include "table/request.h"

#include "core/decide.h"
#include "table/standing.h"

/* What one key looks like while its request is decided; repeats of a key share it. */
typedef struct entry {
  laju_place place;
  const laju_rule *rule; /* of its latest admission */
  laju_slot at;          /* where it stands, if it does */
  bool found;
  bool log;
  bool charged;     /* an admission of cost > 0 waits to be written */
  laju_state state; /* a copy, charged; of a log, where it is */
  laju_log ring;    /* a log's view; tokens to be written are `pending` */
} entry;

typedef struct request {
  laju_table *table;
  int64_t now_us;
  size_t entry_count;
  entry entries[LAJU_CHECKS_MAX];
  laju_held held;
} request;

/* ---- locks ---- */

static void note_bucket(laju_held *held, uint64_t bucket) {
  size_t at = held->bucket_count;
  while (at > 0 && held->buckets[at - 1] > bucket) at--;
  if (at > 0 && held->buckets[at - 1] == bucket) return;
  for (size_t i = held->bucket_count; i > at; i--) held->buckets[i] = held->buckets[i - 1];
  held->buckets[at] = bucket;
  held->bucket_count++;
}

/* Ascending, so no two requests ever wait for each other. */
static void lock_all(request *r, const laju_place *places, size_t count) {
  r->entry_count = 0;
  r->held.bucket_count = 0;
  r->held.slot_count = 0;
  for (size_t i = 0; i < count; i++) {
    note_bucket(&r->held, places[i].buckets[0]);
    note_bucket(&r->held, places[i].buckets[1]);
  }
  for (size_t i = 0; i < r->held.bucket_count; i++) laju_bucket_lock(&r->table->buckets[r->held.buckets[i]]);
}

static void unlock_all(request *r) {
  for (size_t i = 0; i < r->held.bucket_count; i++) laju_bucket_unlock(&r->table->buckets[r->held.buckets[i]]);
}

/* ---- reading ---- */

static bool same_key(const entry *e, const laju_place *place, bool log) {
  return e->place.print == place->print && e->place.buckets[0] == place->buckets[0] &&
         e->place.buckets[1] == place->buckets[1] && e->log == log;
}

static laju_state *state_of(request *r, const entry *e) {
  return &r->table->buckets[e->at.bucket].states[e->at.slot];
}

/* From now on the entry stands in this slot, and the request does not lose it. */
static void settle(request *r, entry *e, laju_slot at) {
  e->at = at;
  e->found = true;
  r->held.slots[r->held.slot_count++] = at;
}

static void read_slot(request *r, entry *e) {
  for (unsigned i = 0; i < 2; i++) {
    uint64_t bucket = e->place.buckets[i];
    int slot = laju_bucket_find(&r->table->buckets[bucket], e->place.print, e->log);
    if (slot < 0) continue;
    settle(r, e, (laju_slot){.bucket = bucket, .slot = (unsigned)slot});
    e->state = *state_of(r, e);
    if (e->log) e->ring = laju_slab_view(&r->table->slab, e->state);
    return;
  }
}

/* The entry of a check: that of an earlier one of the same key, or a new one, read from the table. */
static entry *entry_of(request *r, const laju_check *check, const laju_place *place) {
  bool log = laju_rule_is_log(check->rule);
  for (size_t i = 0; i < r->entry_count; i++) {
    if (same_key(&r->entries[i], place, log)) return &r->entries[i];
  }
  entry *e = &r->entries[r->entry_count++];
  *e = (entry){.place = *place, .rule = check->rule, .log = log};
  read_slot(r, e);
  return e;
}

/* ---- deciding, on the copies ---- */

static void charge(entry *e, const laju_rule *rule, uint32_t tokens) {
  if (tokens == 0) return;
  if (e->log) e->ring.pending += tokens;
  e->rule = rule;
  e->charged = true;
}

static bool decide_check(request *r, const laju_check *check, const laju_place *place, laju_decision *out) {
  entry *e = entry_of(r, check, place);
  if (e->log) {
    laju_log_decide(check->rule, &e->ring, r->now_us, check->cost, out);
  } else {
    laju_decide(check->rule, &e->state, r->now_us, check->cost, out);
  }
  if (out->allowed) charge(e, check->rule, check->cost);
  return out->allowed;
}

static uint32_t take_check(request *r, const laju_check *check, const laju_place *place, laju_decision *out) {
  entry *e = entry_of(r, check, place);
  uint32_t taken = e->log ? laju_log_take(check->rule, &e->ring, r->now_us, check->cost, out)
                          : laju_take(check->rule, &e->state, r->now_us, check->cost, out);
  charge(e, check->rule, taken);
  return taken;
}

/* ---- a slot for a newcomer ---- */

static void count_forgotten(laju_table *table, uint64_t bucket, bool fresh) {
  laju_tally *tally = laju_store_tally(table, bucket);
  atomic_fetch_add_explicit(fresh ? &tally->evicted_fresh : &tally->evicted_used, 1, memory_order_relaxed);
}

static void evict(laju_table *table, laju_slot at, bool fresh) {
  count_forgotten(table, at.bucket, fresh);
  laju_store_drop(table, at.bucket, at.slot);
}

/* Makes room in a full bucket at no loss: all that is as good as new goes, so that the two buckets can be compared by what
 * they have to keep. Otherwise notes who of it goes rather than `victim`. */
static void look_through(laju_table *table, const laju_held *held, uint64_t bucket, int64_t now_us, bool *found,
                         laju_slot *victim, laju_decision *standing) {
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) {
    laju_slot at = {.bucket = bucket, .slot = slot};
    if (laju_bucket_shape(&table->buckets[bucket], slot) == 0 || laju_held_keeps(held, bucket, slot)) continue;
    laju_decision here = laju_standing_of(table, &table->buckets[bucket], slot, now_us);
    if (laju_standing_is_fresh(&here)) {
      evict(table, at, true);
    } else if (!*found || laju_standing_goes_before(&here, standing)) {
      *found = true;
      *victim = at;
      *standing = here;
    }
  }
}

/* A free slot of the bucket with fewer keys (the first, among equals). */
static bool find_free_slot(const laju_table *table, const uint64_t buckets[2], laju_slot *out) {
  unsigned first = laju_bucket_keys(&table->buckets[buckets[0]]),
           second = laju_bucket_keys(&table->buckets[buckets[1]]);
  uint64_t emptier = second < first ? buckets[1] : buckets[0];
  int slot = laju_bucket_free_slot(&table->buckets[emptier]);
  if (slot >= 0) *out = (laju_slot){.bucket = emptier, .slot = (unsigned)slot};
  return slot >= 0;
}

bool laju_request_find_slot(laju_table *table, const laju_held *held, const uint64_t buckets[2], int64_t now_us,
                            const laju_decision *newcomer, laju_slot *out) {
  if (find_free_slot(table, buckets, out)) return true;
  bool found = false;
  laju_slot victim;
  laju_decision standing;
  look_through(table, held, buckets[0], now_us, &found, &victim, &standing);
  look_through(table, held, buckets[1], now_us, &found, &victim, &standing);
  if (find_free_slot(table, buckets, out)) return true;
  if (!found) return false;
  if (newcomer != NULL && !laju_standing_goes_before(&standing, newcomer)) {
    count_forgotten(table, victim.bucket, laju_standing_is_fresh(newcomer));
    return false;
  }
  evict(table, victim, false);
  *out = victim;
  return true;
}

/* ---- writing ---- */

static unsigned shape_id(request *r, const laju_rule *rule) {
  return laju_shape_id(&r->table->shapes, laju_shape_of(rule), r->now_us);
}

/* A log that does not fit beside the request's others is not kept. */
static void forget_log(request *r, entry *e) {
  count_forgotten(r->table, e->place.buckets[0], false);
  if (e->found) laju_store_drop(r->table, e->at.bucket, e->at.slot);
  e->charged = false;
}

/* A new log begins empty, which means the same as none: so it may stand there even if the request has to start over. */
static int start_log(request *r, entry *e, uint32_t capacity) {
  laju_slot at;
  uint64_t unit;
  if (!laju_request_find_slot(r->table, &r->held, e->place.buckets, r->now_us, NULL, &at)) return LAJU_ROOM_NONE;
  int error = laju_room_find(r->table, &r->held, at.bucket, capacity, r->now_us, &unit);
  if (error != 0) return error;
  laju_state empty = laju_slab_refer(unit, &(laju_log){.capacity = capacity});
  laju_store_put(r->table, at.bucket, at.slot, shape_id(r, e->rule), e->place.print, empty);
  settle(r, e, at);
  return 0;
}

/* Gives a log the ring that its admission needs, before anything is charged. A larger ring is no charge: it may stay. */
static int reserve(request *r, entry *e) {
  uint32_t pending = e->ring.pending;
  uint32_t capacity = laju_log_need(e->rule, &e->ring, r->now_us, pending);
  if (capacity <= e->ring.capacity) return 0;
  int error = e->found ? laju_room_grow(r->table, &r->held, e->at, capacity, r->now_us) : start_log(r, e, capacity);
  if (error == LAJU_ROOM_NONE) {
    forget_log(r, e);
    return 0;
  }
  if (error != 0) return error;
  e->ring = laju_slab_view(&r->table->slab, *state_of(r, e));
  e->ring.pending = pending;
  return 0;
}

static void write_log(request *r, entry *e) {
  uint64_t unit = laju_slab_state_unit(*state_of(r, e));
  laju_log_admit(e->rule, &e->ring, r->now_us, e->ring.pending);
  *state_of(r, e) = laju_slab_refer(unit, &e->ring);
  laju_store_note_shape(r->table, &r->table->buckets[e->at.bucket], e->at.slot, e->rule, r->now_us);
}

static void write_state(request *r, entry *e) {
  if (e->found) {
    *state_of(r, e) = e->state;
    laju_store_note_shape(r->table, &r->table->buckets[e->at.bucket], e->at.slot, e->rule, r->now_us);
    return;
  }
  laju_slot at;
  if (!laju_request_find_slot(r->table, &r->held, e->place.buckets, r->now_us, NULL, &at)) {
    count_forgotten(r->table, e->place.buckets[0], false);
    return;
  }
  laju_store_put(r->table, at.bucket, at.slot, shape_id(r, e->rule), e->place.print, e->state);
  settle(r, e, at);
}

/* Writes all charges. False where locks that others hold are in the way: nothing was charged, and the request starts over. */
static bool commit(request *r) {
  for (size_t i = 0; i < r->entry_count; i++) {
    entry *e = &r->entries[i];
    if (e->log && e->charged && reserve(r, e) != 0) return false;
  }
  for (size_t i = 0; i < r->entry_count; i++) {
    entry *e = &r->entries[i];
    if (!e->charged) continue;
    if (e->log) {
      write_log(r, e);
    } else {
      write_state(r, e);
    }
  }
  return true;
}

/* ---- the request ---- */

static bool decide_checks(request *r, const laju_check *checks, const laju_place *places, size_t count,
                          laju_decision *decisions) {
  bool allowed = true;
  for (size_t i = 0; i < count; i++) allowed &= decide_check(r, &checks[i], &places[i], &decisions[i]);
  return allowed;
}

bool laju_request_decide(laju_table *table, const laju_check *checks, const laju_place *places, size_t count,
                         int64_t now_us, laju_decision *decisions) {
  request r;
  r.table = table;
  r.now_us = now_us;
  for (unsigned turns = 0;;) {
    lock_all(&r, places, count);
    bool allowed = decide_checks(&r, checks, places, count, decisions);
    bool done = !allowed || commit(&r);
    unlock_all(&r);
    if (done) return allowed;
    laju_spin_pause(&turns);
  }
}

bool laju_request_judge(laju_table *table, const laju_check *checks, const laju_place *places, size_t count,
                        int64_t now_us, laju_decision *decisions) {
  request r;
  r.table = table;
  r.now_us = now_us;
  lock_all(&r, places, count);
  bool allowed = decide_checks(&r, checks, places, count, decisions);
  unlock_all(&r);
  return allowed;
}

uint32_t laju_request_take(laju_table *table, const laju_check *check, const laju_place *place, int64_t now_us,
                           laju_decision *decision) {
  request r;
  r.table = table;
  r.now_us = now_us;
  for (unsigned turns = 0;;) {
    lock_all(&r, place, 1);
    uint32_t taken = take_check(&r, check, place, decision);
    bool done = taken == 0 || commit(&r);
    unlock_all(&r);
    if (done) return taken;
    laju_spin_pause(&turns);
  }
}
