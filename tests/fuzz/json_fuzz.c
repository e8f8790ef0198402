/* The JSON reader beside jansson: the same documents are accepted, but for those nested deeper than 8, and the same values
 * come out. Then what a check is made of beside the plain reading of a jansson document. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "proto/http_body.h"
#include "proto/json.h"

#define MUST(claim)        \
  do {                     \
    if (!(claim)) abort(); \
  } while (0)

static laju_terms terms;
static laju_batch *batch;

/* A copy in memory of exactly its size, or reading too far would not be seen. */
static char *copy_of(const uint8_t *bytes, size_t len) {
  char *copy = malloc(len);
  if (len > 0) memcpy(copy, bytes, len);
  return copy;
}

/* ---- the reader ---- */

static size_t depth_of(const json_t *value) {
  size_t deepest = 0, i;
  const char *name;
  json_t *inner;
  if (!json_is_object(value) && !json_is_array(value)) return 0;
  json_object_foreach((json_t *)value, name, inner) {
    if (depth_of(inner) > deepest) deepest = depth_of(inner);
  }
  json_array_foreach(value, i, inner) {
    if (depth_of(inner) > deepest) deepest = depth_of(inner);
  }
  return deepest + 1;
}

static void same_text(const laju_json *json, const char *text, size_t len) {
  MUST(json->text_len == len && memcmp(json->text, text, len) == 0);
}

static void same_number(const laju_json *json, double value) {
  char text[4096];
  if (json->text_len >= sizeof text) return;
  memcpy(text, json->text, json->text_len);
  text[json->text_len] = '\0';
  MUST(strtod(text, NULL) == value);
}

/* `kind` is the value's first token, which was read. */
static void same_value(laju_json *json, laju_json_kind kind, const json_t *value) {
  const char *name;
  json_t *inner;
  size_t i;
  switch (json_typeof(value)) {
    case JSON_OBJECT:
      MUST(kind == LAJU_JSON_OBJECT);
      json_object_foreach((json_t *)value, name, inner) {
        MUST(laju_json_next(json) == LAJU_JSON_NAME);
        same_text(json, name, strlen(name));
        same_value(json, laju_json_next(json), inner);
      }
      MUST(laju_json_next(json) == LAJU_JSON_OBJECT_END);
      break;
    case JSON_ARRAY:
      MUST(kind == LAJU_JSON_ARRAY);
      json_array_foreach(value, i, inner) same_value(json, laju_json_next(json), inner);
      MUST(laju_json_next(json) == LAJU_JSON_ARRAY_END);
      break;
    case JSON_STRING:
      MUST(kind == LAJU_JSON_STRING);
      same_text(json, json_string_value(value), json_string_length(value));
      break;
    case JSON_INTEGER: MUST(kind == LAJU_JSON_INTEGER && json->integer == json_integer_value(value)); break;
    case JSON_REAL:
      MUST(kind == LAJU_JSON_REAL);
      same_number(json, json_real_value(value));
      break;
    case JSON_TRUE: MUST(kind == LAJU_JSON_TRUE); break;
    case JSON_FALSE: MUST(kind == LAJU_JSON_FALSE); break;
    case JSON_NULL: MUST(kind == LAJU_JSON_NULL); break;
  }
}

static bool accepted(const uint8_t *bytes, size_t len) {
  char *copy = copy_of(bytes, len);
  laju_json json;
  laju_json_init(&json, copy, len);
  laju_json_kind kind;
  do {
    kind = laju_json_next(&json);
  } while (kind != LAJU_JSON_END && kind != LAJU_JSON_ERROR);
  free(copy);
  return kind == LAJU_JSON_END;
}

static void compare_reading(const uint8_t *bytes, size_t len, const json_t *unique) {
  json_t *any = json_loadb((const char *)bytes, len, 0, NULL); /* a name may come twice: the reader leaves that open */
  MUST(accepted(bytes, len) == (any != NULL && depth_of(any) <= LAJU_JSON_DEPTH_MAX));
  json_decref(any);
  if (unique == NULL || depth_of(unique) > LAJU_JSON_DEPTH_MAX) return;
  char *copy = copy_of(bytes, len);
  laju_json json;
  laju_json_init(&json, copy, len);
  same_value(&json, laju_json_next(&json), unique);
  MUST(laju_json_next(&json) == LAJU_JSON_END);
  free(copy);
}

/* ---- checks ---- */

static bool is_tokens(const json_t *value) {
  return json_is_integer(value) && json_integer_value(value) >= 0 && json_integer_value(value) <= LAJU_TOKENS_MAX;
}

static bool names_are_known(const json_t *object) {
  static const char *const known[] = {"rule", "key", "cost", "limit", "per", "algorithm", "burst"};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)object, name, value) {
    size_t i = 0;
    while (i < 7 && strcmp(known[i], name) != 0) i++;
    if (i == 7) return false;
  }
  return true;
}

