/* Inside laju_config_warn: what its parts share. Pure but for what is told. */
#ifndef LAJU_CONFIG_WARN_H
#define LAJU_CONFIG_WARN_H

#include "config/config.h"

typedef struct laju_teller {
  laju_config_tell tell;
  void *context;
  size_t count;
} laju_teller;

/* Tells one warning; those beyond LAJU_CONFIG_WARNINGS_MAX are only counted. */
void laju_teller_warn(laju_teller *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Warns of what the rule's match, key, exemptions and overrides can never do, or do twice. */
void laju_policy_warn(laju_teller *to, size_t i, const laju_policy *policy);

/* Warns of what is said of the shared store, and of the rules that it decides. */
void laju_store_warn(laju_teller *to, const laju_config *config);

/* Is it for every request that forward-auth asks about? */
bool laju_policy_is_for_any(const laju_policy *policy);

#endif
