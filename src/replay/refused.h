/* Who was refused most: a table of bounded size that is exact while it has room, and within a told bound beyond.
 *
 * Each key of a rule that is refused has an entry. When all LAJU_REFUSED_MAX are taken, the median of their counts is taken off
 * each, and those that have nothing left go (Misra and Gries' way). So whoever was refused more often than `missed` says is
 * there, and no count is more than `missed` too low. One thread.
 */
#ifndef LAJU_REPLAY_REFUSED_H
#define LAJU_REPLAY_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_REFUSED_MAX 65536
#define LAJU_REFUSED_KEY_MAX 96 /* bytes of a key that are kept to be shown */

typedef struct laju_refused_entry {
  uint64_t print[2]; /* of rule and key */
  uint64_t count;
  int64_t first_us; /* since it has this entry */
  uint32_t rule;    /* its place among the rules */
  uint16_t key_len; /* of the whole key */
  bool late;        /* it may have been refused before `first_us`, and had its entry taken */
  char key[LAJU_REFUSED_KEY_MAX];
} laju_refused_entry;

typedef struct laju_refused {
  laju_refused_entry *entries;
  uint64_t *counts; /* to find their median in */
  uint32_t *places; /* open addressing: an index + 1, or 0 */
  uint64_t secret[2];
  size_t count;
  uint64_t missed; /* no count is more than this too low; 0: all are exact */
} laju_refused;

/* 0, or LAJU_ERR_MEMORY or _SYSTEM. */
int laju_refused_init(laju_refused *refused);
void laju_refused_deinit(laju_refused *refused);

void laju_refused_add(laju_refused *refused, uint32_t rule, const char *key, size_t key_len, int64_t now_us);

/* Brings the entries into order, most refused first, then the first refused; nothing can be added after that. */
void laju_refused_sort(laju_refused *refused);

#endif
