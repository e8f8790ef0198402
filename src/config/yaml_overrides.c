#include "config/yaml_overrides.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/policy_text.h"
#include "config/value.h"
#include "core/rule.h"

#define EXAMPLE "{key: partner-7, limit: 1000}"
#define FIRST_CAPACITY 4

enum { KEY, LIMIT, PER, BURST, COST, KEYS };
static const char *const words[KEYS] = {"key", "limit", "per", "burst", "cost"};

struct laju_override_draft {
  laju_pattern key;
  laju_rule_draft rule; /* of limit, per, burst and cost, those that were given */
  yaml_mark_t at[KEYS]; /* where to point for each */
};

void laju_override_drafts_deinit(laju_override_drafts *drafts) {
  for (size_t j = 0; j < drafts->count; j++) free(drafts->drafts[j].key.text);
  free(drafts->drafts);
  *drafts = (laju_override_drafts){0};
}

static void path_of(char path[LAJU_READER_PATH_SIZE], size_t i, size_t j, const char *word) {
  snprintf(path, LAJU_READER_PATH_SIZE, "rules[%zu].overrides[%zu].%s", i, j, word);
}

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static laju_rule_field field_of(int key) {
  static const laju_rule_field fields[KEYS] = {
      [LIMIT] = LAJU_FIELD_LIMIT, [PER] = LAJU_FIELD_PER, [BURST] = LAJU_FIELD_BURST, [COST] = LAJU_FIELD_COST};
  return fields[key];
}

static int take_key(void *draft, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_pattern_read(&((laju_override_draft *)draft)->key, text, len, why);
}

typedef struct field_to {
  laju_rule_draft *draft;
  laju_rule_field field;
} field_to;

static int take_field(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  const field_to *field = to;
  return laju_rule_draft_set(field->draft, field->field, text, len, why) < 0 ? -1 : 0;
}

static int read_value(laju_reader *reader, int key, const char *path, laju_override_draft *draft) {
  if (key == KEY) return laju_reader_value(reader, path, false, take_key, draft);
  field_to to = {&draft->rule, field_of(key)};
  return laju_reader_value(reader, path, key != PER, take_field, &to);
}

static int complain_missing(laju_reader *reader, const laju_mapping *mapping, int key) {
  return laju_reader_fail(
      reader, mapping->at, "%s%s: is missing; allowed: %s", mapping->prefix, words[key],
      key == KEY ? "a key, or a pattern in which * takes any run" : laju_error_allowed(LAJU_ERR_LIMIT));
}

/* Fills a draft that is in the list already, so that what it owns is freed with it. */
static int read_override(laju_reader *reader, size_t i, size_t j, laju_override_draft *draft) {
  char prefix[LAJU_READER_PATH_SIZE], path[LAJU_READER_PATH_SIZE];
  path_of(prefix, i, j, "");
  laju_mapping mapping = {.prefix = prefix, .words = words, .count = KEYS, .example = EXAMPLE};
  if (laju_mapping_begin(reader, &mapping) < 0) return -1;
  int key;
  while ((key = laju_mapping_next(reader, &mapping)) != LAJU_MAPPING_END) {
    if (key < 0) return -1;
    path_of(path, i, j, words[key]);
    if (read_value(reader, key, path, draft) < 0) return -1;
  }
  for (int needed = KEY; needed <= LIMIT; needed++) {
    if (!laju_mapping_has(&mapping, (size_t)needed)) return complain_missing(reader, &mapping, needed);
  }
  for (size_t k = 0; k < KEYS; k++) draft->at[k] = laju_mapping_mark(&mapping, k);
  return 0;
}

static laju_override_draft *add_draft(laju_override_drafts *drafts) {
  if (drafts->count == drafts->capacity) {
    size_t capacity = drafts->capacity > 0 ? 2 * drafts->capacity : FIRST_CAPACITY;
    laju_override_draft *grown = realloc(drafts->drafts, capacity * sizeof *grown);
    if (grown == NULL) return NULL;
    drafts->drafts = grown;
    drafts->capacity = capacity;
  }
  laju_override_draft *draft = &drafts->drafts[drafts->count++];
  *draft = (laju_override_draft){0};
  return draft;
}

