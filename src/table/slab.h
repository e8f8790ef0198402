/* Inside `table` only: where sliding logs keep their stamps. Blocks of 64 bytes (8 stamps) to 512 KiB (65,536 stamps), each
 * twice the one before, from a buddy allocator over one mapping.
 *
 * Every block knows the bucket that owns it, so that a full slab can find whom to ask. Keys never move, so the owner stays.
 * A slab is of whole blocks of the largest size, at least one; its pages are first touched as blocks are given out.
 *
 * All functions but laju_slab_view and laju_slab_refer are called under `lock`. Lock order: buckets, then the slab; a bucket
 * is only ever tried from under it. A block's stamps are read and written under its bucket's lock alone.
 */
#ifndef LAJU_TABLE_SLAB_H
#define LAJU_TABLE_SLAB_H

#include "core/log.h"
#include "core/state.h"
#include "table/spin.h"

#define LAJU_SLAB_UNIT 64   /* bytes; 8 stamps */
#define LAJU_SLAB_ORDERS 14 /* a block of order k is 2^k units */
#define LAJU_SLAB_ORDER_MAX (LAJU_SLAB_ORDERS - 1)
#define LAJU_SLAB_BLOCK_UNITS (UINT64_C(1) << LAJU_SLAB_ORDER_MAX)
#define LAJU_SLAB_BLOCK_BYTES (LAJU_SLAB_BLOCK_UNITS * LAJU_SLAB_UNIT)  /* of the largest */
#define LAJU_SLAB_MARK_BYTES (LAJU_SLAB_BLOCK_UNITS * sizeof(uint64_t)) /* and of the marks of its units */
#define LAJU_SLAB_NONE UINT64_MAX

_Static_assert(LAJU_SLAB_BLOCK_BYTES == LAJU_LOG_LIMIT_MAX * sizeof(uint64_t),
               "the largest log fits the largest block");
_Static_assert(LAJU_SLAB_UNIT == LAJU_LOG_CAPACITY_MIN * sizeof(uint64_t), "the smallest log is a unit");

typedef struct laju_slab {
  laju_spin lock;
  uint64_t *marks;      /* one a unit: what begins there (slab.c) */
  unsigned char *bytes; /* the units */
  uint64_t units;
  uint64_t frontier;               /* units from here on were never given out; a multiple of the largest block */
  uint64_t hand;                   /* searches for whom to evict: where the next one begins (room.c) */
  unsigned patience;               /* and how many logs it may look at */
  uint64_t free[LAJU_SLAB_ORDERS]; /* first free block of each order, or LAJU_SLAB_NONE */
  _Atomic uint64_t used_bytes;
} laju_slab;

typedef struct laju_slab_block {
  uint64_t unit;  /* its first */
  uint64_t owner; /* bucket; where it is in use */
  unsigned order;
  bool used;
} laju_slab_block;

/* Over memory that is all zeros: `marks` and `bytes` for `units` units (whole largest blocks). */
void laju_slab_init(laju_slab *slab, uint64_t *marks, void *bytes, uint64_t units);

/* A block for a log in bucket `owner`, or LAJU_SLAB_NONE where no free block is large enough. Its bytes are undefined. */
uint64_t laju_slab_alloc(laju_slab *slab, unsigned order, uint64_t owner);
void laju_slab_release(laju_slab *slab, uint64_t unit, unsigned order);

/* Makes a block of order `from` one of order `to` where all that is needed beside it is free. Returns where the larger
 * block begins (at or before `unit`; the bytes stay where they were), or LAJU_SLAB_NONE and changes nothing. */
uint64_t laju_slab_widen(laju_slab *slab, uint64_t unit, unsigned from, unsigned to);

/* The block that a unit before the frontier is in. */
laju_slab_block laju_slab_block_at(const laju_slab *slab, uint64_t unit);

static inline uint64_t *laju_slab_stamps(const laju_slab *slab, uint64_t unit) {
  return (uint64_t *)(void *)(slab->bytes + unit * LAJU_SLAB_UNIT);
}

/* The order of a block for this many stamps (a power of two from 8). */
static inline unsigned laju_slab_order(uint32_t capacity) {
  return (unsigned)__builtin_ctz(capacity / LAJU_LOG_CAPACITY_MIN);
}

/* ---- a log's 16 bytes in its slot: word 0 unit | order << 40, word 1 head | count << 32 ---- */

static inline uint64_t laju_slab_state_unit(laju_state state) {
  return state.words[0] & ((UINT64_C(1) << 40) - 1);
}

static inline unsigned laju_slab_state_order(laju_state state) {
  return (unsigned)(state.words[0] >> 40);
}

static inline laju_log laju_slab_view(const laju_slab *slab, laju_state state) {
  return (laju_log){
      .stamps = laju_slab_stamps(slab, laju_slab_state_unit(state)),
      .capacity = (uint32_t)LAJU_LOG_CAPACITY_MIN << laju_slab_state_order(state),
      .head = (uint32_t)state.words[1],
      .count = (uint32_t)(state.words[1] >> 32),
  };
}

static inline laju_state laju_slab_refer(uint64_t unit, const laju_log *log) {
  return (laju_state){.words = {unit | (uint64_t)laju_slab_order(log->capacity) << 40,
                                (uint64_t)log->head | (uint64_t)log->count << 32}};
}

#endif
