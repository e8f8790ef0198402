#include "config/policy_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "config/config.h"
#include "config/value.h"

#define FIRST_CAPACITY 16

/* The slot where the name stands, or the free one where it would. */
static uint32_t *slot_of(const laju_policy_list *list, const char *name) {
  size_t at = laju_siphash(0, 0, name, strlen(name)).lo & (list->slots - 1);
  while (list->index[at] != 0 && strcmp(list->policies[list->index[at] - 1].rule.name, name) != 0)
    at = (at + 1) & (list->slots - 1);
  return &list->index[at];
}

/* Room for one policy more, in the list and in its index. */
static int grow(laju_policy_list *list) {
  if (list->count < list->capacity && list->slots > 0) return 0;
  size_t capacity = list->count < FIRST_CAPACITY ? FIRST_CAPACITY : 2 * list->count;
  size_t slots = FIRST_CAPACITY;
  while (slots < 2 * capacity) slots *= 2;
  uint32_t *index = calloc(slots, sizeof *index);
  laju_policy *policies = index != NULL ? realloc(list->policies, capacity * sizeof *policies) : NULL;
  if (policies == NULL) {
    free(index);
    return -1;
  }
  free(list->index);
  list->policies = policies;
  list->capacity = capacity;
  list->index = index;
  list->slots = slots;
  for (size_t i = 0; i < list->count; i++) *slot_of(list, policies[i].rule.name) = (uint32_t)i + 1;
  return 0;
}

void laju_policy_list_deinit(laju_policy_list *list) {
  for (size_t i = 0; i < list->count; i++) laju_policy_deinit(&list->policies[i]);
  free(list->policies);
  free(list->index);
  *list = (laju_policy_list){0};
}

/* The doors keep state of their own under these names: a rule would share it. */
static bool is_reserved(const char *name) {
  return strcmp(name, "inline") == 0 || strcmp(name, "cl.throttle") == 0;
}

int laju_policy_list_add(laju_policy_list *list, const laju_policy *policy, char why[LAJU_TEXT_SIZE]) {
  const char *name = policy->rule.name;
  if (is_reserved(name)) {
    return laju_complain(why, name, strlen(name), "is reserved", NULL, "any name but inline and cl.throttle");
  }
  if (list->count >= LAJU_CONFIG_RULES_MAX) return laju_complain(why, NULL, 0, "too many rules", NULL, "at most 10000");
  if (grow(list) < 0) {
    snprintf(why, LAJU_TEXT_SIZE, "memory ran out");
    return -1;
  }
  uint32_t *slot = slot_of(list, name);
  if (*slot != 0) {
    char problem[64];
    snprintf(problem, sizeof problem, "is the name of rules[%u] already", *slot - 1);
    return laju_complain(why, name, strlen(name), problem, NULL, "each name once");
  }
  list->policies[list->count++] = *policy;
  *slot = (uint32_t)list->count;
  return 0;
}
