/* What `core` knows of rules beyond the public header. Pure; any thread. */
#ifndef LAJU_CORE_RULE_H
#define LAJU_CORE_RULE_H

#include <laju/laju.h>

#define LAJU_TICK_MAX_US INT64_C(100000000)

/* Do these algorithms keep `used, last` and take a burst? */
static inline bool laju_algorithm_is_bucket(laju_algorithm algorithm) {
  return algorithm == LAJU_TOKEN_BUCKET || algorithm == LAJU_LEAKY_BUCKET;
}

/* [A-Za-z0-9_.-]{1,64} */
bool laju_name_valid(const char *name, size_t len);

/* The rule's period in microseconds. */
static inline int64_t laju_rule_period_us(const laju_rule *rule) {
  return rule->period * rule->tick_us;
}

#endif
