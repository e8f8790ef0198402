/* Which rules the shared store decides: those that say so, and where there is a store all that do not say. Pure. */
#ifndef LAJU_CONFIG_MODE_H
#define LAJU_CONFIG_MODE_H

#include "config/config.h"

/* Gives the rules, and their overrides, that do not say their mode the default one. */
void laju_modes_settle(const laju_config_store *store, laju_policy *policies, size_t count);

/* The start of a message about it: the rule's place and its name. */
#define LAJU_MODE_PLACE "rules[%zu].mode (%s): "

/* Can the store decide the rules that are exact? 0, or -1 with `why` as config/value.h has it, and `*blamed` is the rule. */
int laju_modes_verify(const laju_config_store *store, const laju_policy *policies, size_t count, size_t *blamed,
                      char why[LAJU_TEXT_SIZE]);

#endif
