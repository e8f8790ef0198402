/* Inside `table` only: small numbers for what a decision needs of a rule.
 *
 * A slot has no room for a rule, but who goes when the table is full, what a sweep frees and what a snapshot keeps depend on
 * remaining / limit. So a slot holds 12 bits: the id of its rule's numbers (algorithm, limit, capacity, period, tick), of
 * which there are few. Checks never use it: they bring their rule.
 *
 * Ids 1 to 3,583 are for states of constant size, 3,584 to 4,095 for logs, so that an id alone tells which of the two a slot
 * holds. Where a kind's ids have run out, the least recently used one is given to the newcomer; slots that still hold it
 * are from then on judged by another's measure when there is no room, but never taken for fresh by it: neither a sweep nor a
 * snapshot forgets them. They are never mistaken for the other kind.
 *
 * Any thread: finding takes no lock, giving out an id does.
 */
#ifndef LAJU_TABLE_SHAPE_H
#define LAJU_TABLE_SHAPE_H

#include "table/spin.h"
#include <laju/laju.h>

#define LAJU_SHAPE_MAX 0xfffu
#define LAJU_SHAPE_LOG_FIRST 0xe00u
#define LAJU_SHAPE_CHAINS 4096u

/* Limit and capacity; period, tick and algorithm. Each word is whole by itself, so a reader that sees one word of before
 * and one of after a recycling still holds numbers that the law can work with. */
typedef struct laju_shape {
  uint64_t tokens, time;
} laju_shape;

typedef struct laju_shapes { /* all zeros: none given out */
  _Atomic uint64_t tokens[LAJU_SHAPE_MAX + 1];
  _Atomic uint64_t time[LAJU_SHAPE_MAX + 1];
  _Atomic uint32_t used_at[LAJU_SHAPE_MAX + 1]; /* about seconds */
  _Atomic uint16_t next[LAJU_SHAPE_MAX + 1];
  _Atomic bool recycled[LAJU_SHAPE_MAX + 1]; /* given out more than once */
  _Atomic uint16_t chains[LAJU_SHAPE_CHAINS];
  _Atomic bool any_recycled; /* while not, `recycled` need not be read: its pages stay unmapped */
  laju_spin lock;            /* below: under it */
  unsigned states, logs;     /* ids given out of each kind */
  unsigned hand;             /* where the search for the least recently used begins, so that equals take turns */
} laju_shapes;

static inline bool laju_shape_is_log(unsigned id) {
  return id >= LAJU_SHAPE_LOG_FIRST;
}

static inline laju_shape laju_shape_of(const laju_rule *rule) {
  return (laju_shape){
      .tokens = (uint64_t)rule->limit | (uint64_t)rule->capacity << 32,
      .time = (uint64_t)rule->period | (uint64_t)rule->tick_us << 21 | (uint64_t)rule->algorithm << 48,
  };
}

/* The numbers behind an id, as they are now. */
static inline laju_shape laju_shape_read(const laju_shapes *shapes, unsigned id) {
  return (laju_shape){
      .tokens = atomic_load_explicit(&shapes->tokens[id], memory_order_relaxed),
      .time = atomic_load_explicit(&shapes->time[id], memory_order_relaxed),
  };
}

/* The same, both words of one moment. Takes the lock. */
laju_shape laju_shape_read_whole(laju_shapes *shapes, unsigned id);

/* A rule without a name or id, to decide with. */
laju_rule laju_shape_rule(laju_shape shape);

/* A shape whose words come from outside: is it one that a rule can have? */
bool laju_shape_valid(laju_shape shape);

/* The id of these numbers; given out if need be. Never 0. Lock-free where they have one. */
unsigned laju_shape_id(laju_shapes *shapes, laju_shape shape, int64_t now_us);

/* May a slot with this id be of other numbers than those behind it? */
static inline bool laju_shape_is_recycled(const laju_shapes *shapes, unsigned id) {
  return atomic_load_explicit(&shapes->any_recycled, memory_order_relaxed) &&
         atomic_load_explicit(&shapes->recycled[id], memory_order_relaxed);
}

/* Remembers that an id is in use. */
static inline void laju_shape_touch(laju_shapes *shapes, unsigned id, int64_t now_us) {
  uint32_t now = (uint32_t)((uint64_t)now_us >> 20);
  if (atomic_load_explicit(&shapes->used_at[id], memory_order_relaxed) != now) {
    atomic_store_explicit(&shapes->used_at[id], now, memory_order_relaxed);
  }
}

#endif
