#include "server/terms.h"

#include <stdlib.h>
#include <string.h>

static int make_rules(laju_ruleset **out, const laju_config *config) {
  laju_policy *policies = calloc(config->rule_count + 1, sizeof *policies);
  if (policies == NULL) return LAJU_ERR_MEMORY;
  for (size_t i = 0; i < config->rule_count; i++) laju_policy_init(&policies[i], &config->rules[i]);
  int error = laju_ruleset_new(out, policies, config->rule_count);
  free(policies);
  return error;
}

int laju_terms_new(laju_terms **out, const laju_config *config) {
  bool locked = config->resp_password[0] != 0;
  laju_terms *terms = malloc(sizeof *terms);
  char *password = locked ? strdup(config->resp_password) : NULL;
  laju_ruleset *rules;
  int error = terms == NULL || (locked && password == NULL) ? LAJU_ERR_MEMORY : make_rules(&rules, config);
  if (error < 0) {
    free(password);
    free(terms);
    return error;
  }
  *terms = (laju_terms){
      .rules = rules,
      .inline_limits = config->inline_limits,
      .resp_admin = config->resp_admin,
      .resp_password = password,
      .show_x_ratelimit = true,
      .show_ratelimit = true,
      .trust_unix = true,
      .ip_prefix_v4 = 32,
      .ip_prefix_v6 = 64,
  };
  *out = terms;
  return 0;
}

void laju_terms_free(laju_terms *terms) {
  if (terms == NULL) return;
  char *password = (char *)(uintptr_t)terms->resp_password;
  if (password != NULL) explicit_bzero(password, strlen(password));
  free(password);
  laju_ruleset_free((laju_ruleset *)(uintptr_t)terms->rules);
  free(terms);
}
