#include "limiter/overlay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"

/* Sets of slots, found by hash. With 10,000 entries a set holds 2.4 of them; that one is asked to hold more than 16 is a matter of
 * one in a billion, and then that entry is refused like one too many. */
#define SETS 4096
#define WAYS 16

/* What a reader needs of an entry. `version` is odd while it is being written. */
typedef struct slot {
  _Atomic uint32_t version;
  _Atomic uint64_t id[2], numbers; /* limit and burst */
  _Atomic int64_t expires_us;      /* 0: free */
} slot;

struct laju_overlay {
  uint64_t hash_key[2];
  _Atomic size_t count;       /* slots that are not free */
  _Atomic uint8_t used[SETS]; /* slots of each set that are not free */
  slot slots[SETS][WAYS];
  pthread_mutex_t lock;                    /* of all below, and of writing above */
  laju_overlay_entry *entries[SETS][WAYS]; /* NULL where the slot is free */
  bool stays[SETS][WAYS];
};

int laju_overlay_new(laju_overlay **out) {
  laju_overlay *overlay = calloc(1, sizeof *overlay);
  if (overlay == NULL) return LAJU_ERR_MEMORY;
  if (getrandom(overlay->hash_key, sizeof overlay->hash_key, 0) != (ssize_t)sizeof overlay->hash_key ||
      pthread_mutex_init(&overlay->lock, NULL) != 0) {
    free(overlay);
    return LAJU_ERR_SYSTEM;
  }
  *out = overlay;
  return 0;
}

void laju_overlay_free(laju_overlay *overlay) {
  if (overlay == NULL) return;
  for (size_t set = 0; set < SETS; set++) {
    for (size_t way = 0; way < WAYS; way++) free(overlay->entries[set][way]);
  }
  pthread_mutex_destroy(&overlay->lock);
  free(overlay);
}

static laju_hash id_of(const laju_overlay *overlay, uint32_t number, const char *key, size_t key_len) {
  const uint64_t prefix[2] = {number, 0};
  return laju_siphash_prefixed(overlay->hash_key[0], overlay->hash_key[1], prefix, key, key_len);
}

/* ---- writing, under the lock ---- */

/* Released one by one, so that nobody who sees one of them still sees the even version of before. */
static void fill(slot *s, laju_hash id, uint64_t numbers, int64_t expires_us) {
  uint32_t version = atomic_load_explicit(&s->version, memory_order_relaxed);
  atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
  atomic_store_explicit(&s->id[0], id.lo, memory_order_release);
  atomic_store_explicit(&s->id[1], id.hi, memory_order_release);
  atomic_store_explicit(&s->numbers, numbers, memory_order_release);
  atomic_store_explicit(&s->expires_us, expires_us, memory_order_release);
  atomic_store_explicit(&s->version, version + 2, memory_order_release);
}

static void count(laju_overlay *overlay, size_t set, int change) {
  uint8_t used = atomic_load_explicit(&overlay->used[set], memory_order_relaxed);
  atomic_store_explicit(&overlay->used[set], (uint8_t)(used + change), memory_order_release);
  size_t all = atomic_load_explicit(&overlay->count, memory_order_relaxed);
  atomic_store_explicit(&overlay->count, all + (size_t)change, memory_order_release);
}

static void drop(laju_overlay *overlay, size_t set, size_t way) {
  fill(&overlay->slots[set][way], (laju_hash){0}, 0, 0);
  free(overlay->entries[set][way]);
  overlay->entries[set][way] = NULL;
  count(overlay, set, -1);
}

static void drop_expired(laju_overlay *overlay, size_t set, int64_t now_us) {
  for (size_t way = 0; way < WAYS; way++) {
    const laju_overlay_entry *entry = overlay->entries[set][way];
    if (entry != NULL && entry->expires_us <= now_us) drop(overlay, set, way);
  }
}

static bool is_for(const laju_overlay_entry *entry, uint32_t number, const char *key, size_t key_len) {
  return entry != NULL && entry->number == number && entry->key_len == key_len && memcmp(entry->key, key, key_len) == 0;
}

/* The entry's place, else a free one, else WAYS. */
static size_t find_way(const laju_overlay *overlay, size_t set, uint32_t number, const char *key, size_t key_len) {
  size_t found = WAYS;
  for (size_t way = 0; way < WAYS; way++) {
    if (is_for(overlay->entries[set][way], number, key, key_len)) return way;
    if (overlay->entries[set][way] == NULL && found == WAYS) found = way;
  }
  return found;
}

static int put(laju_overlay *overlay, const laju_overlay_entry *entry, int64_t now_us) {
  laju_hash id = id_of(overlay, entry->number, entry->key, entry->key_len);
  size_t set = id.lo % SETS;
  drop_expired(overlay, set, now_us);
  size_t way = find_way(overlay, set, entry->number, entry->key, entry->key_len);
  if (way == WAYS) return LAJU_ERR_MEMORY;
  laju_overlay_entry *kept = overlay->entries[set][way];
  if (kept == NULL) {
    if (laju_overlay_count(overlay) >= LAJU_OVERLAY_MAX) return LAJU_ERR_MEMORY;
    kept = malloc(sizeof *kept);
    if (kept == NULL) return LAJU_ERR_MEMORY;
    overlay->entries[set][way] = kept;
    count(overlay, set, 1);
  }
  *kept = *entry;
  fill(&overlay->slots[set][way], id, (uint64_t)entry->limit << 32 | entry->burst, entry->expires_us);
  return 0;
}

