/* Policies as they are gathered: a growing list in which no rule's name stands twice, found by hash. One thread. */
#ifndef LAJU_CONFIG_POLICY_LIST_H
#define LAJU_CONFIG_POLICY_LIST_H

#include "config/policy.h"

typedef struct laju_policy_list {
  laju_policy *policies; /* `count`, owned until they are taken out */
  size_t count, capacity;
  uint32_t *index;  /* open addressing by name: 1 + a policy's place, 0 where free; never more than half full */
  size_t slots;     /* of the index: a power of two, or 0 */
} laju_policy_list; /* all zeros is an empty list */

void laju_policy_list_deinit(laju_policy_list *list);

/* Adds a policy and takes over what it owns. 0, or -1 with `why` (as config/value.h has it), and it stays the caller's: its
 * name is taken or reserved, LAJU_CONFIG_RULES_MAX is reached, or memory ran out. */
int laju_policy_list_add(laju_policy_list *list, const laju_policy *policy, char why[LAJU_TEXT_SIZE]);

#endif
