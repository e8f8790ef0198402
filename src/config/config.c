#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/mode.h"
#include "config/policy_list.h"
#include "config/setting.h"
#include "config/setting_store.h"
#include "config/setting_tls.h"

static void trust(laju_config *config, const char *network) {
  if (laju_network_parse(network, strlen(network), &config->trusted[config->trusted_count]) == 0) {
    config->trusted_count++;
  }
}

void laju_config_init(laju_config *config) {
  *config = (laju_config){
      .listen_http = "127.0.0.1:8080",
      .listen_resp = "127.0.0.1:6380",
      .listen_admin = "127.0.0.1:8082",
      .memory_bytes = UINT64_C(256) << 20,
      .memory_logs_bytes = UINT64_C(64) << 20,
      .memory_logs_percent = 25,
      .snapshot_interval_us = 10 * INT64_C(1000000),
      .inline_limits = true,
      .trust_unix = true,
      .ip_prefix_v4 = 32,
      .ip_prefix_v6 = 64,
      .show_x_ratelimit = true,
      .show_ratelimit = true,
      .log = {.sample = LAJU_CONFIG_SAMPLE_ALL},
  };
  laju_store_init(&config->store);
  laju_tls_init(&config->tls);
  trust(config, "127.0.0.0/8");
  trust(config, "::1");
}

void laju_config_deinit(laju_config *config) {
  for (size_t i = 0; i < config->rule_count; i++) laju_policy_deinit(&config->rules[i]);
  free(config->rules);
  explicit_bzero(config, sizeof *config); /* the passwords too */
}

int laju_config_set(laju_config *config, const char *key, const char *text, char why[LAJU_WHY_SIZE]) {
  char complaint[LAJU_TEXT_SIZE] = "is not a setting";
  for (size_t i = 0; i < LAJU_SETTINGS; i++) {
    if (laju_settings[i].set == NULL || laju_settings[i].kind == LAJU_SETTING_LIST) continue;
    if (strcmp(laju_settings[i].key, key) != 0) continue;
    if (laju_settings[i].set(config, text, strlen(text), complaint) < 0) break;
    laju_modes_settle(&config->store, config->rules, config->rule_count);
    return 0;
  }
  snprintf(why, LAJU_WHY_SIZE, "%s", complaint);
  return -1;
}

int laju_config_verify(const laju_config *config, char why[LAJU_WHY_SIZE]) {
  const char *key;
  size_t rule;
  char complaint[LAJU_TEXT_SIZE];
  if (laju_setting_verify(config, &key, complaint) < 0) {
    snprintf(why, LAJU_WHY_SIZE, "%s: %s", key, complaint);
    return -1;
  }
  if (laju_modes_verify(&config->store, config->rules, config->rule_count, &rule, complaint) == 0) return 0;
  snprintf(why, LAJU_WHY_SIZE, LAJU_MODE_PLACE "%s", rule, config->rules[rule].rule.name, complaint);
  return -1;
}

static int add_policy(laju_config *config, const laju_policy *policy, char why[LAJU_TEXT_SIZE]) {
  laju_policy_list list = {.policies = config->rules, .count = config->rule_count, .capacity = config->rule_count};
  int error = laju_policy_list_add(&list, policy, why);
  config->rules = list.policies; /* it may have moved, though nothing was added */
  config->rule_count = list.count;
  free(list.index);
  return error;
}

int laju_config_add_rule(laju_config *config, const char *text, char why[LAJU_WHY_SIZE]) {
  laju_rule rule;
  laju_policy policy;
  char complaint[LAJU_TEXT_SIZE];
  if (laju_rule_parse(&rule, text, complaint) == 0) {
    laju_policy_init(&policy, &rule);
    laju_modes_settle(&config->store, &policy, 1);
    if (add_policy(config, &policy, complaint) == 0) return 0;
  }
  snprintf(why, LAJU_WHY_SIZE, "%s", complaint);
  return -1;
}

int laju_config_add_default_rule(laju_config *config) {
  char why[LAJU_WHY_SIZE];
  return config->rule_count > 0 ? 0 : laju_config_add_rule(config, "default=100/1m", why);
}
