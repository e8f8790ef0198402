#include "proto/http_auth.h"

#include <stdio.h>

#include "proto/target.h"

#define TARGETS \
  "X-Original-URI, X-Forwarded-Uri, X-Original-URL and what is behind /auth, if several are there, the same"
#define METHODS "X-Original-Method and X-Forwarded-Method, if both are there, the same"
#define HOSTS "X-Forwarded-Host and the host of X-Original-URL, if both are there, the same"

/* What the query of plain /auth says. */
typedef struct parameters {
  uint16_t deny; /* 0: nothing */
  const laju_policy *named[LAJU_CHECKS_MAX];
  size_t named_count;
} parameters;

/* ---- refusals; each returns false ---- */

static bool refuse(laju_problem *problem, int status, const char *field, const char *detail, const char *allowed) {
  *problem = (laju_problem){.status = status,
                            .detail = detail,
                            .list = "",
                            .index = LAJU_PROBLEM_NO_INDEX,
                            .field = {field, field != NULL ? strlen(field) : 0},
                            .allowed = allowed};
  return false;
}

static bool refuse_value(laju_problem *problem, const char *field, const char *detail, laju_slice value,
                         const char *allowed) {
  refuse(problem, 400, field, detail, allowed);
  problem->value = (laju_shown){value.at != NULL ? value.at : "", value.len};
  return false;
}

/* "header:x-user-id" */
static bool refuse_missing(laju_problem *problem, const laju_part *part) {
  static const char *const kinds[] = {"ip", "header:", "cookie:", "query:", "path", "method", "host"};
  refuse(problem, 403, NULL, "is missing, and a rule that applies needs it", NULL);
  int len = snprintf(problem->text, sizeof problem->text, "%s%s", kinds[part->kind], part->name);
  problem->field = (laju_shown){problem->text, (size_t)len};
  return false;
}

static bool refuse_origin(laju_problem *problem, int error) {
  static const char detail[] = "is told in ways that differ";
  if (error == LAJU_ORIGIN_TARGETS) return refuse(problem, 403, "target", detail, TARGETS);
  if (error == LAJU_ORIGIN_METHODS) return refuse(problem, 403, "method", detail, METHODS);
  return refuse(problem, 403, "host", detail, HOSTS);
}

static bool refuse_match(laju_problem *problem, int error, const laju_matched *matched) {
  if (error == LAJU_MATCH_DENIED) return refuse_missing(problem, matched->missing);
  if (error == LAJU_MATCH_MANY) return refuse(problem, 500, NULL, "more than 16 rules apply to this request", NULL);
  return refuse(problem, 500, NULL, "a key could not be hashed", NULL);
}

/* ---- parameters ---- */

static bool is(laju_slice text, const char *other) {
  return laju_slice_equal(text, (laju_slice){other, strlen(other)});
}

static bool read_deny(parameters *p, laju_slice value, laju_problem *problem) {
  static const char *const texts[] = {"401", "403", "429", "503"};
  static const uint16_t statuses[] = {401, 403, 429, 503};
  if (p->deny != 0) return refuse_value(problem, "deny", "is there twice", value, "once");
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (is(value, texts[i])) p->deny = statuses[i];
  }
  return p->deny != 0 || refuse_value(problem, "deny", "is out of range", value, "401, 403, 429 or 503");
}

static bool read_rule(parameters *p, const laju_terms *terms, laju_slice value, laju_problem *problem) {
  const laju_policy *policy = laju_ruleset_find(terms->rules, value.at, value.len);
  if (policy == NULL) return refuse_value(problem, "rule", "is not known", value, "the name of a rule");
  for (size_t i = 0; i < p->named_count; i++) {
    if (p->named[i] == policy) return true;
  }
  if (p->named_count == LAJU_CHECKS_MAX)
    return refuse_value(problem, "rule", "is one too many", value, "1 to 16 rules");
  p->named[p->named_count++] = policy;
  return true;
}

static bool read_parameters(parameters *p, const laju_terms *terms, laju_slice query, laju_problem *problem) {
  while (query.at != NULL) {
    laju_slice value, pair = laju_slice_cut(query, '&', &query);
    laju_slice name = laju_slice_cut(pair, '=', &value);
    if (is(name, "deny") && !read_deny(p, value, problem)) return false;
    if (is(name, "rule") && !read_rule(p, terms, value, problem)) return false;
  }
  return true;
}

/* ---- calls ---- */

bool laju_auth_read(laju_auth *out, const laju_terms *terms, const laju_peer *peer, const laju_http_head *head,
                    const char *bytes, laju_batch *batch, laju_problem *problem) {
  const laju_http_request *request = &head->request;
  laju_slice text = {bytes + request->url_at, request->url_len};
  laju_target target = laju_target_split(text);
  parameters p = {.deny = 0};
  out->untrusted = false;
  bool plain = target.path.len == sizeof LAJU_AUTH_PATH - 1;
  if (plain && !read_parameters(&p, terms, target.query, problem)) return false;

  laju_fields fields = laju_http_head_fields(head, bytes);
  const char *method = llhttp_method_name(request->method);
  laju_origin origin;
  int error = laju_origin_read(&origin, terms, peer, &fields, (laju_slice){method, strlen(method)}, text,
                               batch->scratch + LAJU_KEY_SCRATCH);
  out->untrusted = origin.untrusted;
  if (error < 0) return refuse_origin(problem, error);

  laju_asker asker = {
      .origin = &origin, .fields = &fields, .prefix_v4 = terms->ip_prefix_v4, .prefix_v6 = terms->ip_prefix_v6};
  error = laju_match_request(&out->matched, terms, &asker, p.named, p.named_count, batch);
  if (error < 0) return refuse_match(problem, error, &out->matched);
  out->deny = p.deny != 0 ? p.deny : 429;
  return true;
}
