/* Limits that an operator has set for single keys, for a while: over what the configuration says.
 *
 * Every check looks here, so looking costs a load where there are none (laju_overlay_count), and a hash and a byte where there are
 * some but not for this key. Readers take no lock; whoever changes something does (any thread). Up to LAJU_OVERLAY_MAX entries; one that
 * has expired makes room for others.
 */
#ifndef LAJU_LIMITER_OVERLAY_H
#define LAJU_LIMITER_OVERLAY_H

#include <laju/laju.h>
#include <stdatomic.h>

#include "core/rule.h"

#define LAJU_OVERLAY_MAX 10000

typedef struct laju_overlay laju_overlay;

typedef struct laju_overlay_entry {
  uint32_t number;       /* the rule name's (limiter/ledger.h), never 0 */
  uint32_t limit, burst; /* burst: for the two buckets; for others the same as limit */
  uint32_t key_len;
  int64_t expires_us; /* since the epoch */
  uint16_t veils; /* which of the rule's parts were veiled when it was set (config/policy.h): its key stays hidden */
  char key[LAJU_KEY_MAX];
} laju_overlay_entry;

/* LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM (no random numbers). */
int laju_overlay_new(laju_overlay **out);
void laju_overlay_free(laju_overlay *overlay); /* NULL is allowed */

/* Sets one, in the place of an earlier one for the same rule and key. LAJU_ERR_MEMORY: there are LAJU_OVERLAY_MAX. */
int laju_overlay_put(laju_overlay *overlay, const laju_overlay_entry *entry, int64_t now_us);

/* Takes one away; false where there was none. */
bool laju_overlay_remove(laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, int64_t now_us);

/* In the place of all others: these (at most LAJU_OVERLAY_MAX are taken). */
void laju_overlay_replace(laju_overlay *overlay, const laju_overlay_entry *entries, size_t count, int64_t now_us);

/* Calls `tell` with each that has not expired, in no order, under the lock: it must not call back. Returns how many there are. */
size_t laju_overlay_each(laju_overlay *overlay, int64_t now_us,
                         void (*tell)(void *context, const laju_overlay_entry *entry), void *context);

/* How many may be in force: 0 where looking is of no use. */
size_t laju_overlay_count(const laju_overlay *overlay);

/* Finds the key's numbers, if it has one: true. It may have expired since laju_overlay_expire was last called. Any thread, without a
 * lock. */
bool laju_overlay_find(const laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, uint32_t *limit,
                       uint32_t *burst);

/* The same with all that is known of it; takes the lock. */
bool laju_overlay_look(laju_overlay *overlay, uint32_t number, const char *key, size_t key_len, int64_t now_us,
                       laju_overlay_entry *out);

/* Drops what has expired: to be called about once a second, since checks do not look at the time. Any thread. */
void laju_overlay_expire(laju_overlay *overlay, int64_t now_us);

/* The rule that decides this key: `rule`, or a copy of it with other numbers in `place`. They were good for the rule when they were
 * set; since then a reload may have given it another algorithm, of which no more is asked than it can hold. */
static inline const laju_rule *laju_overlay_apply(const laju_overlay *overlay, const laju_rule *rule, const char *key,
                                                  size_t key_len, laju_rule *place) {
  uint32_t limit, burst;
  if (!laju_overlay_find(overlay, rule->number, key, key_len, &limit, &burst)) return rule;
  if (rule->algorithm == LAJU_SLIDING_WINDOW_LOG && limit > LAJU_LOG_LIMIT_MAX) limit = LAJU_LOG_LIMIT_MAX;
  if (!laju_algorithm_is_bucket(rule->algorithm)) burst = limit;
  *place = *rule;
  place->limit = limit;
  place->capacity = limit == 0 ? 0 : burst;
  return place;
}

#endif
