#include "proto/http_body.h"

#include <string.h>

#include "base/duration.h"
#include "proto/json.h"
#include "proto/resolve.h"

#define MEMBERS_ALLOWED "rule and key, perhaps cost; or instead of rule: limit and per, perhaps algorithm and burst"

typedef enum member { RULE, KEY, COST, LIMIT, PER, ALGORITHM, BURST, MEMBERS } member;

#define BIT(member) (1U << (member))
#define INLINE_MEMBERS (BIT(LIMIT) | BIT(PER) | BIT(ALGORITHM) | BIT(BURST))
#define NUMBERS (BIT(COST) | BIT(LIMIT) | BIT(BURST))

static const struct {
  const char *name;
  size_t len;
  const char *allowed;
} members[MEMBERS] = {
    [RULE] = {"rule", 4, "the name of a rule of the configuration"},
    [KEY] = {"key", 3, "a string of 1 to 1024 bytes"},
    [COST] = {"cost", 4, "a whole number from 0 to 4294967295"},
    [LIMIT] = {"limit", 5, "a whole number from 0 to 4294967295 (sliding-window-log: to 65536)"},
    [PER] = {"per", 3, "1ms to 366d: " LAJU_DURATION_ALLOWED},
    [ALGORITHM] = {"algorithm", 9,
                   "token-bucket, leaky-bucket, fixed-window, sliding-window-counter or sliding-window-log"},
    [BURST] = {"burst", 5, "a whole number from 1 to 4294967295, for token-bucket and leaky-bucket only"},
};

/* What one check's object holds; only what `seen` has a bit for is set. */
typedef struct values {
  unsigned seen;
  const char *text[MEMBERS];
  size_t len[MEMBERS];
  int64_t number[MEMBERS];
} values;

typedef struct reader {
  laju_json json;
  const laju_terms *terms;
  laju_batch *batch;
  laju_problem *problem;
  const char *list; /* the list that is being read: "checks" or "" */
  size_t index;     /* of the check in it, or LAJU_PROBLEM_NO_INDEX */
} reader;

/* ---- refusals; each returns false ---- */

static bool refuse(reader *r, const char *detail, laju_shown field, const char *allowed) {
  *r->problem = (laju_problem){
      .status = 400, .detail = detail, .list = r->list, .index = r->index, .field = field, .allowed = allowed};
  return false;
}

static bool refuse_member(reader *r, const char *detail, member which) {
  return refuse(r, detail, (laju_shown){members[which].name, members[which].len}, members[which].allowed);
}

/* The same where the member has a value, which is shown as it was written if that is short. */
static bool refuse_value(reader *r, const char *detail, member which, const values *v) {
  refuse_member(r, detail, which);
  laju_shown shown = {v->text[which], v->len[which]};
  bool literal = (NUMBERS & BIT(which)) != 0 && shown.len <= LAJU_PROBLEM_SHOWN;
  *(literal ? &r->problem->literal : &r->problem->value) = shown;
  return false;
}

/* A token that is of another type than the member. */
static bool refuse_type(reader *r, laju_json_kind kind, member which) {
  refuse_member(r, "is of the wrong type", which);
  laju_shown shown = {r->json.text, r->json.text_len};
  if (kind == LAJU_JSON_OBJECT) shown = (laju_shown){"{...}", 5};
  if (kind == LAJU_JSON_ARRAY) shown = (laju_shown){"[...]", 5};
  bool literal = kind >= LAJU_JSON_INTEGER && shown.len <= LAJU_PROBLEM_SHOWN;
  *(literal ? &r->problem->literal : &r->problem->value) = shown;
  return false;
}

static bool refuse_syntax(reader *r) {
  r->list = "";
  r->index = LAJU_PROBLEM_NO_INDEX;
  refuse(r, r->json.error, (laju_shown){"body", 4}, "JSON in UTF-8, nested at most 8 deep, each member once");
  r->problem->at_byte = (size_t)(r->json.at - r->json.begin) + 1;
  return false;
}

/* What stands where something else must. */
static bool refuse_shape(reader *r, laju_json_kind kind, const char *field, const char *allowed) {
  if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
  return refuse(r, "is of the wrong type", (laju_shown){field, strlen(field)}, allowed);
}

/* ---- one check ---- */

static member find_member(const char *name, size_t len) {
  for (member m = 0; m < MEMBERS; m++) {
    if (members[m].len == len && members[m].name[0] == name[0] && memcmp(members[m].name, name, len) == 0) return m;
  }
  return MEMBERS;
}

static bool read_value(reader *r, member which, values *v) {
  laju_json_kind kind = laju_json_next(&r->json);
  if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
  bool is_number = (NUMBERS & BIT(which)) != 0;
  if (kind != (is_number ? LAJU_JSON_INTEGER : LAJU_JSON_STRING)) return refuse_type(r, kind, which);
  v->text[which] = r->json.text;
  v->len[which] = r->json.text_len;
  v->number[which] = r->json.integer;
  if (is_number && (r->json.integer < 0 || r->json.integer > LAJU_TOKENS_MAX)) {
    return refuse_value(r, "is out of range", which, v);
  }
  return true;
}

