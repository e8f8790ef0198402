#include "table/slab.h"

/* A mark is 0 inside a block, else what begins at its unit: order, owner, in use or free. */
#define MARK_USED (UINT64_C(1) << 63)
#define MARK_FREE (UINT64_C(1) << 62)
#define MARK_OWNER ((UINT64_C(1) << 40) - 1)

static uint64_t mark_of(uint64_t kind, unsigned order, uint64_t owner) {
  return kind | (uint64_t)order << 40 | owner;
}

static unsigned mark_order(uint64_t mark) {
  return (unsigned)(mark >> 40) & 0xf;
}

/* Free blocks of an order are a doubly linked list; its links are the first two words of each block. */
static uint64_t *links(const laju_slab *slab, uint64_t unit) {
  return laju_slab_stamps(slab, unit);
}

static void list_push(laju_slab *slab, uint64_t unit, unsigned order) {
  uint64_t first = slab->free[order];
  links(slab, unit)[0] = first;
  links(slab, unit)[1] = LAJU_SLAB_NONE;
  if (first != LAJU_SLAB_NONE) links(slab, first)[1] = unit;
  slab->free[order] = unit;
  slab->marks[unit] = mark_of(MARK_FREE, order, 0);
}

static void list_remove(laju_slab *slab, uint64_t unit, unsigned order) {
  uint64_t next = links(slab, unit)[0], previous = links(slab, unit)[1];
  if (next != LAJU_SLAB_NONE) links(slab, next)[1] = previous;
  if (previous != LAJU_SLAB_NONE) {
    links(slab, previous)[0] = next;
  } else {
    slab->free[order] = next;
  }
  slab->marks[unit] = 0;
}

static void count_used(laju_slab *slab, int64_t bytes) {
  uint64_t used = atomic_load_explicit(&slab->used_bytes, memory_order_relaxed);
  atomic_store_explicit(&slab->used_bytes, used + (uint64_t)bytes, memory_order_relaxed);
}

static int64_t bytes_of(unsigned order) {
  return (int64_t)LAJU_SLAB_UNIT << order;
}

void laju_slab_init(laju_slab *slab, uint64_t *marks, void *bytes, uint64_t units) {
  *slab = (laju_slab){.marks = marks, .bytes = bytes, .units = units};
  for (unsigned order = 0; order < LAJU_SLAB_ORDERS; order++) slab->free[order] = LAJU_SLAB_NONE;
}

/* A free block of at least this order, off its list; `*order` becomes its own. */
static uint64_t take_free(laju_slab *slab, unsigned *order) {
  for (unsigned k = *order; k < LAJU_SLAB_ORDERS; k++) {
    uint64_t unit = slab->free[k];
    if (unit == LAJU_SLAB_NONE) continue;
    list_remove(slab, unit, k);
    *order = k;
    return unit;
  }
  if (slab->frontier == slab->units) return LAJU_SLAB_NONE;
  uint64_t unit = slab->frontier;
  slab->frontier += LAJU_SLAB_BLOCK_UNITS;
  *order = LAJU_SLAB_ORDER_MAX;
  return unit;
}

uint64_t laju_slab_alloc(laju_slab *slab, unsigned order, uint64_t owner) {
  unsigned found = order;
  uint64_t unit = take_free(slab, &found);
  if (unit == LAJU_SLAB_NONE) return LAJU_SLAB_NONE;
  while (found > order) {
    found--;
    list_push(slab, unit + (UINT64_C(1) << found), found);
  }
  slab->marks[unit] = mark_of(MARK_USED, order, owner);
  count_used(slab, bytes_of(order));
  return unit;
}

static bool is_free_block(const laju_slab *slab, uint64_t unit, unsigned order) {
  return slab->marks[unit] == mark_of(MARK_FREE, order, 0);
}

void laju_slab_release(laju_slab *slab, uint64_t unit, unsigned order) {
  count_used(slab, -bytes_of(order));
  slab->marks[unit] = 0;
  for (; order < LAJU_SLAB_ORDER_MAX; order++) {
    uint64_t buddy = unit ^ (UINT64_C(1) << order);
    if (!is_free_block(slab, buddy, order)) break;
    list_remove(slab, buddy, order);
    if (buddy < unit) unit = buddy;
  }
  list_push(slab, unit, order);
}

/* Where the neighbours of a block are free up to order `to`. */
static bool can_widen(const laju_slab *slab, uint64_t unit, unsigned from, unsigned to) {
  for (unsigned order = from; order < to; order++) {
    if (!is_free_block(slab, unit ^ (UINT64_C(1) << order), order)) return false;
    unit &= ~(UINT64_C(1) << order);
  }
  return true;
}

uint64_t laju_slab_widen(laju_slab *slab, uint64_t unit, unsigned from, unsigned to) {
  if (!can_widen(slab, unit, from, to)) return LAJU_SLAB_NONE;
  uint64_t owner = slab->marks[unit] & MARK_OWNER;
  slab->marks[unit] = 0;
  for (unsigned order = from; order < to; order++) {
    list_remove(slab, unit ^ (UINT64_C(1) << order), order);
    unit &= ~(UINT64_C(1) << order);
  }
  slab->marks[unit] = mark_of(MARK_USED, to, owner);
  count_used(slab, bytes_of(to) - bytes_of(from));
  return unit;
}

laju_slab_block laju_slab_block_at(const laju_slab *slab, uint64_t unit) {
  for (unsigned k = 0; k < LAJU_SLAB_ORDERS; k++) {
    uint64_t begin = unit & ~((UINT64_C(1) << k) - 1), mark = slab->marks[begin];
    if (mark == 0 || mark_order(mark) < k) continue;
    return (laju_slab_block){
        .unit = begin, .owner = mark & MARK_OWNER, .order = mark_order(mark), .used = (mark & MARK_USED) != 0};
  }
  return (laju_slab_block){.unit = unit, .order = 0}; /* not before the frontier */
}
