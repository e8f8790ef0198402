#include "config/rule_draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "config/synonym.h"
#include "config/value.h"
#include "core/rule.h"

const char *const laju_rule_field_names[LAJU_RULE_FIELDS] = {LAJU_RULE_FIELD_NAMES};

static const int field_errors[LAJU_RULE_FIELDS] = {
    [LAJU_FIELD_NAME] = LAJU_ERR_NAME,   [LAJU_FIELD_ALGORITHM] = LAJU_ERR_ALGORITHM,
    [LAJU_FIELD_LIMIT] = LAJU_ERR_LIMIT, [LAJU_FIELD_PER] = LAJU_ERR_PERIOD,
    [LAJU_FIELD_BURST] = LAJU_ERR_BURST, [LAJU_FIELD_COST] = LAJU_ERR_COST,
};

void laju_rule_draft_init(laju_rule_draft *draft) {
  *draft = (laju_rule_draft){.algorithm = LAJU_SLIDING_WINDOW_COUNTER, .cost = 1};
}

static int set_name(laju_rule_draft *draft, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (!laju_name_valid(text, len)) {
    return laju_complain(why, text, len, "is not a name", NULL, laju_error_allowed(LAJU_ERR_NAME));
  }
  memcpy(draft->name, text, len);
  draft->name_len = len;
  return 0;
}

static int set_algorithm(laju_rule_draft *draft, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (laju_algorithm_find(text, len, &draft->algorithm) == 0) return 0;
  const char *names[LAJU_ALGORITHMS];
  for (int i = 0; i < LAJU_ALGORITHMS; i++) names[i] = laju_algorithm_name((laju_algorithm)i);
  const char *hint = laju_guess(text, len, names, LAJU_ALGORITHMS);
  return laju_complain(why, text, len, "is not an algorithm", hint, laju_error_allowed(LAJU_ERR_ALGORITHM));
}

static int read_field(laju_rule_draft *draft, laju_rule_field field, const char *text, size_t len,
                      char why[LAJU_TEXT_SIZE]) {
  const char *allowed = laju_error_allowed(field_errors[field]);
  switch (field) {
    case LAJU_FIELD_NAME: return set_name(draft, text, len, why);
    case LAJU_FIELD_ALGORITHM: return set_algorithm(draft, text, len, why);
    case LAJU_FIELD_LIMIT: return laju_value_count(text, len, LAJU_TOKENS_MAX, allowed, &draft->limit, why);
    case LAJU_FIELD_BURST: return laju_value_count(text, len, LAJU_TOKENS_MAX, allowed, &draft->burst, why);
    case LAJU_FIELD_COST: return laju_value_count(text, len, LAJU_TOKENS_MAX, allowed, &draft->cost, why);
    case LAJU_FIELD_PER: break;
  }
  return laju_value_duration(text, len, LAJU_PERIOD_MIN_US, LAJU_PERIOD_MAX_US, allowed, &draft->period_us, why);
}

int laju_rule_draft_set(laju_rule_draft *draft, laju_rule_field field, const char *text, size_t len,
                        char why[LAJU_TEXT_SIZE]) {
  if (read_field(draft, field, text, len, why) < 0) return field_errors[field];
  draft->given |= 1U << field;
  return 0;
}

static int complain_missing(const laju_rule_draft *draft, laju_rule_field *field, char why[LAJU_TEXT_SIZE]) {
  static const laju_rule_field needed[] = {LAJU_FIELD_NAME, LAJU_FIELD_LIMIT, LAJU_FIELD_PER};
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    if (laju_rule_draft_has(draft, needed[i])) continue;
    *field = needed[i];
    laju_complain(why, NULL, 0, "is missing", NULL, laju_error_allowed(field_errors[*field]));
    return field_errors[*field];
  }
  return 0;
}

static int complain_tick(const laju_rule_draft *draft, char why[LAJU_TEXT_SIZE]) {
  char given[24], nearest[24];
  size_t len = laju_duration_format(given, sizeof given, draft->period_us);
  laju_duration_format(nearest, sizeof nearest, laju_period_nearest(draft->period_us));
  laju_complain(why, given, len,
                "is divided by no tick (a power of ten of us, up to 100s, at most 1048576 in a period)", nearest,
                "1ms to 366d");
  return LAJU_ERR_PERIOD_TICK;
}

static int complain_burst(const laju_rule_draft *draft, char why[LAJU_TEXT_SIZE]) {
  if (!laju_algorithm_is_bucket(draft->algorithm)) {
    char problem[96];
    snprintf(problem, sizeof problem, "is not for %s", laju_algorithm_name(draft->algorithm));
    laju_complain(why, NULL, 0, problem, NULL, "with token-bucket and leaky-bucket only");
  } else {
    laju_complain(why, "0", 1, "would refuse everything", NULL, laju_error_allowed(LAJU_ERR_BURST));
  }
  return LAJU_ERR_BURST;
}

int laju_rule_draft_finish(const laju_rule_draft *draft, laju_rule *out, laju_rule_field *field,
                           char why[LAJU_TEXT_SIZE]) {
  int error = complain_missing(draft, field, why);
  if (error < 0) return error;
  bool bucket = laju_algorithm_is_bucket(draft->algorithm);
  if (laju_rule_draft_has(draft, LAJU_FIELD_BURST) && (!bucket || (draft->burst == 0 && draft->limit > 0))) {
    *field = LAJU_FIELD_BURST;
    return complain_burst(draft, why);
  }
  laju_rule rule;
  error = laju_rule_init(&rule, draft->name, draft->name_len, draft->algorithm, draft->limit, draft->period_us,
                         draft->burst);
  if (error == LAJU_ERR_PERIOD_TICK) {
    *field = LAJU_FIELD_PER;
    return complain_tick(draft, why);
  }
  if (error < 0) { /* each field is within its own range: a log's limit is what is left */
    char limit[24];
    int len = snprintf(limit, sizeof limit, "%" PRIu64, draft->limit);
    *field = LAJU_FIELD_LIMIT;
    laju_complain(why, limit, (size_t)len, "is too many for a sliding-window-log", NULL, "0 to 65536");
    return error;
  }
  rule.cost = (uint32_t)draft->cost;
  *out = rule;
  return 0;
}
