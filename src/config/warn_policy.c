/* What a policy may say though it can never happen, or happens anyway. */
#include <string.h>

#include "config/pattern_set.h"
#include "config/value.h"
#include "config/warn.h"

#define CROWD_MAX 100 /* patterns tried one by one: some microseconds a check */
#define WHERE "rules[%zu] (%s): "

/* ---- match --------------------------------------------------------------------------------------------------------- */

static bool holds(const laju_pattern *pattern, const char *text) {
  return memmem(pattern->text, pattern->len, text, strlen(text)) != NULL;
}

static bool ends_in(const laju_pattern *pattern, const char *text) {
  size_t len = strlen(text);
  return pattern->len >= len && memcmp(pattern->text + pattern->len - len, text, len) == 0;
}

static bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool holds_escape(const laju_pattern *pattern) {
  for (size_t i = 0; i + 2 < pattern->len; i++) {
    if (pattern->text[i] == '%' && is_hex(pattern->text[i + 1]) && is_hex(pattern->text[i + 2])) return true;
  }
  return false;
}

/* Why a path as it is compared is never, or hardly ever, such as this pattern asks for. NULL: it may be. */
static const char *why_unlike(const laju_pattern *path) {
  if (holds(path, "?") || holds(path, "#")) return "without the query";
  if (holds_escape(path)) return "after percent-decoding";
  bool dots = holds(path, "/./") || holds(path, "/../") || ends_in(path, "/.") || ends_in(path, "/..");
  return dots || holds(path, "//") ? "without empty and dot segments" : NULL;
}

static void warn_of_paths(laju_teller *to, size_t i, const laju_policy *policy) {
  for (size_t j = 0; j < policy->match.path_count; j++) {
    const laju_pattern *path = &policy->match.paths[j];
    const char *why = why_unlike(path);
    if (why == NULL) continue;
    char shown[LAJU_SHOWN_SIZE];
    laju_text_show(shown, path->text, path->len);
    laju_teller_warn(to, WHERE "match.path[%zu]: \"%s\" can hardly match: paths are compared %s", i, policy->rule.name,
                     j, shown, why);
  }
}

/* Of two patterns that stand for either the second is idle where the first takes all that it takes: it then takes the
 * second's own text, for only a star can stand for a star. */
static void warn_of_idle(laju_teller *to, size_t i, const laju_policy *policy, const char *key,
                         const laju_pattern *patterns, size_t count) {
  for (size_t j = 1; j < count; j++) {
    for (size_t k = 0; k < j; k++) {
      if (!laju_pattern_takes(&patterns[k], patterns[j].text, patterns[j].len)) continue;
      char shown[LAJU_SHOWN_SIZE], by[LAJU_SHOWN_SIZE];
      laju_text_show(shown, patterns[j].text, patterns[j].len);
      laju_text_show(by, patterns[k].text, patterns[k].len);
      laju_teller_warn(to, WHERE "match.%s[%zu]: \"%s\" adds nothing to \"%s\"", i, policy->rule.name, key, j, shown,
                       by);
      break;
    }
  }
}

static void warn_of_methods(laju_teller *to, size_t i, const laju_policy *policy) {
  const laju_match *match = &policy->match;
  for (size_t j = 0; j < match->method_count; j++) {
    if (strpbrk(match->methods[j], "abcdefghijklmnopqrstuvwxyz") != NULL) {
      laju_teller_warn(to, WHERE "match.method[%zu]: \"%s\" has small letters, and methods are case-sensitive", i,
                       policy->rule.name, j, match->methods[j]);
    }
    for (size_t k = 0; k < j; k++) {
      if (strcmp(match->methods[j], match->methods[k]) != 0) continue;
      laju_teller_warn(to, WHERE "match.method[%zu]: \"%s\" stands there twice", i, policy->rule.name, j,
                       match->methods[j]);
      break;
    }
  }
}

/* ---- key ----------------------------------------------------------------------------------------------------------- */

static bool may_be_missing(const laju_part *part) {
  return part->kind != LAJU_PART_IP && part->kind != LAJU_PART_PATH && part->kind != LAJU_PART_METHOD;
}

