/* From a configuration to the terms that doors work by (proto/service.h). One thread at a time. */
#ifndef LAJU_SERVER_TERMS_H
#define LAJU_SERVER_TERMS_H

#include "config/config.h"
#include "proto/service.h"

/* Makes the terms of a configuration: everything of it that a reload may change. Its rules are taken over: `config` has none
 * afterwards, keeps its settings, and may go. LAJU_ERR_MEMORY, LAJU_ERR_NAME; `config` is then as it was. */
int laju_terms_new(laju_terms **out, laju_config *config);

/* Gives the rules of a configuration the numbers that their decisions are counted under: before laju_terms_new. */
void laju_terms_number(laju_config *config, laju_rule_names *names);

/* Nobody may be using them any more. NULL is allowed. */
void laju_terms_free(laju_terms *terms);

#endif
