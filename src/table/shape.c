#include "table/shape.h"

#include "core/rule.h"

#define LOCK_FREE_STEPS 16 /* a chain may change under a reader without the lock, and must not lead it in circles */

#define PERIOD_MASK ((UINT64_C(1) << 21) - 1)
#define TICK_MASK ((UINT64_C(1) << 27) - 1)

static laju_algorithm algorithm_of(laju_shape shape) {
  return (laju_algorithm)(shape.time >> 48);
}

laju_rule laju_shape_rule(laju_shape shape) {
  laju_rule rule = {
      .limit = (uint32_t)shape.tokens,
      .capacity = (uint32_t)(shape.tokens >> 32),
      .period = (int64_t)(shape.time & PERIOD_MASK),
      .tick_us = (int64_t)(shape.time >> 21 & TICK_MASK),
      .algorithm = algorithm_of(shape),
  };
  /* The one thing that two words of different shapes could disagree on. */
  if (!laju_algorithm_is_bucket(rule.algorithm)) rule.capacity = rule.limit;
  return rule;
}

bool laju_shape_valid(laju_shape shape) {
  if (shape.time >> 48 >= LAJU_ALGORITHMS) return false;
  laju_rule given = laju_shape_rule(shape), made;
  uint64_t burst = laju_algorithm_is_bucket(given.algorithm) ? given.capacity : 0;
  int64_t period_us = given.period * given.tick_us;
  if (laju_rule_init(&made, "shape", 5, given.algorithm, given.limit, period_us, burst) < 0) return false;
  laju_shape same = laju_shape_of(&made);
  return same.tokens == shape.tokens && same.time == shape.time;
}

static unsigned chain_of(laju_shape shape) {
  uint64_t mixed = (shape.tokens ^ shape.time * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd6e8feb86659fd93);
  return (unsigned)(mixed >> 40) % LAJU_SHAPE_CHAINS;
}

static unsigned find(const laju_shapes *shapes, laju_shape shape, unsigned steps) {
  unsigned id = atomic_load_explicit(&shapes->chains[chain_of(shape)], memory_order_relaxed);
  for (; id != 0 && steps > 0; steps--) {
    laju_shape here = laju_shape_read(shapes, id);
    if (here.tokens == shape.tokens && here.time == shape.time) return id;
    id = atomic_load_explicit(&shapes->next[id], memory_order_relaxed);
  }
  return 0;
}

static void unlink_id(laju_shapes *shapes, unsigned id) {
  _Atomic uint16_t *link = &shapes->chains[chain_of(laju_shape_read(shapes, id))];
  while (atomic_load_explicit(link, memory_order_relaxed) != id) {
    link = &shapes->next[atomic_load_explicit(link, memory_order_relaxed)];
  }
  atomic_store_explicit(link, atomic_load_explicit(&shapes->next[id], memory_order_relaxed), memory_order_relaxed);
}

static void link_id(laju_shapes *shapes, unsigned id, laju_shape shape) {
  _Atomic uint16_t *chain = &shapes->chains[chain_of(shape)];
  atomic_store_explicit(&shapes->tokens[id], shape.tokens, memory_order_relaxed);
  atomic_store_explicit(&shapes->time[id], shape.time, memory_order_relaxed);
  atomic_store_explicit(&shapes->next[id], atomic_load_explicit(chain, memory_order_relaxed), memory_order_relaxed);
  atomic_store_explicit(chain, (uint16_t)id, memory_order_release);
}

static unsigned least_recent(laju_shapes *shapes, unsigned first, unsigned room, uint32_t now) {
  unsigned oldest = 0;
  uint32_t oldest_age = 0;
  for (unsigned i = 0; i < room; i++) {
    unsigned id = first + (shapes->hand + i) % room;
    uint32_t age = now - atomic_load_explicit(&shapes->used_at[id], memory_order_relaxed);
    if (age > INT32_MAX) age = 0; /* stamped by a later clock than this caller's */
    if (oldest == 0 || age > oldest_age) {
      oldest = id;
      oldest_age = age;
    }
  }
  shapes->hand++;
  return oldest;
}

/* An id for a newcomer: one never used, or the least recently used of its kind. */
static unsigned give_out(laju_shapes *shapes, bool log, uint32_t now) {
  unsigned first = log ? LAJU_SHAPE_LOG_FIRST : 1;
  unsigned room = log ? LAJU_SHAPE_MAX + 1 - LAJU_SHAPE_LOG_FIRST : LAJU_SHAPE_LOG_FIRST - 1;
  unsigned *given = log ? &shapes->logs : &shapes->states;
  if (*given < room) return first + (*given)++;
  unsigned id = least_recent(shapes, first, room, now);
  unlink_id(shapes, id);
  atomic_store_explicit(&shapes->recycled[id], true, memory_order_relaxed);
  atomic_store_explicit(&shapes->any_recycled, true, memory_order_relaxed);
  return id;
}

laju_shape laju_shape_read_whole(laju_shapes *shapes, unsigned id) {
  laju_spin_lock(&shapes->lock);
  laju_shape shape = laju_shape_read(shapes, id);
  laju_spin_unlock(&shapes->lock);
  return shape;
}

unsigned laju_shape_id(laju_shapes *shapes, laju_shape shape, int64_t now_us) {
  unsigned id = find(shapes, shape, LOCK_FREE_STEPS);
  if (id == 0) {
    laju_spin_lock(&shapes->lock);
    id = find(shapes, shape, LAJU_SHAPE_MAX);
    if (id == 0) {
      id = give_out(shapes, algorithm_of(shape) == LAJU_SLIDING_WINDOW_LOG, (uint32_t)((uint64_t)now_us >> 20));
      link_id(shapes, id, shape);
    }
    laju_spin_unlock(&shapes->lock);
  }
  laju_shape_touch(shapes, id, now_us);
  return id;
}
