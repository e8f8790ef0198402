/* The rules in force: an immutable set, found by name. Shared by all workers without locks; a reload makes a new one. */
#ifndef LAJU_LIMITER_RULESET_H
#define LAJU_LIMITER_RULESET_H

#include <string.h>

#include "config/policy.h"
#include "limiter/selection.h"

typedef struct laju_ruleset laju_ruleset;

#define LAJU_RULES_MAX 10000

/* Takes over `count` (0 to LAJU_RULES_MAX) policies of different names: what they own belongs to the set from then on; the
 * array itself stays the caller's. LAJU_ERR_MEMORY; LAJU_ERR_NAME where two share a name; then nothing was taken. */
int laju_ruleset_new(laju_ruleset **out, const laju_policy *policies, size_t count);
void laju_ruleset_free(laju_ruleset *rules);

/* The policy of that name (exact, case matters), or NULL. */
const laju_policy *laju_ruleset_find(const laju_ruleset *rules, const char *name, size_t name_len);

/* Is this exactly the policy's name? Any bytes may be asked about: names have zeros behind them, and none inside. */
static inline bool laju_policy_is_named(const laju_policy *policy, const char *name, size_t len) {
  const char *own = policy->rule.name;
  return len >= 1 && len <= LAJU_NAME_MAX && memcmp(own, name, len) == 0 && own[len - 1] != '\0' && own[len] == '\0';
}

size_t laju_ruleset_count(const laju_ruleset *rules);

/* The i-th policy, in the order given. */
const laju_policy *laju_ruleset_at(const laju_ruleset *rules, size_t i);

/* Finds those that match a request. */
const laju_selection *laju_ruleset_selection(const laju_ruleset *rules);

/* The rule that decides this key under this policy of the set: the override that names the key, else the first override
 * whose pattern takes it, else the policy's own. */
const laju_rule *laju_ruleset_rule(const laju_ruleset *rules, const laju_policy *policy, const char *key,
                                   size_t key_len);

/* Is this key never limited under this policy of the set? Such a check is decided as a peek (a cost of 0). */
bool laju_ruleset_exempts_key(const laju_ruleset *rules, const laju_policy *policy, const char *key, size_t key_len);

/* The same for a client's address. */
bool laju_policy_exempts_address(const laju_policy *policy, const laju_ip *address);

/* What a check of this key asks for under this policy of the set: its rule, and its cost, which is `*said` where the check
 * says one (NULL: it does not), else the rule's; 0 in either case where the key is exempt. */
static inline const laju_rule *laju_ruleset_resolve(const laju_ruleset *rules, const laju_policy *policy,
                                                    const char *key, size_t key_len, const uint32_t *said,
                                                    uint32_t *cost) {
  const laju_rule *rule = &policy->rule;
  if (policy->override_count > 0) rule = laju_ruleset_rule(rules, policy, key, key_len);
  *cost = said != NULL ? *said : rule->cost;
  if (policy->exempt_key_count > 0 && laju_ruleset_exempts_key(rules, policy, key, key_len)) *cost = 0;
  return rule;
}

#endif
