/* Any bytes as a configuration file: taken whole and within every range, or refused whole with one line that says where. */
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "config/config.h"
#include "config/pattern_set.h"
#include "core/rule.h"

#define NAME "fuzz.yaml"

static void must(bool what) {
  if (!what) abort();
}

static void must_be_refused_well(const laju_config *config, const char *why) {
  must(memchr(why, '\0', LAJU_WHY_SIZE) != NULL);
  must(strncmp(why, NAME ":", strlen(NAME ":")) == 0);
  for (const char *at = why; *at != '\0'; at++) must((unsigned char)*at >= ' ' && *at != 0x7f);
  must(config->rule_count == 1 && strcmp(config->rules[0].rule.name, "default") == 0); /* as it was before */
}

static void must_be_pattern(const laju_pattern *pattern) {
  must(pattern->len >= 1 && pattern->len <= LAJU_PATTERN_MAX && strlen(pattern->text) == pattern->len);
  must(pattern->literal == (memchr(pattern->text, '*', pattern->len) == NULL));
  must(laju_pattern_takes(pattern, pattern->text, pattern->len)); /* a star takes a star */
}

static void must_be_rule(const laju_rule *rule) {
  int64_t period_us = laju_rule_period_us(rule);
  must(laju_name_valid(rule->name, strlen(rule->name)));
  must(laju_algorithm_name(rule->algorithm) != NULL);
  must(period_us >= LAJU_PERIOD_MIN_US && period_us <= LAJU_PERIOD_MAX_US && rule->period <= INT64_C(1) << 20);
  must((rule->limit == 0) == (rule->capacity == 0));
}

/* The whole queue is through within a minute. */
static void must_wait_little(const laju_rule *rule) {
  must(rule->algorithm == LAJU_LEAKY_BUCKET);
  long double queue_us = (long double)rule->capacity * (long double)laju_rule_period_us(rule);
  must(rule->limit == 0 || queue_us <= 60e6L * rule->limit);
}

static void must_match(const laju_match *match) {
  must(match->host_count <= LAJU_PATTERNS_MAX && match->path_count <= LAJU_PATTERNS_MAX);
  must(match->method_count <= LAJU_METHODS_MAX);
  for (size_t i = 0; i < match->host_count; i++) {
    must_be_pattern(&match->hosts[i]);
    must(strpbrk(match->hosts[i].text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ/[]@ ") == NULL);
  }
  for (size_t i = 0; i < match->path_count; i++) {
    must_be_pattern(&match->paths[i]);
    must(match->paths[i].text[0] == '/' || match->paths[i].text[0] == '*');
  }
  for (size_t i = 0; i < match->method_count; i++) must(strlen(match->methods[i]) > 0);
}

static void must_be_key(const laju_policy *policy) {
  must(policy->part_count >= 1 && policy->part_count <= LAJU_PARTS_MAX);
  for (size_t i = 0; i < policy->part_count; i++) {
    const laju_part *part = &policy->parts[i];
    bool named = part->kind == LAJU_PART_HEADER || part->kind == LAJU_PART_COOKIE || part->kind == LAJU_PART_QUERY;
    must((strlen(part->name) > 0) == named);
  }
  must(policy->exempt_network_count <= LAJU_EXEMPT_MAX && policy->exempt_key_count <= LAJU_EXEMPT_MAX);
  for (size_t i = 0; i < policy->exempt_network_count; i++) must(policy->exempt_networks[i].prefix <= 128);
  for (size_t i = 0; i < policy->exempt_key_count; i++) must_be_pattern(&policy->exempt_keys[i]);
}

/* Each override is found by its own key, or one before it is. */
static void must_be_found(const laju_policy *policy) {
  laju_pattern_set *set;
  if (policy->override_count == 0) return;
  const laju_override *first = policy->overrides;
  must(laju_pattern_set_new(&set, &first->key, sizeof *first, policy->override_count) == 0);
  for (size_t i = 0; i < policy->override_count && i < 100; i++) {
    must(laju_pattern_set_find(set, first[i].key.text, first[i].key.len) <= i);
  }
  laju_pattern_set_free(set);
}

static void must_override(const laju_policy *policy) {
  must(policy->override_count <= LAJU_OVERRIDES_MAX);
  for (size_t i = 0; i < policy->override_count; i++) {
    const laju_override *override = &policy->overrides[i];
    must_be_pattern(&override->key);
    must_be_rule(&override->rule);
    must(override->rule.mode == policy->rule.mode && override->rule.on_store_error == policy->rule.on_store_error);
    must(override->rule.secret == policy->rule.secret && override->rule.grouped == policy->rule.grouped);
    must(strcmp(override->rule.name, policy->rule.name) == 0);
    must(override->rule.algorithm == policy->rule.algorithm && override->rule.shadow == policy->rule.shadow);
    if (policy->wait_server) must_wait_little(&override->rule);
  }
  must_be_found(policy);
}

static void must_be_store(const laju_config_store *store) {
  must(store->url.kind <= LAJU_STORE_CLUSTER);
  must(store->timeout_us >= 1000 && store->timeout_us <= 10000000);
  must(store->connect_timeout_us >= 1000 && store->connect_timeout_us <= 60000000);
  must(store->pool >= 1 && store->pool <= LAJU_CONFIG_POOL_MAX);
  must(store->max_inflight >= 1 && store->max_inflight <= LAJU_CONFIG_INFLIGHT_MAX);
  must(store->nodes <= LAJU_CONFIG_NODES_MAX);
  must(laju_plain(store->prefix, strlen(store->prefix)));
}

/* Where it is decided can decide it. */
static void must_be_decided(const laju_config_store *store, const laju_policy *policy) {
  must(policy->rule.mode == LAJU_EMBEDDED || laju_config_store_can(store, policy->rule.algorithm));
  must(policy->mode_given || (policy->rule.mode == LAJU_EXACT) == (store->url.kind != LAJU_STORE_NONE));
  must(policy->rule.grouped == (policy->group_count > 0) && policy->rule.secret == policy->secret);
}

static void must_be_good(const laju_config *config) {
  char why[LAJU_WHY_SIZE];
  must(laju_config_verify(config, why) == 0);
  must(config->workers <= LAJU_CONFIG_WORKERS_MAX);
  must(config->memory_logs_bytes > 0 && config->memory_logs_bytes < config->memory_bytes);
  must(config->trusted_count <= LAJU_CONFIG_TRUSTED_MAX);
  must(config->ip_prefix_v4 >= 1 && config->ip_prefix_v4 <= 32);
  must(config->ip_prefix_v6 >= 1 && config->ip_prefix_v6 <= 128);
  must_be_store(&config->store);
  must(config->rule_count <= LAJU_CONFIG_RULES_MAX);
  for (size_t i = 0; i < config->rule_count; i++) {
    const laju_policy *policy = &config->rules[i];
    must_be_rule(&policy->rule);
    must_be_decided(&config->store, policy);
    if (policy->wait_server) must_wait_little(&policy->rule);
    must_match(&policy->match);
    must_be_key(policy);
    must_override(policy);
  }
}

static void ignore(void *context, const char *warning) {
  (void)context;
  must(strlen(warning) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char why[LAJU_WHY_SIZE];
  laju_config config;
  laju_config_init(&config);
  must(laju_config_add_default_rule(&config) == 0);
  if (laju_config_parse(&config, NAME, (const char *)data, size, why) < 0) {
    must_be_refused_well(&config, why);
  } else {
    must_be_good(&config);
    laju_config_warn(&config, ignore, NULL);
  }
  laju_config_deinit(&config);
  return 0;
}
