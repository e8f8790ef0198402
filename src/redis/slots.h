/* Inside `redis`: who waits for an answer of the store, oldest first.
 *
 * An owner is known by the number of its slot and a generation that changes whenever the slot passes on. So a reply that comes for
 * an owner who has gone finds nobody, never the next one. All wait equally long, so the oldest is the first that is due. Grows,
 * and keeps its memory. One thread.
 */
#ifndef LAJU_REDIS_SLOTS_H
#define LAJU_REDIS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct laju_slot_text laju_slot_text;

typedef struct laju_slot {
  void *owner;           /* NULL: nobody has it */
  char *bytes;           /* an owner's that is a command: freed with the slot; NULL where it is a request */
  size_t len;            /* of them */
  laju_slot_text *texts; /* the owner's; it takes them away before the slot is removed */
  int64_t since_us;      /* when it began to wait */
  uint32_t generation;
  uint32_t newer, older; /* LAJU_SLOT_NONE: none. `newer` of a free slot: the next free one */
} laju_slot;

#define LAJU_SLOT_NONE UINT32_MAX

typedef struct laju_slots {
  laju_slot *slots;
  uint32_t size;
  uint32_t free, oldest, newest;
} laju_slots;

void laju_slots_init(laju_slots *slots);
void laju_slots_deinit(laju_slots *slots); /* all are gone */

/* The number of a slot for an owner, never 0; 0: no memory. */
uint64_t laju_slots_add(laju_slots *slots, void *owner, int64_t now_us);

/* NULL: gone. Good until the next laju_slots_add. */
laju_slot *laju_slots_find(laju_slots *slots, uint64_t number);

/* The one that waits longest, and its number; NULL: nobody. */
laju_slot *laju_slots_oldest(laju_slots *slots, uint64_t *number);

void laju_slots_remove(laju_slots *slots, uint64_t number);

/* A copy of a text, in the slot's list; `or_else` where there is no memory. */
const char *laju_slot_keep_text(laju_slot *slot, const char *text, const char *or_else);
void laju_slot_texts_free(laju_slot_text *texts);

#endif
