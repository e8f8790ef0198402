/* Who is refused most: the heavy hitters among keys, in bounded memory.
 *
 * Space-Saving (Metwally, Agrawal, El Abbadi, 2005), kept in sets of LAJU_TOP_WAYS so that a refusal costs the same few steps
 * whatever happens: a key that is not among its set's takes the place of the least, and its count goes on from there. A count is
 * so never too low, and too high by at most `over`; a key with more refusals than a LAJU_TOP_WAYS'th of its set's is always there.
 * Keys are compared by 128 bits of a keyed hash; their text is kept to be shown, cut to LAJU_TOP_TEXT bytes.
 *
 * A worker owns one; others read copies. Every LAJU_TOP_HALF_LIFE_US all counts are halved, so that the past fades.
 */
#ifndef LAJU_LIMITER_TOP_H
#define LAJU_LIMITER_TOP_H

#include <laju/laju.h>
#include <pthread.h>

#define LAJU_TOP_SETS 64
#define LAJU_TOP_WAYS 8
#define LAJU_TOP_ENTRIES (LAJU_TOP_SETS * LAJU_TOP_WAYS)
#define LAJU_TOP_TEXT 64
#define LAJU_TOP_HALF_LIFE_US (INT64_C(600) * 1000000)

typedef struct laju_top_entry {
  uint64_t id[2];   /* of rule and key */
  uint64_t count;   /* refusals, fading; 0: no entry */
  uint64_t over;    /* so many of them may be others' */
  int64_t last_us;  /* the latest */
  uint32_t number;  /* the rule's (limiter/ledger.h) */
  uint16_t veils;   /* the rule's, as it was then */
  uint32_t key_len; /* of the whole key */
  char key[LAJU_TOP_TEXT];
  char rule[LAJU_NAME_MAX + 1];
  bool secret; /* the rule's `secret` */
} laju_top_entry;

typedef struct laju_top {
  pthread_mutex_t lock; /* held for a copy's time at most */
  uint64_t hash_key[2];
  int64_t halved_us;
  laju_top_entry entries[LAJU_TOP_ENTRIES];
} laju_top;

/* `hash_key`: random words, the same for all that are to be merged. NULL: no memory. */
laju_top *laju_top_new(const uint64_t hash_key[2]);
void laju_top_free(laju_top *top);

/* One refusal. Any thread; meant for one. */
void laju_top_count(laju_top *top, const laju_check *check, int64_t now_us);

/* The `max` greatest of several, the greatest first; entries of one key are added up. Returns how many. Any thread. */
size_t laju_top_read(laju_top *const *tops, size_t count, laju_top_entry *out, size_t max, int64_t now_us);

#endif