int laju_override_drafts_read(laju_reader *reader, size_t i, laju_override_drafts *drafts) {
  const yaml_event_t *event = &reader->event;
  if (event->type != YAML_SEQUENCE_START_EVENT) {
    return laju_reader_fail(reader, event->start_mark, "rules[%zu].overrides: is not a list; allowed: [" EXAMPLE "]",
                            i);
  }
  for (size_t j = 0;; j++) {
    if (laju_reader_next(reader) < 0) return -1;
    if (event->type == YAML_SEQUENCE_END_EVENT) return 0;
    if (j == LAJU_OVERRIDES_MAX) {
      return laju_reader_fail(reader, event->start_mark, "rules[%zu].overrides[%zu]: too many; allowed: at most 10000",
                              i, j);
    }
    laju_override_draft *draft = add_draft(drafts);
    if (draft == NULL) return laju_reader_fail(reader, event->start_mark, "memory ran out");
    if (read_override(reader, i, j, draft) < 0) return -1;
  }
}

/* ---- making -------------------------------------------------------------------------------------------------------- */

static bool has(const laju_override_draft *draft, int key) {
  return laju_rule_draft_has(&draft->rule, field_of(key));
}

/* The rule's draft with what the override says in its place. A burst that is not said follows the override's limit. */
static laju_rule_draft merge(const laju_rule_draft *rule, const laju_override_draft *override) {
  laju_rule_draft merged = *rule;
  merged.limit = override->rule.limit;
  merged.burst = override->rule.burst;
  merged.given &= ~(1U << LAJU_FIELD_BURST);
  if (has(override, BURST)) merged.given |= 1U << LAJU_FIELD_BURST;
  if (has(override, PER)) merged.period_us = override->rule.period_us;
  if (has(override, COST)) merged.cost = override->rule.cost;
  return merged;
}

static int fail_override(laju_reader *reader, size_t i, size_t j, const laju_override_draft *draft,
                         laju_rule_field field, const char *complaint) {
  int key = LIMIT;
  while (key < COST && field_of(key) != field) key++;
  char path[LAJU_READER_PATH_SIZE];
  path_of(path, i, j, words[key]);
  return laju_reader_fail(reader, draft->at[key], "%s: %s", path, complaint);
}

static int finish_override(laju_reader *reader, size_t i, size_t j, laju_override_draft *draft,
                           const laju_rule_draft *rule, laju_policy *policy) {
  char complaint[LAJU_TEXT_SIZE];
  laju_rule_field field = LAJU_FIELD_LIMIT;
  laju_override made;
  laju_rule_draft merged = merge(rule, draft);
  if (laju_rule_draft_finish(&merged, &made.rule, &field, complaint) < 0) {
    return fail_override(reader, i, j, draft, field, complaint);
  }
  if (policy->wait_server && laju_policy_wait_verify(&made.rule, complaint) < 0) {
    return fail_override(reader, i, j, draft, LAJU_FIELD_LIMIT, complaint);
  }
  laju_rule_follow(&made.rule, &policy->rule);
  made.key = draft->key;
  draft->key = (laju_pattern){0}; /* the policy's now */
  policy->overrides[policy->override_count++] = made;
  return 0;
}

int laju_override_drafts_finish(laju_reader *reader, size_t i, laju_override_drafts *drafts,
                                const laju_rule_draft *rule, laju_policy *policy) {
  if (drafts->count == 0) return 0;
  policy->overrides = calloc(drafts->count, sizeof *policy->overrides);
  if (policy->overrides == NULL) return laju_reader_fail(reader, drafts->drafts[0].at[KEY], "memory ran out");
  for (size_t j = 0; j < drafts->count; j++) {
    if (finish_override(reader, i, j, &drafts->drafts[j], rule, policy) < 0) return -1;
  }
  return 0;
}