int laju_overlay_put(laju_overlay *overlay, const laju_overlay_entry *entry, int64_t now_us) {
  pthread_mutex_lock(&overlay->lock);
  if (laju_overlay_count(overlay) >= LAJU_OVERLAY_MAX) {
    for (size_t set = 0; set < SETS; set++) drop_expired(overlay, set, now_us);
  }
  int error = put(overlay, entry, now_us);
  pthread_mutex_unlock(&overlay->lock);
  return error;
}

bool laju_overlay_remove(laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, int64_t now_us) {
  size_t set = id_of(overlay, number, key, key_len).lo % SETS;
  pthread_mutex_lock(&overlay->lock);
  drop_expired(overlay, set, now_us);
  size_t way = find_way(overlay, set, number, key, key_len);
  bool found = way < WAYS && overlay->entries[set][way] != NULL;
  if (found) drop(overlay, set, way);
  pthread_mutex_unlock(&overlay->lock);
  return found;
}

/* Those that are to stay are marked, the others dropped, and only then is there room for what is new. */
void laju_overlay_replace(laju_overlay *overlay, const laju_overlay_entry *entries, size_t len, int64_t now_us) {
  pthread_mutex_lock(&overlay->lock);
  memset(overlay->stays, 0, sizeof overlay->stays);
  for (size_t i = 0; i < len; i++) {
    const laju_overlay_entry *entry = &entries[i];
    size_t set = id_of(overlay, entry->number, entry->key, entry->key_len).lo % SETS;
    size_t way = find_way(overlay, set, entry->number, entry->key, entry->key_len);
    if (way < WAYS) overlay->stays[set][way] = true;
  }
  for (size_t set = 0; set < SETS; set++) {
    for (size_t way = 0; way < WAYS; way++) {
      if (overlay->entries[set][way] != NULL && !overlay->stays[set][way]) drop(overlay, set, way);
    }
  }
  for (size_t i = 0; i < len; i++) {
    if (entries[i].expires_us > now_us) put(overlay, &entries[i], now_us);
  }
  pthread_mutex_unlock(&overlay->lock);
}

void laju_overlay_expire(laju_overlay *overlay, int64_t now_us) {
  if (laju_overlay_count(overlay) == 0) return;
  pthread_mutex_lock(&overlay->lock);
  for (size_t set = 0; set < SETS; set++) drop_expired(overlay, set, now_us);
  pthread_mutex_unlock(&overlay->lock);
}

bool laju_overlay_look(laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, int64_t now_us,
                       laju_overlay_entry *out) {
  size_t set = id_of(overlay, number, key, key_len).lo % SETS;
  pthread_mutex_lock(&overlay->lock);
  size_t way = find_way(overlay, set, number, key, key_len);
  const laju_overlay_entry *entry = way < WAYS ? overlay->entries[set][way] : NULL;
  bool found = entry != NULL && entry->expires_us > now_us;
  if (found) *out = *entry;
  pthread_mutex_unlock(&overlay->lock);
  return found;
}

size_t laju_overlay_each(laju_overlay *overlay, int64_t now_us,
                         void (*tell)(void *context, const laju_overlay_entry *entry), void *context) {
  size_t told = 0;
  pthread_mutex_lock(&overlay->lock);
  for (size_t set = 0; set < SETS; set++) {
    drop_expired(overlay, set, now_us);
    for (size_t way = 0; way < WAYS; way++) {
      if (overlay->entries[set][way] == NULL) continue;
      tell(context, overlay->entries[set][way]);
      told++;
    }
  }
  pthread_mutex_unlock(&overlay->lock);
  return told;
}

/* ---- reading ---- */

size_t laju_overlay_count(const laju_overlay *overlay) {
  return atomic_load_explicit(&overlay->count, memory_order_acquire);
}

/* True where the slot holds this id and was not being written; a reader that meets a writer looks again. */
static bool read_slot(const slot *s, laju_hash id, uint64_t *numbers) {
  for (;;) {
    uint32_t before = atomic_load_explicit(&s->version, memory_order_acquire);
    uint64_t lo = atomic_load_explicit(&s->id[0], memory_order_acquire);
    uint64_t hi = atomic_load_explicit(&s->id[1], memory_order_acquire);
    *numbers = atomic_load_explicit(&s->numbers, memory_order_acquire);
    int64_t expires_us = atomic_load_explicit(&s->expires_us, memory_order_acquire);
    uint32_t after = atomic_load_explicit(&s->version, memory_order_relaxed);
    if (before == after && (before & 1) == 0) return lo == id.lo && hi == id.hi && expires_us != 0;
  }
}

bool laju_overlay_find(const laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, uint32_t *limit,
                       uint32_t *burst) {
  laju_hash id = id_of(overlay, number, key, key_len);
  size_t set = id.lo % SETS;
  if (atomic_load_explicit(&overlay->used[set], memory_order_acquire) == 0) return false;
  for (size_t way = 0; way < WAYS; way++) {
    uint64_t numbers;
    if (!read_slot(&overlay->slots[set][way], id, &numbers)) continue;
    *limit = (uint32_t)(numbers >> 32);
    *burst = (uint32_t)numbers;
    return true;
  }
  return false;
}
