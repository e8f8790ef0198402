/* A rule's `overrides` in YAML. They may stand before what they differ from, so they are gathered as drafts and made into
 * rules once the rule itself is known. One thread. */
#ifndef LAJU_CONFIG_YAML_OVERRIDES_H
#define LAJU_CONFIG_YAML_OVERRIDES_H

#include "config/reader.h"
#include "config/rule_draft.h"

typedef struct laju_override_draft laju_override_draft;

typedef struct laju_override_drafts {
  laju_override_draft *drafts; /* `count`, owned, with the keys that they own */
  size_t count, capacity;
} laju_override_drafts; /* all zeros is none */

void laju_override_drafts_deinit(laju_override_drafts *drafts);

/* Reads the list of rules[i].overrides, at which the reader stands. */
int laju_override_drafts_read(laju_reader *reader, size_t i, laju_override_drafts *drafts);

/* Makes the overrides of `policy`, whose rule and `wait` are known; `rule` is the draft that the rule was made from.
 * The policy owns them from then on. -1 after a complaint. */
int laju_override_drafts_finish(laju_reader *reader, size_t i, laju_override_drafts *drafts,
                                const laju_rule_draft *rule, laju_policy *policy);

#endif
