/* Any bytes as a configuration file: taken whole and within every range, or refused whole with one line that says where. */
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
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

static void must_be_good(const laju_config *config) {
  char why[LAJU_WHY_SIZE];
  must(laju_config_verify(config, why) == 0);
  must(config->workers <= LAJU_CONFIG_WORKERS_MAX);
  must(config->memory_logs_bytes > 0 && config->memory_logs_bytes < config->memory_bytes);
  must(config->rule_count <= LAJU_CONFIG_RULES_MAX);
  for (size_t i = 0; i < config->rule_count; i++) {
    const laju_rule *rule = &config->rules[i].rule;
    int64_t period_us = laju_rule_period_us(rule);
    must(laju_name_valid(rule->name, strlen(rule->name)));
    must(laju_algorithm_name(rule->algorithm) != NULL);
    must(period_us >= LAJU_PERIOD_MIN_US && period_us <= LAJU_PERIOD_MAX_US && rule->period <= INT64_C(1) << 20);
    must((rule->limit == 0) == (rule->capacity == 0));
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