static bool plain_rule(const json_t *object, laju_rule *out) {
  const json_t *limit = json_object_get(object, "limit"), *per = json_object_get(object, "per");
  const json_t *algorithm = json_object_get(object, "algorithm"), *burst = json_object_get(object, "burst");
  laju_algorithm which = LAJU_SLIDING_WINDOW_COUNTER;
  int64_t period_us;
  if (!is_tokens(limit) || !json_is_string(per)) return false;
  if (laju_duration_parse(json_string_value(per), json_string_length(per), &period_us) < 0) return false;
  if (algorithm != NULL && !json_is_string(algorithm)) return false;
  if (algorithm != NULL &&
      laju_algorithm_find(json_string_value(algorithm), json_string_length(algorithm), &which) < 0) {
    return false;
  }
  if (burst != NULL && !is_tokens(burst)) return false;
  if (burst != NULL && json_integer_value(burst) == 0 && json_integer_value(limit) != 0) return false;
  return laju_rule_init(out, "inline", 6, which, (uint64_t)json_integer_value(limit), period_us,
                        burst != NULL ? (uint64_t)json_integer_value(burst) : 0) == 0;
}

/* Is the object a check, and then is it this one? */
static bool plain_check(const json_t *object, const laju_check *check) {
  if (!json_is_object(object) || !names_are_known(object)) return false;
  const json_t *key = json_object_get(object, "key"), *cost = json_object_get(object, "cost");
  const json_t *rule = json_object_get(object, "rule");
  if (!json_is_string(key) || json_string_length(key) < 1 || json_string_length(key) > LAJU_KEY_MAX) return false;
  if (cost != NULL && !is_tokens(cost)) return false;
  laju_rule made;
  const laju_rule *found = &made;
  if (rule == NULL) {
    if (!plain_rule(object, &made)) return false;
  } else {
    if (!json_is_string(rule)) return false;
    if (json_object_size(object) != (cost != NULL ? 3U : 2U)) return false;
    const laju_policy *policy = laju_ruleset_find(terms.rules, json_string_value(rule), json_string_length(rule));
    if (policy == NULL) return false;
    found = &policy->rule;
  }
  if (check == NULL) return true;
  MUST(memcmp(check->rule, found, sizeof *found) == 0);
  MUST(check->key_len == json_string_length(key) && memcmp(check->key, json_string_value(key), check->key_len) == 0);
  MUST(check->cost == (cost != NULL ? (uint32_t)json_integer_value(cost) : found->cost));
  return true;
}

/* How many checks the list is, 0 where it is none; `checks`, where given, must be those. */
static size_t plain_list(const json_t *list, size_t max, const laju_check *checks) {
  if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > max) return 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    if (!plain_check(json_array_get(list, i), checks != NULL ? &checks[i] : NULL)) return 0;
  }
  return json_array_size(list);
}

static size_t plain_document(const json_t *document, bool batched, const laju_check *checks) {
  if (batched) return plain_list(document, LAJU_EACH_MAX, checks);
  const json_t *list = json_object_get(document, "checks");
  if (list != NULL && json_object_size(document) == 1) return plain_list(list, LAJU_CHECKS_MAX, checks);
  return plain_check(document, checks);
}

/* Whatever is refused, its problem document must be one. */
static void check_problem(const laju_problem *problem) {
  static char text[LAJU_PROBLEM_MAX];
  size_t len = laju_problem_write(problem, text);
  MUST(len <= sizeof text);
  json_t *document = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
  MUST(json_is_integer(json_object_get(document, "status")) && json_is_string(json_object_get(document, "detail")));
  MUST(json_is_string(json_object_get(document, "field")));
  json_decref(document);
}

static void compare_checks(const uint8_t *bytes, size_t len, const json_t *unique, bool batched) {
  char *copy = copy_of(bytes, len);
  laju_problem problem;
  bool is_list;
  size_t count = batched ? laju_http_read_batch(&terms, batch, copy, len, &problem)
                         : laju_http_read_check(&terms, batch, copy, len, &is_list, &problem);
  MUST(count == plain_document(unique, batched, NULL));
  if (count > 0) {
    plain_document(unique, batched, batch->checks);
  } else {
    check_problem(&problem);
  }
  free(copy);
}

static void start(void) {
  static const char *const lines[] = {"a=5/1m token-bucket burst 10", "api=100/1m cost 3"};
  laju_policy policies[2];
  laju_ruleset *set;
  char why[LAJU_TEXT_SIZE];
  for (size_t i = 0; i < 2; i++) {
    laju_rule rule;
    MUST(laju_rule_parse(&rule, lines[i], why) == 0);
    laju_policy_init(&policies[i], &rule);
  }
  MUST(laju_ruleset_new(&set, policies, 2) == 0);
  terms = (laju_terms){.rules = set, .inline_limits = true};
  batch = laju_batch_new();
  MUST(batch != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  if (terms.rules == NULL) start();
  json_t *unique = json_loadb((const char *)bytes, len, JSON_REJECT_DUPLICATES, NULL);
  compare_reading(bytes, len, unique);
  compare_checks(bytes, len, unique, false);
  compare_checks(bytes, len, unique, true);
  json_decref(unique);
  return 0;
}
