#include "limiter/ruleset.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

/* Open addressing, at most half full. Rules' names and overridden keys come from the operator, so no secret is needed. */
typedef struct places {
  uint32_t mask; /* places - 1; a power of two */
  uint32_t *at;  /* an index + 1, or 0 */
} places;

/* An override of one key, without a pattern. */
typedef struct exact {
  const laju_policy *policy;
  const laju_override *override;
} exact;

struct laju_ruleset {
  size_t count, exact_count;
  places names, keys;
  exact *exacts;
  laju_selection *selection;
  laju_policy policies[];
};

/* ---- places ---- */

static int places_init(places *p, size_t entries) {
  uint32_t size = 4;
  while (size < 2 * entries) size *= 2;
  p->mask = size - 1;
  p->at = calloc(size, sizeof *p->at);
  return p->at != NULL ? 0 : LAJU_ERR_MEMORY;
}

/* Puts an entry where the search for its hash would end. */
static void places_add(places *p, uint32_t hash, size_t index) {
  uint32_t at = hash & p->mask;
  while (p->at[at] != 0) at = (at + 1) & p->mask;
  p->at[at] = (uint32_t)index + 1;
}

/* ---- names ---- */

static uint32_t hash_name(const char *name, size_t len) {
  return (uint32_t)laju_siphash(0, 0, name, len).lo;
}

static bool has_name(const laju_policy *policy, const char *name, size_t len) {
  return memcmp(policy->rule.name, name, len) == 0 && policy->rule.name[len] == '\0';
}

const laju_policy *laju_ruleset_find(const laju_ruleset *rules, const char *name, size_t name_len) {
  if (name_len < 1 || name_len > LAJU_NAME_MAX) return NULL;
  const places *names = &rules->names;
  for (uint32_t at = hash_name(name, name_len) & names->mask; names->at[at] != 0; at = (at + 1) & names->mask) {
    const laju_policy *policy = &rules->policies[names->at[at] - 1];
    if (has_name(policy, name, name_len)) return policy;
  }
  return NULL;
}

static int add_names(laju_ruleset *rules) {
  for (size_t i = 0; i < rules->count; i++) {
    const char *name = rules->policies[i].rule.name;
    if (laju_ruleset_find(rules, name, strlen(name)) != NULL) return LAJU_ERR_NAME;
    places_add(&rules->names, hash_name(name, strlen(name)), i);
  }
  return 0;
}

/* ---- overridden keys ---- */

static uint32_t hash_key(const laju_policy *policy, const char *key, size_t len) {
  return (uint32_t)laju_siphash_prefixed(0, 0, policy->rule.id, key, len).lo;
}

static const laju_override *find_exact(const laju_ruleset *rules, const laju_policy *policy, const char *key,
                                       size_t len) {
  const places *keys = &rules->keys;
  for (uint32_t at = hash_key(policy, key, len) & keys->mask; keys->at[at] != 0; at = (at + 1) & keys->mask) {
    const exact *found = &rules->exacts[keys->at[at] - 1];
    if (found->policy == policy && laju_pattern_takes(&found->override->key, key, len)) return found->override;
  }
  return NULL;
}

/* The first of two overrides of one key stands. */
static void add_keys(laju_ruleset *rules) {
  for (size_t i = 0; i < rules->count; i++) {
    const laju_policy *policy = &rules->policies[i];
    for (size_t j = 0; j < policy->override_count; j++) {
      const laju_override *override = &policy->overrides[j];
      if (!override->key.literal || find_exact(rules, policy, override->key.text, override->key.len) != NULL) continue;
      rules->exacts[rules->exact_count] = (exact){policy, override};
      places_add(&rules->keys, hash_key(policy, override->key.text, override->key.len), rules->exact_count++);
    }
  }
}

const laju_rule *laju_ruleset_rule(const laju_ruleset *rules, const laju_policy *policy, const char *key,
                                   size_t key_len) {
  const laju_override *named = find_exact(rules, policy, key, key_len);
  if (named != NULL) return &named->rule;
  for (size_t i = 0; i < policy->override_count; i++) {
    const laju_override *override = &policy->overrides[i];
    if (!override->key.literal && laju_pattern_takes(&override->key, key, key_len)) return &override->rule;
  }
  return &policy->rule;
}

/* ---- exemptions ---- */

bool laju_policy_exempts_key(const laju_policy *policy, const char *key, size_t key_len) {
  for (size_t i = 0; i < policy->exempt_count; i++) {
    const laju_exempt *exempt = &policy->exempt[i];
    if (!exempt->is_network && laju_pattern_takes(&exempt->key, key, key_len)) return true;
  }
  return false;
}

bool laju_policy_exempts_address(const laju_policy *policy, const laju_ip *address) {
  for (size_t i = 0; i < policy->exempt_count; i++) {
    const laju_exempt *exempt = &policy->exempt[i];
    if (exempt->is_network && laju_network_has(&exempt->network, address)) return true;
  }
  return false;
}

/* ---- the set ---- */

static void free_shell(laju_ruleset *rules) {
  free(rules->names.at);
  free(rules->keys.at);
  free(rules->exacts);
  laju_selection_free(rules->selection);
  free(rules);
}

static int index_all(laju_ruleset *rules) {
  size_t overrides = 0;
  for (size_t i = 0; i < rules->count; i++) overrides += rules->policies[i].override_count;
  if (places_init(&rules->names, rules->count) < 0 || places_init(&rules->keys, overrides) < 0) return LAJU_ERR_MEMORY;
  rules->exacts = calloc(overrides + 1, sizeof *rules->exacts);
  if (rules->exacts == NULL) return LAJU_ERR_MEMORY;
  if (add_names(rules) < 0) return LAJU_ERR_NAME;
  add_keys(rules);
  return laju_selection_new(&rules->selection, rules->policies, rules->count);
}

int laju_ruleset_new(laju_ruleset **out, const laju_policy *policies, size_t count) {
  if (count > LAJU_RULES_MAX) return LAJU_ERR_MEMORY;
  laju_ruleset *rules = calloc(1, sizeof *rules + count * sizeof *policies);
  if (rules == NULL) return LAJU_ERR_MEMORY;
  rules->count = count;
  if (count > 0) memcpy(rules->policies, policies, count * sizeof *policies);
  int error = index_all(rules);
  if (error < 0) {
    free_shell(rules);
    return error;
  }
  *out = rules;
  return 0;
}

void laju_ruleset_free(laju_ruleset *rules) {
  if (rules == NULL) return;
  for (size_t i = 0; i < rules->count; i++) laju_policy_deinit(&rules->policies[i]);
  free_shell(rules);
}

size_t laju_ruleset_count(const laju_ruleset *rules) {
  return rules->count;
}

const laju_policy *laju_ruleset_at(const laju_ruleset *rules, size_t i) {
  return &rules->policies[i];
}

const laju_selection *laju_ruleset_selection(const laju_ruleset *rules) {
  return rules->selection;
}
