#include "config/yaml_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "config/policy_text.h"
#include "config/rule_draft.h"
#include "config/value.h"
#include "config/yaml_overrides.h"

#define EXAMPLE "{name: api, limit: 100, per: 1m}"
#define MATCH_EXAMPLE "none, or a mapping of host, path and method"
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The fields of laju_rule_field come first. */
enum {
  MATCH = LAJU_RULE_FIELDS,
  KEY,
  MISSING,
  SECRET,
  SHADOW,
  WAIT,
  MODE,
  ON_STORE_ERROR,
  GROUP,
  EXEMPT,
  OVERRIDES,
  KEYS
};
static const char *const words[KEYS] = {
    LAJU_RULE_FIELD_NAMES, "match", "key",    "missing",  "secret", "shadow", "wait", "mode",
    "on_store_error",      "group", "exempt", "overrides"};
_Static_assert(KEYS <= LAJU_MAPPING_KEYS_MAX, "each key of a rule has its place in a mapping");

/* One rule while it is read. */
typedef struct rule_reading {
  laju_reader *reader;
  size_t i; /* its place in the list */
  char prefix[LAJU_READER_PATH_SIZE];
  laju_mapping mapping;
  laju_rule_draft draft;
  laju_rule_field field; /* that take_field sets */
  laju_policy policy;    /* its rule holds what is no number of it, until the draft is finished */
  laju_override_drafts overrides;
} rule_reading;

/* ---- single values ------------------------------------------------------------------------------------------------- */

static int take_field(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  rule_reading *rule = to;
  return laju_rule_draft_set(&rule->draft, rule->field, text, len, why) < 0 ? -1 : 0;
}

static int take_secret(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &((rule_reading *)to)->policy.secret, why);
}

static int take_shadow(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  return laju_value_bool(text, len, &((rule_reading *)to)->policy.rule.shadow, why);
}

static int take_wait(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const allowed[] = {"server"};
  size_t found;
  if (laju_value_word(text, len, allowed, COUNT(allowed), &found, why) < 0) return -1;
  ((rule_reading *)to)->policy.wait_server = true;
  return 0;
}

static int take_match_word(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const none = "none";
  if (len != strlen(none) || memcmp(text, none, len) != 0) {
    return laju_complain(why, text, len, "is not a match", laju_nearest(text, len, &none, 1), MATCH_EXAMPLE);
  }
  ((rule_reading *)to)->policy.match.none = true;
  return 0;
}

/* ---- lists and mappings -------------------------------------------------------------------------------------------- */

/* A list that must hold something: where nothing is meant, its key is left out. */
static int read_some(laju_reader *reader, const char *path, laju_reader_take take, laju_policy *policy) {
  yaml_mark_t at = reader->event.start_mark;
  int count = laju_reader_values(reader, path, take, policy);
  if (count == 0) return laju_reader_fail(reader, at, "%s: is an empty list; leave it out for its default", path);
  return count < 0 ? -1 : 0;
}

static int read_match(rule_reading *rule, const char *path) {
  static const char *const match_words[] = {"host", "path", "method"};
  static const laju_reader_take takes[] = {laju_policy_add_host, laju_policy_add_path, laju_policy_add_method};
  laju_reader *reader = rule->reader;
  if (reader->event.type == YAML_SCALAR_EVENT) return laju_reader_value(reader, path, false, take_match_word, rule);
  char prefix[LAJU_READER_PATH_SIZE], item[LAJU_READER_PATH_SIZE];
  snprintf(prefix, sizeof prefix, "rules[%zu].match.", rule->i);
  laju_mapping mapping = {.prefix = prefix, .words = match_words, .count = 3, .example = MATCH_EXAMPLE};
  if (laju_mapping_begin(reader, &mapping) < 0) return -1;
  int key;
  while ((key = laju_mapping_next(reader, &mapping)) != LAJU_MAPPING_END) {
    if (key < 0) return -1;
    snprintf(item, sizeof item, "rules[%zu].match.%s", rule->i, match_words[key]);
    if (read_some(reader, item, takes[key], &rule->policy) < 0) return -1;
  }
  return 0;
}

static int read_key(rule_reading *rule, const char *path) {
  rule->policy.part_count = 0; /* what is said stands in the default's place */
  return read_some(rule->reader, path, laju_policy_add_part, &rule->policy);
}

static int read_field(rule_reading *rule, int key, const char *path) {
  rule->field = (laju_rule_field)key;
  bool plain = rule->field == LAJU_FIELD_LIMIT || rule->field == LAJU_FIELD_BURST || rule->field == LAJU_FIELD_COST;
  return laju_reader_value(rule->reader, path, plain, take_field, rule);
}

