#include "server/terms.h"

#include <stdlib.h>
#include <string.h>

/* What the terms own, behind const pointers: for all others they are immutable. */
static void free_all(laju_terms *terms) {
  char *password = (char *)(uintptr_t)terms->resp_password;
  if (password != NULL) explicit_bzero(password, strlen(password));
  free(password);
  char *token = (char *)(uintptr_t)terms->admin_token;
  if (token != NULL) explicit_bzero(token, strlen(token));
  free(token);
  free((void *)(uintptr_t)terms->admin_hosts);
  free((laju_network *)(uintptr_t)terms->trusted);
  laju_ruleset_free((laju_ruleset *)(uintptr_t)terms->rules);
  free(terms);
}

static int copy_password(laju_terms *terms, const laju_config *config) {
  if (config->resp_password[0] == '\0') return 0;
  terms->resp_password = strdup(config->resp_password);
  return terms->resp_password != NULL ? 0 : LAJU_ERR_MEMORY;
}

static int copy_token(laju_terms *terms, const laju_config *config) {
  if (config->admin.token[0] == '\0') return 0;
  terms->admin_token = strdup(config->admin.token);
  return terms->admin_token != NULL ? 0 : LAJU_ERR_MEMORY;
}

/* Pointers, and behind them what they point to: one piece. */
static int copy_hosts(laju_terms *terms, const laju_config *config) {
  size_t count = config->admin.host_count, size = sizeof config->admin.hosts[0];
  const char **hosts = malloc(count * (sizeof *hosts + size) + 1);
  if (hosts == NULL) return LAJU_ERR_MEMORY;
  char *texts = (char *)(hosts + count);
  for (size_t i = 0; i < count; i++) hosts[i] = memcpy(texts + i * size, config->admin.hosts[i], size);
  terms->admin_hosts = hosts;
  terms->admin_host_count = count;
  return 0;
}

static int copy_trusted(laju_terms *terms, const laju_config *config) {
  laju_network *trusted = calloc(config->trusted_count + 1, sizeof *trusted);
  if (trusted == NULL) return LAJU_ERR_MEMORY;
  memcpy(trusted, config->trusted, config->trusted_count * sizeof *trusted);
  terms->trusted = trusted;
  terms->trusted_count = config->trusted_count;
  return 0;
}

/* The set has the policies' contents from here on; of the config's list only the memory is left. */
static int take_rules(laju_terms *terms, laju_config *config) {
  laju_ruleset *rules;
  int error = laju_ruleset_new(&rules, config->rules, config->rule_count);
  if (error < 0) return error;
  terms->rules = rules;
  free(config->rules);
  config->rules = NULL;
  config->rule_count = 0;
  return 0;
}

static uint8_t exact_algorithms(const laju_config_store *store) {
  uint8_t bits = 0;
  for (int i = 0; i < LAJU_ALGORITHMS; i++) bits |= (uint8_t)(laju_config_store_can(store, (laju_algorithm)i) << i);
  return bits;
}

void laju_terms_number(laju_config *config, laju_rule_names *names) {
  for (size_t i = 0; i < config->rule_count; i++) {
    laju_policy *policy = &config->rules[i];
    uint32_t number = laju_rule_names_number(names, policy->rule.name);
    policy->rule.number = number;
    for (size_t k = 0; k < policy->override_count; k++) policy->overrides[k].rule.number = number;
  }
}

int laju_terms_new(laju_terms **out, laju_config *config) {
  laju_terms *terms = malloc(sizeof *terms);
  if (terms == NULL) return LAJU_ERR_MEMORY;
  *terms = (laju_terms){
      .inline_limits = config->inline_limits,
      .exact_algorithms = exact_algorithms(&config->store),
      .default_mode = config->store.url.kind != LAJU_STORE_NONE ? LAJU_EXACT : LAJU_EMBEDDED,
      .resp_admin = config->resp_admin,
      .show_x_ratelimit = config->show_x_ratelimit,
      .show_ratelimit = config->show_ratelimit,
      .reset_is_delta = config->reset_is_delta,
      .trust_unix = config->trust_unix,
      .ip_prefix_v4 = config->ip_prefix_v4,
      .ip_prefix_v6 = config->ip_prefix_v6,
      .admin_reveal = config->admin.reveal,
      .log_decisions = config->log.decisions,
      .log_sample = config->log.sample,
  };
  int error = copy_password(terms, config);
  if (error == 0) error = copy_token(terms, config);
  if (error == 0) error = copy_hosts(terms, config);
  if (error == 0) error = copy_trusted(terms, config);
  if (error == 0) error = take_rules(terms, config); /* last: what follows it could not fail back */
  if (error < 0) {
    free_all(terms);
    return error;
  }
  *out = terms;
  return 0;
}

void laju_terms_free(laju_terms *terms) {
  if (terms != NULL) free_all(terms);
}
