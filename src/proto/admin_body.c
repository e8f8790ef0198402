#include "proto/admin_body.h"

#include "base/duration.h"
#include "core/rule.h"
#include "proto/admin.h"
#include "proto/json.h"

enum { LIMIT, BURST, EXPIRES_IN, TOKEN, MEMBERS };
#define BIT(member) (1u << (member))

static const struct {
  const char *name, *allowed;
  laju_json_kind kind;
} members[MEMBERS] = {
    [LIMIT] = {"limit", "a whole number from 0 to 4294967295", LAJU_JSON_INTEGER},
    [BURST] = {"burst", "a whole number from 1 to 4294967295", LAJU_JSON_INTEGER},
    [EXPIRES_IN] = {"expires_in", "1s to 30d", LAJU_JSON_STRING},
    [TOKEN] = {"token", "a string", LAJU_JSON_STRING},
};

typedef struct reader {
  laju_json json;
  laju_problem *problem;
  unsigned takes, seen;
  int64_t number[MEMBERS];
  laju_slice text[MEMBERS];
} reader;

static bool refuse(reader *r, const char *detail, laju_shown field, const char *allowed) {
  *r->problem = (laju_problem){
      .status = 400, .detail = detail, .list = "", .index = LAJU_PROBLEM_NO_INDEX, .field = field, .allowed = allowed};
  return false;
}

static bool refuse_member(reader *r, int which, const char *detail) {
  const char *name = members[which].name;
  return refuse(r, detail, (laju_shown){name, strlen(name)}, members[which].allowed);
}

/* The same where it has a value, which is shown as it was written if that is short. */
static bool refuse_value(reader *r, int which, const char *detail) {
  refuse_member(r, which, detail);
  laju_shown shown = {r->text[which].at, r->text[which].len};
  bool literal = members[which].kind == LAJU_JSON_INTEGER && shown.len <= LAJU_PROBLEM_SHOWN;
  *(literal ? &r->problem->literal : &r->problem->value) = shown;
  return false;
}

static bool refuse_shape(reader *r, laju_json_kind kind, const char *detail, const char *allowed) {
  if (kind != LAJU_JSON_ERROR) return refuse(r, detail, (laju_shown){"body", 4}, allowed);
  refuse(r, r->json.error, (laju_shown){"body", 4}, NULL);
  r->problem->at_byte = (size_t)(r->json.at - r->json.begin) + 1;
  return false;
}

static int find(const reader *r) {
  laju_slice name = {r->json.text, r->json.text_len};
  for (int which = 0; which < MEMBERS; which++) {
    if (laju_slice_equal(name, (laju_slice){members[which].name, strlen(members[which].name)})) return which;
  }
  return MEMBERS;
}

static bool read_member(reader *r, const char *allowed) {
  int which = find(r);
  if (which == MEMBERS || (r->takes & BIT(which)) == 0) {
    return refuse(r, "is not known", (laju_shown){r->json.text, r->json.text_len}, allowed);
  }
  if ((r->seen & BIT(which)) != 0) return refuse_member(r, which, "is given twice");
  laju_json_kind kind = laju_json_next(&r->json);
  if (kind == LAJU_JSON_ERROR) return refuse_shape(r, kind, NULL, NULL);
  if (kind != members[which].kind) return refuse_member(r, which, "is of the wrong type");
  r->seen |= BIT(which);
  r->number[which] = r->json.integer;
  r->text[which] = (laju_slice){r->json.text, r->json.text_len};
  return true;
}

/* An object of these members, of which the first `needs` must be there. */
static bool read_object(reader *r, char *body, size_t len, unsigned needs, const char *allowed) {
  laju_json_init(&r->json, body, len);
  laju_json_kind kind = laju_json_next(&r->json);
  if (kind != LAJU_JSON_OBJECT) return refuse_shape(r, kind, "is of the wrong type", "an object");
  while ((kind = laju_json_next(&r->json)) == LAJU_JSON_NAME) {
    if (!read_member(r, allowed)) return false;
  }
  if (kind == LAJU_JSON_OBJECT_END) kind = laju_json_next(&r->json);
  if (kind != LAJU_JSON_END) return refuse_shape(r, kind, "is of the wrong type", "an object");
  for (int which = 0; which < MEMBERS; which++) {
    if ((needs & ~r->seen & BIT(which)) != 0) return refuse_member(r, which, "is missing");
  }
  return true;
}

static bool in_range(int64_t number, int64_t min) {
  return number >= min && number <= (int64_t)LAJU_TOKENS_MAX;
}

/* The rule must be one that the law can decide by with these numbers. */
static bool fits(reader *r, const laju_rule *rule, uint64_t burst) {
  laju_rule made;
  int error = laju_rule_init(&made, rule->name, strlen(rule->name), rule->algorithm, (uint64_t)r->number[LIMIT],
                             laju_rule_period_us(rule), burst);
  if (error == 0) return true;
  const char *name = laju_error_field(error);
  return refuse(r, "is not for a rule of this algorithm", (laju_shown){name, strlen(name)}, laju_error_allowed(error));
}

bool laju_admin_read_override(laju_new_override *out, const laju_rule *rule, char *body, size_t len,
                              laju_problem *problem) {
  reader r = {.problem = problem, .takes = BIT(LIMIT) | BIT(BURST) | BIT(EXPIRES_IN)};
  if (!read_object(&r, body, len, BIT(LIMIT) | BIT(EXPIRES_IN), "limit, burst, expires_in")) return false;
  bool has_burst = (r.seen & BIT(BURST)) != 0;
  if (!in_range(r.number[LIMIT], 0)) return refuse_value(&r, LIMIT, "is out of range");
  if (has_burst && !in_range(r.number[BURST], 1)) return refuse_value(&r, BURST, "is out of range");
  int64_t expires_in_us;
  laju_slice text = r.text[EXPIRES_IN];
  if (laju_duration_parse(text.at, text.len, &expires_in_us) < 0) {
    return refuse_value(&r, EXPIRES_IN, "cannot be read");
  }
  if (expires_in_us < LAJU_OVERRIDE_MIN_US || expires_in_us > LAJU_OVERRIDE_MAX_US) {
    return refuse_value(&r, EXPIRES_IN, "is out of range");
  }
  uint64_t burst = has_burst ? (uint64_t)r.number[BURST] : 0;
  if (!fits(&r, rule, burst)) return false;
  out->limit = (uint32_t)r.number[LIMIT];
  out->burst = has_burst ? (uint32_t)burst : out->limit;
  out->expires_in_us = expires_in_us;
  return true;
}

bool laju_admin_read_token(laju_slice *out, char *body, size_t len, laju_problem *problem) {
  reader r = {.problem = problem, .takes = BIT(TOKEN)};
  if (!read_object(&r, body, len, BIT(TOKEN), "token")) return false;
  *out = r.text[TOKEN];
  return true;
}