static int read_member(rule_reading *rule, int key) {
  laju_reader *reader = rule->reader;
  char path[LAJU_READER_PATH_SIZE];
  snprintf(path, sizeof path, "rules[%zu].%s", rule->i, words[key]);
  switch (key) {
    case MATCH: return read_match(rule, path);
    case KEY: return read_key(rule, path);
    case MISSING: return laju_reader_value(reader, path, false, laju_policy_set_missing, &rule->policy);
    case SECRET: return laju_reader_value(reader, path, true, take_secret, rule);
    case SHADOW: return laju_reader_value(reader, path, true, take_shadow, rule);
    case WAIT: return laju_reader_value(reader, path, false, take_wait, rule);
    case MODE: return laju_reader_value(reader, path, false, laju_policy_set_mode, &rule->policy);
    case ON_STORE_ERROR: return laju_reader_value(reader, path, false, laju_policy_set_on_store_error, &rule->policy);
    case GROUP: return read_some(reader, path, laju_policy_add_group_part, &rule->policy);
    case EXEMPT: return laju_reader_values(reader, path, laju_policy_add_exempt, &rule->policy);
    case OVERRIDES: return laju_override_drafts_read(reader, rule->i, &rule->overrides);
    default: return read_field(rule, key, path);
  }
}

/* ---- the rule ------------------------------------------------------------------------------------------------------ */

static int fail_at(const rule_reading *rule, int key, const char *complaint) {
  yaml_mark_t at = laju_mapping_mark(&rule->mapping, (size_t)key);
  return laju_reader_fail(rule->reader, at, "rules[%zu].%s: %s", rule->i, words[key], complaint);
}

/* The rule is complete: what remains are faults between its members, and with other rules. */
static int finish(rule_reading *rule, laju_policy_list *rules) {
  laju_policy *policy = &rule->policy;
  laju_rule_field field = LAJU_FIELD_NAME;
  char complaint[LAJU_TEXT_SIZE];
  laju_rule made;
  if (laju_rule_draft_finish(&rule->draft, &made, &field, complaint) < 0) {
    /* A member that seems to be missing may stand behind, indented wrongly: then that is the fault. */
    bool missing = !laju_mapping_has(&rule->mapping, (size_t)field);
    if (missing && laju_reader_next(rule->reader) < 0) return -1;
    return fail_at(rule, (int)field, complaint);
  }
  policy->rule.secret = policy->secret;
  policy->rule.grouped = policy->group_count > 0;
  policy->rule.veils = laju_policy_veils(policy);
  laju_rule_follow(&made, &policy->rule);
  policy->rule = made;
  yaml_mark_t at = laju_mapping_mark(&rule->mapping, MODE);
  policy->line = (uint32_t)at.line;
  policy->column = (uint32_t)at.column;
  if (policy->wait_server && laju_policy_wait_verify(&policy->rule, complaint) < 0) {
    return fail_at(rule, WAIT, complaint);
  }
  if (laju_override_drafts_finish(rule->reader, rule->i, &rule->overrides, &rule->draft, policy) < 0) return -1;
  return laju_policy_list_add(rules, policy, complaint) < 0 ? fail_at(rule, LAJU_FIELD_NAME, complaint) : 0;
}

static int read_members(rule_reading *rule) {
  if (laju_mapping_begin(rule->reader, &rule->mapping) < 0) return -1;
  int key;
  while ((key = laju_mapping_next(rule->reader, &rule->mapping)) != LAJU_MAPPING_END) {
    if (key < 0 || read_member(rule, key) < 0) return -1;
  }
  return 0;
}

static int read_rule(laju_reader *reader, size_t i, laju_policy_list *rules) {
  rule_reading rule = {.reader = reader, .i = i};
  snprintf(rule.prefix, sizeof rule.prefix, "rules[%zu].", i);
  rule.mapping = (laju_mapping){.prefix = rule.prefix, .words = words, .count = KEYS, .example = EXAMPLE};
  laju_rule_draft_init(&rule.draft);
  laju_policy_init(&rule.policy, &(laju_rule){0});
  int error = read_members(&rule);
  if (error == 0) error = finish(&rule, rules);
  if (error < 0) laju_policy_deinit(&rule.policy);
  laju_override_drafts_deinit(&rule.overrides);
  return error;
}

int laju_rules_read(laju_reader *reader, laju_policy_list *rules) {
  if (reader->event.type != YAML_SEQUENCE_START_EVENT) {
    return laju_reader_fail(reader, reader->event.start_mark, "rules: is not a list; allowed: - " EXAMPLE);
  }
  for (size_t i = 0;; i++) {
    if (laju_reader_next(reader) < 0) return -1;
    if (reader->event.type == YAML_SEQUENCE_END_EVENT) return 0;
    if (read_rule(reader, i, rules) < 0) return -1;
  }
}
