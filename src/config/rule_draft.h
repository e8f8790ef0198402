/* A rule while its fields are being read, from YAML or from a line of text: each field is checked as it comes, what depends
 * on several at the end. Complaints are those of config/value.h: without the field's name. Pure; any thread. */
#ifndef LAJU_CONFIG_RULE_DRAFT_H
#define LAJU_CONFIG_RULE_DRAFT_H

#include <laju/laju.h>

typedef enum laju_rule_field {
  LAJU_FIELD_NAME,
  LAJU_FIELD_ALGORITHM,
  LAJU_FIELD_LIMIT,
  LAJU_FIELD_PER,
  LAJU_FIELD_BURST,
  LAJU_FIELD_COST,
} laju_rule_field;

#define LAJU_RULE_FIELDS 6

/* Their names in YAML, in the order of laju_rule_field. */
#define LAJU_RULE_FIELD_NAMES "name", "algorithm", "limit", "per", "burst", "cost"
extern const char *const laju_rule_field_names[LAJU_RULE_FIELDS];

typedef struct laju_rule_draft {
  uint64_t limit, burst, cost;
  int64_t period_us;
  size_t name_len;
  unsigned given; /* a bit for each field that was set */
  laju_algorithm algorithm;
  char name[LAJU_NAME_MAX];
} laju_rule_draft;

void laju_rule_draft_init(laju_rule_draft *draft);

static inline bool laju_rule_draft_has(const laju_rule_draft *draft, laju_rule_field field) {
  return (draft->given >> field & 1) != 0;
}

/* Reads one field. 0 or LAJU_ERR_* with `why`. Setting a field again replaces it: the caller refuses repeats. */
int laju_rule_draft_set(laju_rule_draft *draft, laju_rule_field field, const char *text, size_t len,
                        char why[LAJU_TEXT_SIZE]);

/* Makes the rule. LAJU_ERR_* with `why`, and `*field` is the one to blame (which may be one that was not given). */
int laju_rule_draft_finish(const laju_rule_draft *draft, laju_rule *out, laju_rule_field *field,
                           char why[LAJU_TEXT_SIZE]);

#endif
