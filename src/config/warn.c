/* What a configuration may hold though it is probably not what was meant. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/duration.h"
#include "config/warn.h"
#include "core/rule.h"

#define PLACE_SIZE (LAJU_NAME_MAX + 64)

void laju_teller_warn(laju_teller *to, const char *format, ...) {
  if (to->count++ >= LAJU_CONFIG_WARNINGS_MAX) return;
  char text[LAJU_WHY_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  to->tell(to->context, text);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------- */

/* A bucket's refill is whole at each tick: where that is much of the burst, it comes in gulps. In units of a period-th of a
 * token a tick brings `limit` and the burst is capacity * period, below 2^52. */
static void warn_of_gulps(laju_teller *to, const char *place, const laju_rule *rule) {
  if (!laju_algorithm_is_bucket(rule->algorithm) || rule->limit == 0) return;
  uint64_t burst_units = (uint64_t)rule->capacity * (uint64_t)rule->period;
  if (UINT64_C(100) * rule->limit <= burst_units) return;
  char tick[24];
  laju_duration_format(tick, sizeof tick, rule->tick_us);
  uint64_t enough = (UINT64_C(100) * rule->limit + (uint64_t)rule->period - 1) / (uint64_t)rule->period;
  laju_teller_warn(to,
                   "%s: burst: each tick of %s brings more than a hundredth of the burst of %" PRIu32
                   ", so it refills in gulps; a burst of %" PRIu64 " or more refills evenly",
                   place, tick, rule->capacity, enough);
}

static void warn_of_cost(laju_teller *to, const char *place, const laju_rule *rule) {
  if (rule->cost == 0) {
    laju_teller_warn(to, "%s: cost: 0 makes every check that brings no cost of its own a peek, which is always allowed",
                     place);
  } else if (rule->cost > rule->capacity && rule->limit > 0) {
    laju_teller_warn(to, "%s: cost: %" PRIu32 " is more than can ever be taken at once (%" PRIu32 ")", place,
                     rule->cost, rule->capacity);
  }
}

/* A log doubles from 8 stamps of 8 bytes, so that one at its limit takes up to twice its stamps. */
static void warn_of_logs(laju_teller *to, const char *place, const laju_rule *rule, uint64_t logs_bytes) {
  if (rule->algorithm != LAJU_SLIDING_WINDOW_LOG || UINT64_C(16) * rule->limit <= logs_bytes) return;
  laju_teller_warn(to,
                   "%s: limit: the log of one key at its limit of %" PRIu32 " takes up to %" PRIu64
                   " bytes, and memory_logs is %" PRIu64,
                   place, rule->limit, UINT64_C(16) * rule->limit, logs_bytes);
}

/* An override is told of what it does not share with its rule. */
static void warn_of_numbers(laju_teller *to, size_t i, const laju_policy *policy, uint64_t logs_bytes) {
  char place[PLACE_SIZE];
  snprintf(place, sizeof place, "rules[%zu] (%s)", i, policy->rule.name);
  warn_of_gulps(to, place, &policy->rule);
  warn_of_cost(to, place, &policy->rule);
  warn_of_logs(to, place, &policy->rule, logs_bytes);
  for (size_t j = 0; j < policy->override_count; j++) {
    const laju_rule *rule = &policy->overrides[j].rule;
    snprintf(place, sizeof place, "rules[%zu] (%s): overrides[%zu]", i, policy->rule.name, j);
    warn_of_gulps(to, place, rule);
    if (rule->cost != 0 || policy->rule.cost != 0) warn_of_cost(to, place, rule);
    warn_of_logs(to, place, rule, logs_bytes);
  }
}

/* ---- rules together ------------------------------------------------------------------------------------------------ */

bool laju_policy_is_for_any(const laju_policy *policy) {
  const laju_match *match = &policy->match;
  bool any = match->host_count == 0 && match->path_count == 0 && match->method_count == 0;
  return any && !match->none && policy->missing != LAJU_MISSING_SKIP;
}

static void warn_of_many(laju_teller *to, const laju_config *config) {
  size_t count = 0;
  for (size_t i = 0; i < config->rule_count; i++) count += laju_policy_is_for_any(&config->rules[i]);
  if (count <= LAJU_CHECKS_MAX) return;
  laju_teller_warn(to,
                   "rules: %zu are for any request, and forward-auth refuses one that more than %d match; those that "
                   "only checks name want match: none",
                   count, LAJU_CHECKS_MAX);
}

size_t laju_config_warn(const laju_config *config, laju_config_tell tell, void *context) {
  laju_teller to = {.tell = tell, .context = context};
  laju_store_warn(&to, config);
  warn_of_many(&to, config);
  for (size_t i = 0; i < config->rule_count; i++) {
    warn_of_numbers(&to, i, &config->rules[i], config->memory_logs_bytes);
    laju_policy_warn(&to, i, &config->rules[i]);
  }
  if (to.count > LAJU_CONFIG_WARNINGS_MAX) {
    char rest[64];
    snprintf(rest, sizeof rest, "%zu more warnings are not shown", to.count - LAJU_CONFIG_WARNINGS_MAX);
    tell(context, rest);
  }
  return to.count;
}
