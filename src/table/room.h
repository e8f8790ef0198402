/* Inside `table` only: room in the slab for a log, found or made.
 *
 * Where nothing large enough is free, logs are evicted: a whole aligned region of the size needed, chosen by the one of its
 * logs that is furthest from fresh. The regions looked at are spread over the slab. A search stops at the first that is
 * fresh all over, otherwise it takes the best of those it saw: once it has looked at LAJU_ROOM_FEW logs where one has
 * something remaining, else when its patience is at an end. Each search earns LAJU_ROOM_EARNED looks (as many as four
 * regions can need, where that is more) and leaves what it did not use to the next ones, up to LAJU_ROOM_MANY: so a flood of
 * logs that are all used up cannot make every search a long one. A log that grows may take in its neighbours' room and stay
 * where it is.
 *
 * The owners of the logs looked at are locked by trying only: the caller holds buckets of his own.
 */
#ifndef LAJU_TABLE_ROOM_H
#define LAJU_TABLE_ROOM_H

#include "table/store.h"

#define LAJU_ROOM_FEW 16
#define LAJU_ROOM_EARNED 64
#define LAJU_ROOM_MANY 4096

/* Why there is no room: only logs stood in the way whose buckets others hold just now (let go of all locks and start over),
 * or only logs of this same request. */
#define LAJU_ROOM_BUSY 1
#define LAJU_ROOM_NONE 2

typedef struct laju_slot {
  uint64_t bucket;
  unsigned slot;
} laju_slot;

/* What a request holds: its locked buckets, and those of their slots that it must not lose. */
typedef struct laju_held {
  uint64_t buckets[2 * LAJU_CHECKS_MAX]; /* ascending */
  size_t bucket_count;
  laju_slot slots[LAJU_CHECKS_MAX];
  size_t slot_count;
} laju_held;

bool laju_held_keeps(const laju_held *held, uint64_t bucket, unsigned slot);

/* A block for a log of `capacity` stamps in one of the buckets held. 0, or LAJU_ROOM_BUSY or _NONE. */
int laju_room_find(laju_table *table, const laju_held *held, uint64_t bucket, uint32_t capacity, int64_t now_us,
                   uint64_t *unit);

/* Enlarges the log in a slot held, and notes in the slot where it is now. Same answers; then nothing has changed. */
int laju_room_grow(laju_table *table, const laju_held *held, laju_slot slot, uint32_t capacity, int64_t now_us);

#endif
