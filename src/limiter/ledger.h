/* What was decided, counted by rule.
 *
 * A rule's name gets a number the first time it is met (laju_rule_names), and keeps it over every reload; a worker counts each check
 * under its rule's number in a ledger of its own, and whoever wants sums adds the workers' up. Number 0 is for all that have none:
 * limits that came with a check, CL.THROTTLE, and names beyond LAJU_RULE_NUMBERS. So neither strangers' checks nor reloads without end
 * make more lines than there are.
 */
#ifndef LAJU_LIMITER_LEDGER_H
#define LAJU_LIMITER_LEDGER_H

#include "base/count.h"
#include <laju/laju.h>

#define LAJU_RULE_NUMBERS 16384

/* ---- names ---- */

typedef struct laju_rule_names laju_rule_names;

/* NULL: no memory. */
laju_rule_names *laju_rule_names_new(void);
void laju_rule_names_free(laju_rule_names *names);

/* The name's number, a new one where it is new; 0 where all are taken. One thread at a time. */
uint32_t laju_rule_names_number(laju_rule_names *names, const char *name);

/* How many numbers are in use, 0 included; number 0's name is "". Any thread; a name never changes. */
uint32_t laju_rule_names_count(const laju_rule_names *names);
const char *laju_rule_names_at(const laju_rule_names *names, uint32_t number);

/* ---- counts ---- */

typedef enum laju_verdict {
  LAJU_VERDICT_ALLOWED,
  LAJU_VERDICT_DENIED,
  LAJU_VERDICT_SHADOW_DENIED, /* a rule in shadow would have refused */
  LAJU_VERDICT_ERROR,         /* it could not be decided */
  LAJU_VERDICTS
} laju_verdict;

/* Some 512 KiB, of which pages that no number falls on are never touched. */
typedef struct laju_ledger {
  _Atomic uint64_t counts[LAJU_RULE_NUMBERS][LAJU_VERDICTS];
} laju_ledger;

/* NULL: no memory. */
laju_ledger *laju_ledger_new(void);
void laju_ledger_free(laju_ledger *ledger);

/* Counts one check. The ledger's own thread. */
static inline void laju_ledger_count(laju_ledger *ledger, uint32_t number, laju_verdict verdict) {
  laju_count(&ledger->counts[number < LAJU_RULE_NUMBERS ? number : 0][verdict]);
}

/* Any thread. */
static inline uint64_t laju_ledger_read(const laju_ledger *ledger, uint32_t number, laju_verdict verdict) {
  return laju_count_read(&ledger->counts[number][verdict]);
}

#endif
