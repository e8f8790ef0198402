#include "config/mode.h"

#include <stdio.h>

#include "config/value.h"

bool laju_config_store_can(const laju_config_store *store, laju_algorithm algorithm) {
  if (store->url.kind == LAJU_STORE_NONE) return false;
  bool counters = algorithm == LAJU_FIXED_WINDOW || algorithm == LAJU_SLIDING_WINDOW_COUNTER;
  return !store->transaction || counters;
}

void laju_modes_settle(const laju_config_store *store, laju_policy *policies, size_t count) {
  for (size_t i = 0; i < count; i++) {
    laju_policy *policy = &policies[i];
    if (policy->mode_given) continue;
    policy->rule.mode = store->url.kind != LAJU_STORE_NONE ? LAJU_EXACT : LAJU_EMBEDDED;
    for (size_t j = 0; j < policy->override_count; j++) laju_rule_follow(&policy->overrides[j].rule, &policy->rule);
  }
}

int laju_modes_verify(const laju_config_store *store, const laju_policy *policies, size_t count, size_t *blamed,
                      char why[LAJU_TEXT_SIZE]) {
  for (size_t i = 0; i < count; i++) {
    const laju_rule *rule = &policies[i].rule;
    if (rule->mode != LAJU_EXACT || laju_config_store_can(store, rule->algorithm)) continue;
    *blamed = i;
    if (store->url.kind == LAJU_STORE_NONE) {
      return laju_complain(why, NULL, 0, "exact needs a store", NULL, "embedded, or exact with store: {redis: URL}");
    }
    char problem[128];
    snprintf(problem, sizeof problem, "exact %s cannot be decided with atomicity: transaction",
             laju_algorithm_name(rule->algorithm));
    return laju_complain(why, NULL, 0, problem, NULL,
                         "embedded, algorithm fixed-window or sliding-window-counter, or atomicity: script");
  }
  return 0;
}
