#include "limiter/ruleset.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "config/pattern_set.h"

/* Open addressing, at most half full. Rules' names come from the operator, so no secret is needed. */
typedef struct places {
  uint32_t mask; /* places - 1; a power of two */
  uint32_t *at;  /* an index + 1, or 0 */
} places;

/* What a check's key is compared with, for one policy. */
typedef struct key_sets {
  laju_pattern_set *overrides, *exempt; /* NULL where there is none */
} key_sets;

struct laju_ruleset {
  size_t count;
  places names;
  key_sets *keys; /* one for each policy */
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

const laju_policy *laju_ruleset_find(const laju_ruleset *rules, const char *name, size_t name_len) {
  if (name_len < 1 || name_len > LAJU_NAME_MAX) return NULL;
  const places *names = &rules->names;
  for (uint32_t at = hash_name(name, name_len) & names->mask; names->at[at] != 0; at = (at + 1) & names->mask) {
    const laju_policy *policy = &rules->policies[names->at[at] - 1];
    if (laju_policy_is_named(policy, name, name_len)) return policy;
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

/* ---- keys ---- */

static const key_sets *keys_of(const laju_ruleset *rules, const laju_policy *policy) {
  return &rules->keys[policy - rules->policies];
}

const laju_rule *laju_ruleset_rule(const laju_ruleset *rules, const laju_policy *policy, const char *key,
                                   size_t key_len) {
  const laju_pattern_set *overrides = keys_of(rules, policy)->overrides;
  size_t found = overrides != NULL ? laju_pattern_set_find(overrides, key, key_len) : LAJU_PATTERN_NONE;
  return found != LAJU_PATTERN_NONE ? &policy->overrides[found].rule : &policy->rule;
}

bool laju_ruleset_exempts_key(const laju_ruleset *rules, const laju_policy *policy, const char *key, size_t key_len) {
  const laju_pattern_set *exempt = keys_of(rules, policy)->exempt;
  return exempt != NULL && laju_pattern_set_find(exempt, key, key_len) != LAJU_PATTERN_NONE;
}

bool laju_policy_exempts_address(const laju_policy *policy, const laju_ip *address) {
  for (size_t i = 0; i < policy->exempt_network_count; i++) {
    if (laju_network_has(&policy->exempt_networks[i], address)) return true;
  }
  return false;
}

/* ---- the set ---- */

static void free_shell(laju_ruleset *rules) {
  for (size_t i = 0; rules->keys != NULL && i < rules->count; i++) {
    laju_pattern_set_free(rules->keys[i].overrides);
    laju_pattern_set_free(rules->keys[i].exempt);
  }
  free(rules->keys);
  free(rules->names.at);
  laju_selection_free(rules->selection);
  free(rules);
}

static int index_keys(key_sets *keys, const laju_policy *policy) {
  size_t overrides = policy->override_count, exempt = policy->exempt_key_count;
  int error = 0;
  if (overrides > 0) {
    error = laju_pattern_set_new(&keys->overrides, &policy->overrides[0].key, sizeof *policy->overrides, overrides);
  }
  if (error == 0 && exempt > 0) {
    error = laju_pattern_set_new(&keys->exempt, policy->exempt_keys, sizeof *policy->exempt_keys, exempt);
  }
  return error;
}

static int index_all(laju_ruleset *rules) {
  rules->keys = calloc(rules->count + 1, sizeof *rules->keys);
  if (rules->keys == NULL || places_init(&rules->names, rules->count) < 0) return LAJU_ERR_MEMORY;
  for (size_t i = 0; i < rules->count; i++) {
    if (index_keys(&rules->keys[i], &rules->policies[i]) < 0) return LAJU_ERR_MEMORY;
  }
  if (add_names(rules) < 0) return LAJU_ERR_NAME;
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
