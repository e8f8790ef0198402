/* For each rule, and each of a second, a minute and an hour: the least limit under which no more than a share of the rule's keys
 * would have met a refusal.
 *
 * What each algorithm would have needed to refuse a key nothing is known exactly: for the windows the most that a decision
 * would have found used, for the sliding log the most in any window, and for the buckets, at a given limit, the fullest that
 * the bucket would have been. So a key meets a refusal exactly where the limit is below what it needs, and the answer is a
 * quantile over the keys. For the buckets the limit is the least where burst is as limit; and the burst is then the least at
 * that limit. docs/replay.md says it for users.
 */
#ifndef LAJU_REPLAY_SUGGEST_H
#define LAJU_REPLAY_SUGGEST_H

#include "limiter/ruleset.h"
#include "replay/history.h"

#define LAJU_SUGGEST_PERIODS 3
#define LAJU_SHARE_WHOLE 1000000 /* shares are parts of a million */

extern const int64_t laju_suggest_periods_us[LAJU_SUGGEST_PERIODS];

typedef struct laju_suggestion {
  uint32_t limit; /* 0: no limit that laju can hold is enough */
  uint32_t burst; /* of buckets; of others as limit */
} laju_suggestion;

typedef struct laju_suggested {
  uint64_t keys;    /* of this rule; 0: nothing can be said */
  uint64_t refused; /* so many of them may meet a refusal */
  laju_suggestion periods[LAJU_SUGGEST_PERIODS];
} laju_suggested;

/* `share` is how many keys of a million may meet a refusal, below LAJU_SHARE_WHOLE; `out` has a place for each rule. Keys under
 * overrides are not in the history. 0, or LAJU_ERR_MEMORY. */
int laju_suggest(const laju_history *history, const laju_ruleset *rules, uint32_t share, laju_suggested *out);

/* Reads "p99.9": all but this many of a million. 0, or -1 where it is not p50 to p100 with up to four decimals. */
int laju_share_parse(const char *text, uint32_t *out_share);

#endif
