/* The list of rules in YAML. One thread. */
#ifndef LAJU_CONFIG_YAML_RULES_H
#define LAJU_CONFIG_YAML_RULES_H

#include "config/policy_list.h"
#include "config/reader.h"

/* Reads the list at which the reader stands into `rules`, which keeps what was read before a complaint too. */
int laju_rules_read(laju_reader *reader, laju_policy_list *rules);

#endif
