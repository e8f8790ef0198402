/* Which key was asked about when, so that limits can be tried on it again and again: 4 bytes a check, in its order.
 *
 * Bounded: LAJU_HISTORY_KEYS_MAX keys and LAJU_HISTORY_WORDS_MAX words (a check is one, a time that differs from the last three
 * more). Checks beyond, or of keys beyond, are left out and counted. A key is known by 64 bits of a keyed hash of it and its
 * rule. One thread. */
#ifndef LAJU_REPLAY_HISTORY_H
#define LAJU_REPLAY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_HISTORY_KEYS_MAX (UINT32_C(1) << 20)
#define LAJU_HISTORY_WORDS_MAX (UINT32_C(1) << 27) /* 512 MiB of address space, used as checks come */

typedef struct laju_history {
  uint32_t *words;
  size_t word_count;
  uint64_t *prints; /* of the keys */
  uint32_t *rules;  /* likewise: a place among the rules */
  uint32_t key_count;
  uint32_t *places; /* open addressing: a key + 1, or 0 */
  uint64_t secret[2];
  int64_t now_us; /* of the last check */
  uint64_t left_out;
} laju_history;

/* 0, or LAJU_ERR_MEMORY or _SYSTEM. */
int laju_history_init(laju_history *history);
void laju_history_deinit(laju_history *history);

void laju_history_add(laju_history *history, uint32_t rule, const char *key, size_t key_len, int64_t now_us);

/* Where a reader is; zeros: at the beginning. */
typedef struct laju_history_cursor {
  size_t at;
  int64_t now_us;
} laju_history_cursor;

#define LAJU_HISTORY_TIME UINT32_MAX /* a word that says: the time is in the next two */

/* The next check's key, at `cursor->now_us`; false at the end. */
static inline bool laju_history_next(const laju_history *history, laju_history_cursor *cursor, uint32_t *key) {
  if (cursor->at == history->word_count) return false;
  const uint32_t *words = history->words + cursor->at;
  if (words[0] == LAJU_HISTORY_TIME) {
    cursor->now_us = (int64_t)((uint64_t)words[2] << 32 | words[1]);
    cursor->at += 3;
    words += 3;
  }
  cursor->at++;
  *key = words[0];
  return true;
}

#endif
