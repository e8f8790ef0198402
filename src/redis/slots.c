#include "redis/slots.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 64

struct laju_slot_text {
  laju_slot_text *next;
  char text[];
};

void laju_slots_init(laju_slots *slots) {
  *slots = (laju_slots){.free = LAJU_SLOT_NONE, .oldest = LAJU_SLOT_NONE, .newest = LAJU_SLOT_NONE};
}

void laju_slots_deinit(laju_slots *slots) {
  free(slots->slots);
  laju_slots_init(slots);
}

static bool grow(laju_slots *slots) {
  uint32_t size = slots->size > 0 ? 2 * slots->size : FIRST_SIZE;
  if (size >= LAJU_SLOT_NONE / 2) return false;
  laju_slot *all = realloc(slots->slots, size * sizeof *all);
  if (all == NULL) return false;
  for (uint32_t i = slots->size; i < size; i++) {
    all[i] = (laju_slot){.newer = i + 1 < size ? i + 1 : slots->free};
  }
  slots->free = slots->size;
  slots->slots = all;
  slots->size = size;
  return true;
}

/* Its place from one on, so that no number is 0. */
static uint64_t number_of(const laju_slots *slots, uint32_t place) {
  return (uint64_t)slots->slots[place].generation << 32 | (place + 1);
}

uint64_t laju_slots_add(laju_slots *slots, void *owner, int64_t now_us) {
  if (slots->free == LAJU_SLOT_NONE && !grow(slots)) return 0;
  uint32_t place = slots->free;
  laju_slot *slot = &slots->slots[place];
  slots->free = slot->newer;
  *slot = (laju_slot){
      .owner = owner,
      .since_us = now_us,
      .generation = slot->generation,
      .newer = LAJU_SLOT_NONE,
      .older = slots->newest,
  };
  if (slots->newest != LAJU_SLOT_NONE) {
    slots->slots[slots->newest].newer = place;
  } else {
    slots->oldest = place;
  }
  slots->newest = place;
  return number_of(slots, place);
}

laju_slot *laju_slots_find(laju_slots *slots, uint64_t number) {
  uint32_t place = (uint32_t)number - 1;
  if (place >= slots->size) return NULL;
  laju_slot *slot = &slots->slots[place];
  return slot->owner != NULL && slot->generation == number >> 32 ? slot : NULL;
}

laju_slot *laju_slots_oldest(laju_slots *slots, uint64_t *number) {
  if (slots->oldest == LAJU_SLOT_NONE) return NULL;
  *number = number_of(slots, slots->oldest);
  return &slots->slots[slots->oldest];
}

void laju_slots_remove(laju_slots *slots, uint64_t number) {
  uint32_t place = (uint32_t)number - 1;
  laju_slot *slot = &slots->slots[place];
  if (slot->older != LAJU_SLOT_NONE) {
    slots->slots[slot->older].newer = slot->newer;
  } else {
    slots->oldest = slot->newer;
  }
  if (slot->newer != LAJU_SLOT_NONE) {
    slots->slots[slot->newer].older = slot->older;
  } else {
    slots->newest = slot->older;
  }
  free(slot->bytes);
  *slot = (laju_slot){.generation = slot->generation + 1, .newer = slots->free};
  slots->free = place;
}

const char *laju_slot_keep_text(laju_slot *slot, const char *text, const char *or_else) {
  size_t size = strlen(text) + 1;
  laju_slot_text *kept = malloc(sizeof *kept + size);
  if (kept == NULL) return or_else;
  memcpy(kept->text, text, size);
  kept->next = slot->texts;
  slot->texts = kept;
  return kept->text;
}

void laju_slot_texts_free(laju_slot_text *texts) {
  while (texts != NULL) {
    laju_slot_text *next = texts->next;
    free(texts);
    texts = next;
  }
}
