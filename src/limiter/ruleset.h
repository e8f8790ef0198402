/* The rules in force: an immutable set, found by name. Shared by all workers without locks; a reload makes a new one. */
#ifndef LAJU_LIMITER_RULESET_H
#define LAJU_LIMITER_RULESET_H

#include <laju/laju.h>

typedef struct laju_ruleset laju_ruleset;

#define LAJU_RULES_MAX 10000

/* Copies `count` (0 to LAJU_RULES_MAX) rules of different names. LAJU_ERR_MEMORY; LAJU_ERR_NAME where two share a name. */
int laju_ruleset_new(laju_ruleset **out, const laju_rule *rules, size_t count);
void laju_ruleset_free(laju_ruleset *rules);

/* The rule of that name (exact, case matters), or NULL. */
const laju_rule *laju_ruleset_find(const laju_ruleset *rules, const char *name, size_t name_len);

size_t laju_ruleset_count(const laju_ruleset *rules);

/* The i-th rule, in the order given. */
const laju_rule *laju_ruleset_at(const laju_ruleset *rules, size_t i);

#endif