/* The member whose name was just read, and its value. */
static bool read_member(reader *r, values *v) {
  member which = find_member(r->json.text, r->json.text_len);
  if (which == MEMBERS) {
    return refuse(r, "is not a member of a check", (laju_shown){r->json.text, r->json.text_len}, MEMBERS_ALLOWED);
  }
  if ((v->seen & BIT(which)) != 0) return refuse_member(r, "is there twice", which);
  v->seen |= BIT(which);
  return read_value(r, which, v);
}

static bool refuse_rule(reader *r, int error, const values *v, int64_t period_us) {
  member which = error == LAJU_ERR_LIMIT ? LIMIT : error == LAJU_ERR_BURST ? BURST : PER;
  if (error != LAJU_ERR_PERIOD_TICK) return refuse_value(r, "is out of range", which, v);
  static const char nearest[] = "a period that a tick divides; the nearest is ";
  refuse_value(r, "cannot be held exactly", which, v);
  char *text = r->problem->text;
  memcpy(text, nearest, sizeof nearest);
  laju_duration_format(text + sizeof nearest - 1, sizeof r->problem->text - sizeof nearest,
                       laju_period_nearest(period_us));
  r->problem->allowed = text;
  return false;
}

/* An algorithm that the store cannot decide. */
static bool refuse_mode(reader *r, const values *v) {
  static const char detail[] = "cannot be decided by the shared store without scripts";
  if ((v->seen & BIT(ALGORITHM)) != 0) {
    refuse_value(r, detail, ALGORITHM, v);
  } else {
    refuse_member(r, detail, ALGORITHM);
  }
  r->problem->allowed = "fixed-window or sliding-window-counter";
  return false;
}

/* The rule that a check brings with it. */
static bool make_rule(reader *r, const values *v, laju_rule *out) {
  if (!r->terms->inline_limits) {
    refuse(r, "comes with the check, which this server does not take", (laju_shown){"limit", 5}, members[RULE].allowed);
    r->problem->status = 403;
    return false;
  }
  if ((v->seen & BIT(LIMIT)) == 0) return refuse_member(r, "is missing", LIMIT);
  if ((v->seen & BIT(PER)) == 0) return refuse_member(r, "is missing", PER);
  int64_t period_us;
  if (laju_duration_parse(v->text[PER], v->len[PER], &period_us) < 0) {
    return refuse_value(r, "cannot be read", PER, v);
  }
  laju_algorithm algorithm = LAJU_SLIDING_WINDOW_COUNTER;
  if ((v->seen & BIT(ALGORITHM)) != 0 && laju_algorithm_find(v->text[ALGORITHM], v->len[ALGORITHM], &algorithm) < 0) {
    return refuse_value(r, "is not known", ALGORITHM, v);
  }
  int64_t burst = 0;
  if ((v->seen & BIT(BURST)) != 0) {
    burst = v->number[BURST];
    if (burst == 0 && v->number[LIMIT] != 0) return refuse_value(r, "is out of range", BURST, v);
  }
  int error = laju_rule_init(out, LAJU_INLINE_RULE, sizeof LAJU_INLINE_RULE - 1, algorithm, (uint64_t)v->number[LIMIT],
                             period_us, (uint64_t)burst);
  if (error < 0) return refuse_rule(r, error, v, period_us);
  return laju_terms_place(r->terms, out) || refuse_mode(r, v);
}

/* The rule that decides the check, and what it costs then. */
static const laju_rule *find_rule(reader *r, const values *v, size_t at, uint32_t *cost) {
  unsigned brought = v->seen & INLINE_MEMBERS;
  if ((v->seen & BIT(RULE)) == 0) {
    if (brought != 0) return make_rule(r, v, &r->batch->rules[at]) ? &r->batch->rules[at] : NULL;
    refuse(r, "is missing", (laju_shown){members[RULE].name, members[RULE].len}, MEMBERS_ALLOWED);
    return NULL;
  }
  if (brought != 0) {
    member which = (member)__builtin_ctz(brought);
    refuse(r, "does not go with rule", (laju_shown){members[which].name, members[which].len}, MEMBERS_ALLOWED);
    return NULL;
  }
  const laju_policy *policy = laju_ruleset_find(r->terms->rules, v->text[RULE], v->len[RULE]);
  if (policy == NULL) {
    refuse_value(r, "is not known", RULE, v);
    return NULL;
  }
  const uint32_t said = *cost;
  const uint32_t *has_said = (v->seen & BIT(COST)) != 0 ? &said : NULL;
  const laju_rule *rule = laju_ruleset_resolve(r->terms->rules, policy, v->text[KEY], v->len[KEY], has_said, cost);
  return laju_terms_override(r->terms, rule, v->text[KEY], v->len[KEY], &r->batch->rules[at]);
}

