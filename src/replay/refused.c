#include "replay/refused.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"
#include <laju/laju.h>

#define PLACES (2 * LAJU_REFUSED_MAX)

int laju_refused_init(laju_refused *refused) {
  *refused = (laju_refused){.count = 0};
  if (getrandom(refused->secret, sizeof refused->secret, 0) != (ssize_t)sizeof refused->secret) return LAJU_ERR_SYSTEM;
  refused->entries = malloc(LAJU_REFUSED_MAX * sizeof *refused->entries);
  refused->counts = malloc(LAJU_REFUSED_MAX * sizeof *refused->counts);
  refused->places = calloc(PLACES, sizeof *refused->places);
  if (refused->entries != NULL && refused->counts != NULL && refused->places != NULL) return 0;
  laju_refused_deinit(refused);
  return LAJU_ERR_MEMORY;
}

void laju_refused_deinit(laju_refused *refused) {
  free(refused->entries);
  free(refused->counts);
  free(refused->places);
  *refused = (laju_refused){.count = 0};
}

/* The place of this print: its entry's, or the free one where it would stand. */
static uint32_t *find(const laju_refused *refused, const uint64_t print[2]) {
  size_t at = print[0] % PLACES;
  for (;; at = (at + 1) % PLACES) {
    uint32_t *place = &refused->places[at];
    if (*place == 0) return place;
    const uint64_t *other = refused->entries[*place - 1].print;
    if (other[0] == print[0] && other[1] == print[1]) return place;
  }
}

static int compare_counts(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static uint64_t median(laju_refused *refused) {
  for (size_t i = 0; i < refused->count; i++) refused->counts[i] = refused->entries[i].count;
  qsort(refused->counts, refused->count, sizeof *refused->counts, compare_counts);
  return refused->counts[refused->count / 2];
}

/* Takes the median off all; at least half of them go. */
static void make_room(laju_refused *refused) {
  uint64_t off = median(refused);
  size_t kept = 0;
  memset(refused->places, 0, PLACES * sizeof *refused->places);
  for (size_t i = 0; i < refused->count; i++) {
    if (refused->entries[i].count <= off) continue;
    refused->entries[kept] = refused->entries[i];
    refused->entries[kept].count -= off;
    *find(refused, refused->entries[kept].print) = (uint32_t)(kept + 1);
    kept++;
  }
  refused->count = kept;
  refused->missed += off;
}

void laju_refused_add(laju_refused *refused, uint32_t rule, const char *key, size_t key_len, int64_t now_us) {
  laju_hash hash = laju_siphash_prefixed(refused->secret[0], refused->secret[1], (uint64_t[2]){rule, 0}, key, key_len);
  uint64_t print[2] = {hash.lo, hash.hi};
  uint32_t *place = find(refused, print);
  if (*place != 0) {
    refused->entries[*place - 1].count++;
    return;
  }
  if (refused->count == LAJU_REFUSED_MAX) {
    make_room(refused);
    place = find(refused, print);
  }
  laju_refused_entry *entry = &refused->entries[refused->count++];
  *entry = (laju_refused_entry){.print = {print[0], print[1]},
                                .count = 1,
                                .first_us = now_us,
                                .rule = rule,
                                .key_len = (uint16_t)key_len,
                                .late = refused->missed > 0};
  memcpy(entry->key, key, key_len < LAJU_REFUSED_KEY_MAX ? key_len : LAJU_REFUSED_KEY_MAX);
  *place = (uint32_t)refused->count;
}

static int compare_entries(const void *a, const void *b) {
  const laju_refused_entry *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  if (x->first_us != y->first_us) return x->first_us > y->first_us ? 1 : -1;
  int rest = memcmp(x->key, y->key, LAJU_REFUSED_KEY_MAX);
  return rest != 0 ? rest : (x->rule > y->rule) - (x->rule < y->rule);
}

void laju_refused_sort(laju_refused *refused) {
  qsort(refused->entries, refused->count, sizeof *refused->entries, compare_entries);
}