static void warn_of_parts(laju_teller *to, size_t i, const laju_policy *policy) {
  bool missing = policy->missing == LAJU_MISSING_IP;
  for (size_t j = 0; j < policy->part_count; j++) {
    const laju_part *part = &policy->parts[j];
    missing = missing || may_be_missing(part);
    for (size_t k = 0; k < j; k++) {
      if (part->kind != policy->parts[k].kind || strcmp(part->name, policy->parts[k].name) != 0) continue;
      laju_teller_warn(to, WHERE "key[%zu]: is the same as key[%zu]", i, policy->rule.name, j, k);
      break;
    }
  }
  if (!missing) laju_teller_warn(to, WHERE "missing: no part of this key is ever missing", i, policy->rule.name);
}

/* ---- exempt and overrides ------------------------------------------------------------------------------------------ */

/* Warns where so many patterns can only be tried one by one that each check is slow: looking for idle ones among them would
 * be as slow. */
static bool is_crowded(laju_teller *to, size_t i, const laju_policy *policy, const char *key,
                       const laju_pattern_set *set) {
  size_t crowd = laju_pattern_set_crowd(set);
  if (crowd <= CROWD_MAX) return false;
  laju_teller_warn(to, WHERE "%s: %zu patterns that begin and end alike, or with *, are tried one by one", i,
                   policy->rule.name, key, crowd);
  return true;
}

static void warn_of_exempt(laju_teller *to, size_t i, const laju_policy *policy) {
  laju_pattern_set *set;
  size_t count = policy->exempt_key_count;
  if (count < 2 || laju_pattern_set_new(&set, policy->exempt_keys, sizeof *policy->exempt_keys, count) < 0) return;
  bool crowded = is_crowded(to, i, policy, "exempt", set);
  for (size_t j = 0; j < count && !crowded; j++) {
    const laju_pattern *key = &policy->exempt_keys[j];
    size_t found = laju_pattern_set_find(set, key->text, key->len);
    if (found == j) continue;
    char shown[LAJU_SHOWN_SIZE], by[LAJU_SHOWN_SIZE];
    laju_text_show(shown, key->text, key->len);
    laju_text_show(by, policy->exempt_keys[found].text, policy->exempt_keys[found].len);
    laju_teller_warn(to, WHERE "exempt: \"key:%s\" adds nothing to \"key:%s\"", i, policy->rule.name, shown, by);
  }
  laju_pattern_set_free(set);
}

static void warn_of_unreached(laju_teller *to, size_t i, const laju_policy *policy, const laju_pattern_set *set) {
  for (size_t j = 0; j < policy->override_count; j++) {
    const laju_pattern *key = &policy->overrides[j].key;
    size_t found = laju_pattern_set_find(set, key->text, key->len);
    if (found == j) continue;
    char shown[LAJU_SHOWN_SIZE], by[LAJU_SHOWN_SIZE];
    laju_text_show(shown, key->text, key->len);
    laju_text_show(by, policy->overrides[found].key.text, policy->overrides[found].key.len);
    laju_teller_warn(to, WHERE "overrides[%zu].key: \"%s\" is never reached: overrides[%zu] (\"%s\") comes first", i,
                     policy->rule.name, j, shown, found, by);
  }
}

static void warn_of_overrides(laju_teller *to, size_t i, const laju_policy *policy) {
  laju_pattern_set *set;
  size_t count = policy->override_count;
  if (count < 2) return;
  if (laju_pattern_set_new(&set, &policy->overrides[0].key, sizeof *policy->overrides, count) < 0) return;
  if (!is_crowded(to, i, policy, "overrides", set)) warn_of_unreached(to, i, policy, set);
  laju_pattern_set_free(set);
}

void laju_policy_warn(laju_teller *to, size_t i, const laju_policy *policy) {
  const laju_match *match = &policy->match;
  warn_of_idle(to, i, policy, "host", match->hosts, match->host_count);
  warn_of_idle(to, i, policy, "path", match->paths, match->path_count);
  warn_of_paths(to, i, policy);
  warn_of_methods(to, i, policy);
  warn_of_parts(to, i, policy);
  warn_of_exempt(to, i, policy);
  warn_of_overrides(to, i, policy);
  if (policy->wait_server && policy->rule.shadow) {
    laju_teller_warn(to, WHERE "wait: a rule in shadow holds no answer back", i, policy->rule.name);
  }
}
