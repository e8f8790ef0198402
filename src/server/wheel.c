#include "server/wheel.h"

static void unlink_entry(laju_deadline *entry) {
  entry->prev->next = entry->next;
  entry->next->prev = entry->prev;
  entry->next = entry->prev = NULL;
}

void laju_wheel_init(laju_wheel *wheel, uint64_t now_ms) {
  for (size_t i = 0; i < LAJU_WHEEL_SLOTS; i++) {
    laju_deadline *head = &wheel->slots[i];
    head->next = head->prev = head;
  }
  wheel->tick = now_ms / LAJU_WHEEL_TICK_MS;
  wheel->count = 0;
}

/* The tick in which `due_ms` has certainly passed; what is further away than the wheel is round waits in the last slot and
 * is looked at again then. */
static uint64_t tick_of(const laju_wheel *wheel, uint64_t due_ms) {
  uint64_t tick = due_ms / LAJU_WHEEL_TICK_MS + 1;
  uint64_t last = wheel->tick + LAJU_WHEEL_SLOTS - 1;
  if (tick <= wheel->tick) return wheel->tick + 1;
  return tick < last ? tick : last;
}

static void link_entry(laju_wheel *wheel, laju_deadline *entry) {
  entry->tick = tick_of(wheel, entry->due_ms);
  laju_deadline *head = &wheel->slots[entry->tick % LAJU_WHEEL_SLOTS];
  entry->next = head;
  entry->prev = head->prev;
  head->prev->next = entry;
  head->prev = entry;
}

void laju_wheel_set(laju_wheel *wheel, laju_deadline *entry, uint64_t due_ms) {
  entry->due_ms = due_ms;
  if (entry->next == NULL) {
    wheel->count++;
  } else {
    if (tick_of(wheel, due_ms) >= entry->tick) return;
    unlink_entry(entry);
  }
  link_entry(wheel, entry);
}

void laju_wheel_drop(laju_wheel *wheel, laju_deadline *entry) {
  if (entry->next == NULL) return;
  unlink_entry(entry);
  wheel->count--;
}

laju_deadline *laju_wheel_due(laju_wheel *wheel, uint64_t now_ms) {
  uint64_t now = now_ms / LAJU_WHEEL_TICK_MS;
  while (wheel->tick < now) {
    laju_deadline *head = &wheel->slots[(wheel->tick + 1) % LAJU_WHEEL_SLOTS];
    laju_deadline *entry = head->next;
    if (entry == head) {
      wheel->tick++;
      continue;
    }
    unlink_entry(entry);
    if (entry->due_ms / LAJU_WHEEL_TICK_MS < now) {
      wheel->count--;
      return entry;
    }
    link_entry(wheel, entry); /* its deadline was moved away meanwhile */
  }
  return NULL;
}
