#include "limiter/top.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

laju_top *laju_top_new(const uint64_t hash_key[2]) {
  laju_top *top = calloc(1, sizeof *top);
  if (top == NULL) return NULL;
  if (pthread_mutex_init(&top->lock, NULL) != 0) {
    free(top);
    return NULL;
  }
  memcpy(top->hash_key, hash_key, sizeof top->hash_key);
  return top;
}

void laju_top_free(laju_top *top) {
  if (top == NULL) return;
  pthread_mutex_destroy(&top->lock);
  free(top);
}

/* Under the lock. Half-lives that passed while nobody was refused are made up for. */
static void fade(laju_top *top, int64_t now_us) {
  if (top->halved_us == 0) top->halved_us = now_us;
  int64_t passed = (now_us - top->halved_us) / LAJU_TOP_HALF_LIFE_US;
  if (passed <= 0) return;
  top->halved_us += passed * LAJU_TOP_HALF_LIFE_US;
  unsigned shift = passed < 63 ? (unsigned)passed : 63;
  for (size_t i = 0; i < LAJU_TOP_ENTRIES; i++) {
    top->entries[i].count >>= shift;
    top->entries[i].over >>= shift;
  }
}

/* The key's entry in its set, or the one that makes room for it. */
static laju_top_entry *find(laju_top_entry *set, laju_hash id) {
  laju_top_entry *least = set;
  for (size_t i = 0; i < LAJU_TOP_WAYS; i++) {
    if (set[i].count > 0 && set[i].id[0] == id.lo && set[i].id[1] == id.hi) return &set[i];
    if (set[i].count < least->count) least = &set[i];
  }
  return least;
}

static void take_over(laju_top_entry *entry, laju_hash id, const laju_check *check) {
  uint64_t before = entry->count;
  *entry = (laju_top_entry){.id = {id.lo, id.hi},
                            .count = before,
                            .over = before,
                            .number = check->rule->number,
                            .key_len = check->key_len,
                            .veils = check->rule->veils,
                            .secret = check->rule->secret};
  memcpy(entry->key, check->key, check->key_len < LAJU_TOP_TEXT ? check->key_len : LAJU_TOP_TEXT);
  memcpy(entry->rule, check->rule->name, sizeof entry->rule);
}

void laju_top_count(laju_top *top, const laju_check *check, int64_t now_us) {
  laju_hash id = laju_siphash_prefixed(top->hash_key[0], top->hash_key[1], check->rule->id, check->key, check->key_len);
  pthread_mutex_lock(&top->lock);
  fade(top, now_us);
  laju_top_entry *entry = find(&top->entries[id.lo % LAJU_TOP_SETS * LAJU_TOP_WAYS], id);
  if (entry->count == 0 || entry->id[0] != id.lo || entry->id[1] != id.hi) take_over(entry, id, check);
  entry->count++;
  entry->last_us = now_us;
  pthread_mutex_unlock(&top->lock);
}

static void merge(laju_top_entry *sum, size_t *sum_count, const laju_top_entry *entry) {
  for (size_t i = 0; i < *sum_count; i++) {
    if (sum[i].id[0] != entry->id[0] || sum[i].id[1] != entry->id[1]) continue;
    sum[i].count += entry->count;
    sum[i].over += entry->over;
    if (entry->last_us > sum[i].last_us) sum[i].last_us = entry->last_us;
    return;
  }
  sum[(*sum_count)++] = *entry;
}

/* The same key falls into the same set everywhere, so each set is summed by itself. */
static size_t sum_set(laju_top *const *tops, size_t count, size_t set, int64_t now_us, laju_top_entry *sum) {
  size_t sum_count = 0;
  for (size_t i = 0; i < count; i++) {
    laju_top_entry copy[LAJU_TOP_WAYS];
    pthread_mutex_lock(&tops[i]->lock);
    fade(tops[i], now_us);
    memcpy(copy, &tops[i]->entries[set * LAJU_TOP_WAYS], sizeof copy);
    pthread_mutex_unlock(&tops[i]->lock);
    for (size_t way = 0; way < LAJU_TOP_WAYS; way++) {
      if (copy[way].count > 0) merge(sum, &sum_count, &copy[way]);
    }
  }
  return sum_count;
}

/* Puts an entry in its place among the greatest so far. */
static size_t insert(laju_top_entry *out, size_t len, size_t max, const laju_top_entry *entry) {
  size_t at = len;
  while (at > 0 && out[at - 1].count < entry->count) at--;
  if (at == max) return len;
  if (len < max) len++;
  memmove(&out[at + 1], &out[at], (len - at - 1) * sizeof *out);
  out[at] = *entry;
  return len;
}

size_t laju_top_read(laju_top *const *tops, size_t count, laju_top_entry *out, size_t max, int64_t now_us) {
  laju_top_entry *sum = malloc(count * LAJU_TOP_WAYS * sizeof *sum);
  size_t len = 0;
  if (sum == NULL) return 0;
  for (size_t set = 0; set < LAJU_TOP_SETS; set++) {
    size_t found = sum_set(tops, count, set, now_us, sum);
    for (size_t i = 0; i < found; i++) len = insert(out, len, max, &sum[i]);
  }
  free(sum);
  return len;
}
