#include "limiter/ruleset.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

/* Open addressing over the rules' names, at most half full. Names come from the operator, so the hash needs no secret. */
struct laju_ruleset {
  size_t count;
  uint32_t mask;   /* places - 1; places is a power of two */
  uint32_t *place; /* index of a rule + 1, or 0 */
  laju_rule rules[];
};

static uint32_t hash_name(const char *name, size_t len) {
  return (uint32_t)laju_siphash(0, 0, name, len).lo;
}

static bool has_name(const laju_rule *rule, const char *name, size_t len) {
  return memcmp(rule->name, name, len) == 0 && rule->name[len] == '\0';
}

/* The place where this name stands, or the empty one where it would. */
static uint32_t find_place(const laju_ruleset *rules, const char *name, size_t len) {
  uint32_t at = hash_name(name, len) & rules->mask;
  while (rules->place[at] != 0 && !has_name(&rules->rules[rules->place[at] - 1], name, len))
    at = (at + 1) & rules->mask;
  return at;
}

int laju_ruleset_new(laju_ruleset **out, const laju_rule *rules, size_t count) {
  if (count > LAJU_RULES_MAX) return LAJU_ERR_MEMORY;
  uint32_t places = 4;
  while (places < 2 * count) places *= 2;
  laju_ruleset *set = malloc(sizeof *set + count * sizeof *rules);
  uint32_t *place = calloc(places, sizeof *place);
  if (set == NULL || place == NULL) {
    free(set);
    free(place);
    return LAJU_ERR_MEMORY;
  }
  set->count = count;
  set->mask = places - 1;
  set->place = place;
  for (size_t i = 0; i < count; i++) {
    set->rules[i] = rules[i];
    uint32_t at = find_place(set, rules[i].name, strlen(rules[i].name));
    if (place[at] != 0) {
      laju_ruleset_free(set);
      return LAJU_ERR_NAME;
    }
    place[at] = (uint32_t)i + 1;
  }
  *out = set;
  return 0;
}

void laju_ruleset_free(laju_ruleset *rules) {
  if (rules == NULL) return;
  free(rules->place);
  free(rules);
}

const laju_rule *laju_ruleset_find(const laju_ruleset *rules, const char *name, size_t name_len) {
  if (name_len < 1 || name_len > LAJU_NAME_MAX) return NULL;
  uint32_t place = rules->place[find_place(rules, name, name_len)];
  return place != 0 ? &rules->rules[place - 1] : NULL;
}

size_t laju_ruleset_count(const laju_ruleset *rules) {
  return rules->count;
}

const laju_rule *laju_ruleset_at(const laju_ruleset *rules, size_t i) {
  return &rules->rules[i];
}
