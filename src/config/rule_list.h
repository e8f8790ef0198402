/* Rules as they are gathered: a growing list in which no name stands twice, found by hash. One thread. */
#ifndef LAJU_CONFIG_RULE_LIST_H
#define LAJU_CONFIG_RULE_LIST_H

#include <laju/laju.h>

typedef struct laju_rule_list {
  laju_rule *rules; /* `count`, owned until they are taken out */
  size_t count, capacity;
  uint32_t *index; /* open addressing by name: 1 + a rule's place, 0 where free; never more than half full */
  size_t slots;    /* of the index: a power of two, or 0 */
} laju_rule_list;  /* all zeros is an empty list */

void laju_rule_list_deinit(laju_rule_list *list);

/* Adds a rule. 0, or -1 with `why` (as config/value.h has it): its name is taken or reserved, LAJU_CONFIG_RULES_MAX is
 * reached, or memory ran out. */
int laju_rule_list_add(laju_rule_list *list, const laju_rule *rule, char why[LAJU_TEXT_SIZE]);

#endif