/* An object whose members are all read, into the check at `at`. */
static bool make_check(reader *r, const values *v, size_t at) {
  if ((v->seen & BIT(KEY)) == 0) return refuse_member(r, "is missing", KEY);
  if (v->len[KEY] < 1 || v->len[KEY] > LAJU_KEY_MAX) {
    return refuse_value(r, v->len[KEY] < 1 ? "is empty" : "is too long", KEY, v);
  }
  uint32_t cost = (v->seen & BIT(COST)) != 0 ? (uint32_t)v->number[COST] : 1;
  const laju_rule *rule = find_rule(r, v, at, &cost);
  if (rule == NULL) return false;
  r->batch->checks[at] = (laju_check){
      .rule = rule,
      .key = v->text[KEY],
      .key_len = (uint32_t)v->len[KEY],
      .cost = cost,
  };
  if (rule->grouped) r->batch->groups[at] = (laju_slice){NULL, 0}; /* a request of a client's is all that makes one */
  return true;
}

/* The members that are left of an object, then its check. */
static bool read_object(reader *r, values *v, size_t at) {
  for (;;) {
    laju_json_kind kind = laju_json_next(&r->json);
    if (kind == LAJU_JSON_OBJECT_END) return make_check(r, v, at);
    if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
    if (!read_member(r, v)) return false;
  }
}

/* ---- documents ---- */

static void begin(reader *r, const laju_terms *terms, laju_batch *batch, char *body, size_t len,
                  laju_problem *problem) {
  *r = (reader){.terms = terms, .batch = batch, .problem = problem, .list = "", .index = LAJU_PROBLEM_NO_INDEX};
  laju_json_init(&r->json, body, len);
}

static bool ended(reader *r) {
  return laju_json_next(&r->json) == LAJU_JSON_END || refuse_syntax(r);
}

/* Behind the opening bracket: 1 to `max` checks. Returns how many, or 0. */
static size_t read_list(reader *r, size_t max, const char *field, const char *allowed) {
  for (size_t count = 0;; count++) {
    laju_json_kind kind = laju_json_next(&r->json);
    if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
    r->index = LAJU_PROBLEM_NO_INDEX;
    if (kind == LAJU_JSON_ARRAY_END && count > 0) return count;
    if (kind == LAJU_JSON_ARRAY_END || count == max) {
      return refuse(r, count == 0 ? "is empty" : "is too long", (laju_shown){field, strlen(field)}, allowed);
    }
    r->index = count;
    if (kind != LAJU_JSON_OBJECT) return refuse(r, "is of the wrong type", (laju_shown){"", 0}, "an object: a check");
    values v = {.seen = 0};
    if (!read_object(r, &v, r->batch->check_count + count)) return 0;
  }
}

/* {"checks": and what follows. */
static size_t read_checks(reader *r) {
  static const char allowed[] = "a list of 1 to 16 checks";
  laju_json_kind kind = laju_json_next(&r->json);
  if (kind != LAJU_JSON_ARRAY) return refuse_shape(r, kind, "checks", allowed);
  r->list = "checks";
  size_t count = read_list(r, LAJU_CHECKS_MAX, "checks", allowed);
  if (count == 0) return 0;
  kind = laju_json_next(&r->json);
  if (kind == LAJU_JSON_OBJECT_END) return count;
  if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
  return refuse(r, "does not go with checks", (laju_shown){r->json.text, r->json.text_len}, "checks alone");
}

/* An object that is one check, of which the token behind the opening brace is read. */
static size_t read_single(reader *r, laju_json_kind kind) {
  if (kind == LAJU_JSON_ERROR) return refuse_syntax(r);
  size_t at = r->batch->check_count;
  values v = {.seen = 0};
  if (kind == LAJU_JSON_OBJECT_END) return make_check(r, &v, at);
  return read_member(r, &v) && read_object(r, &v, at);
}

size_t laju_http_read_check(const laju_terms *terms, laju_batch *batch, char *body, size_t len, bool *is_list,
                            laju_problem *problem) {
  reader r;
  begin(&r, terms, batch, body, len, problem);
  laju_json_kind kind = laju_json_next(&r.json);
  if (kind != LAJU_JSON_OBJECT) return refuse_shape(&r, kind, "body", "an object: a check, or checks with a list");
  kind = laju_json_next(&r.json);
  *is_list = kind == LAJU_JSON_NAME && r.json.text_len == 6 && memcmp(r.json.text, "checks", 6) == 0;
  size_t count = *is_list ? read_checks(&r) : read_single(&r, kind);
  return count > 0 && ended(&r) ? count : 0;
}

size_t laju_http_read_batch(const laju_terms *terms, laju_batch *batch, char *body, size_t len, laju_problem *problem) {
  static const char allowed[] = "a list of 1 to 1000 checks";
  reader r;
  begin(&r, terms, batch, body, len, problem);
  laju_json_kind kind = laju_json_next(&r.json);
  if (kind != LAJU_JSON_ARRAY) return refuse_shape(&r, kind, "body", allowed);
  size_t count = read_list(&r, LAJU_EACH_MAX, "body", allowed);
  return count > 0 && ended(&r) ? count : 0;
}
