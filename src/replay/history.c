#include "replay/history.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "base/siphash.h"
#include <laju/laju.h>

#define PLACES (2 * LAJU_HISTORY_KEYS_MAX)
#define CHECK_WORDS_MAX 4 /* a time and a key */
#define NONE UINT32_MAX

_Static_assert(LAJU_HISTORY_KEYS_MAX < LAJU_HISTORY_TIME, "no key is taken for a time");

int laju_history_init(laju_history *history) {
  *history = (laju_history){.now_us = -1};
  if (getrandom(history->secret, sizeof history->secret, 0) != (ssize_t)sizeof history->secret) return LAJU_ERR_SYSTEM;
  void *words = mmap(NULL, LAJU_HISTORY_WORDS_MAX * sizeof *history->words, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (words == MAP_FAILED) return LAJU_ERR_MEMORY;
  history->words = words;
  history->prints = malloc(LAJU_HISTORY_KEYS_MAX * sizeof *history->prints);
  history->rules = malloc(LAJU_HISTORY_KEYS_MAX * sizeof *history->rules);
  history->places = calloc(PLACES, sizeof *history->places);
  if (history->prints != NULL && history->rules != NULL && history->places != NULL) return 0;
  laju_history_deinit(history);
  return LAJU_ERR_MEMORY;
}

void laju_history_deinit(laju_history *history) {
  if (history->words != NULL) munmap(history->words, LAJU_HISTORY_WORDS_MAX * sizeof *history->words);
  free(history->prints);
  free(history->rules);
  free(history->places);
  *history = (laju_history){.now_us = -1};
}

/* The number of this key, which may be new; NONE where there is no room for another. */
static uint32_t find(laju_history *history, uint32_t rule, const char *key, size_t key_len) {
  laju_hash hash = laju_siphash_prefixed(history->secret[0], history->secret[1], (uint64_t[2]){rule, 0}, key, key_len);
  size_t at = hash.hi % PLACES;
  for (; history->places[at] != 0; at = (at + 1) % PLACES) {
    uint32_t known = history->places[at] - 1;
    if (history->prints[known] == hash.lo) return known;
  }
  if (history->key_count == LAJU_HISTORY_KEYS_MAX) return NONE;
  uint32_t fresh = history->key_count++;
  history->prints[fresh] = hash.lo;
  history->rules[fresh] = rule;
  history->places[at] = fresh + 1;
  return fresh;
}

void laju_history_add(laju_history *history, uint32_t rule, const char *key, size_t key_len, int64_t now_us) {
  bool room = history->word_count <= LAJU_HISTORY_WORDS_MAX - CHECK_WORDS_MAX;
  uint32_t found = room ? find(history, rule, key, key_len) : NONE;
  if (found == NONE) {
    history->left_out++;
    return;
  }
  uint32_t *words = history->words;
  if (now_us != history->now_us) {
    words[history->word_count++] = LAJU_HISTORY_TIME;
    words[history->word_count++] = (uint32_t)now_us;
    words[history->word_count++] = (uint32_t)((uint64_t)now_us >> 32);
    history->now_us = now_us;
  }
  words[history->word_count++] = found;
}
