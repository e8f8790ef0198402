#include "proto/admin_request.h"

#include "proto/admin.h"
#include "proto/query.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const laju_admin_route routes[] = {
    {LAJU_ADMIN_METRICS, "/metrics", "GET, HEAD", false},
    {LAJU_ADMIN_HEALTH, "/healthz", "GET, HEAD", true},
    {LAJU_ADMIN_STATUS, "/v1/status", "GET, HEAD", false},
    {LAJU_ADMIN_EVENTS, "/v1/events", "GET, HEAD", false},
    {LAJU_ADMIN_RULES, "/v1/rules", "GET, HEAD", false},
    {LAJU_ADMIN_KEYS, "/v1/keys", "GET, HEAD, PUT, DELETE", false},
    {LAJU_ADMIN_OVERRIDES, "/v1/overrides", "GET, HEAD, DELETE", false},
    {LAJU_ADMIN_TOP_KEYS, "/v1/top", "GET, HEAD", false},
    {LAJU_ADMIN_SESSION, "/v1/session", "GET, HEAD, POST, DELETE", true},
    {LAJU_ADMIN_PAGE, "", "GET, HEAD", true},
};

const laju_admin_route *laju_admin_find_route(laju_slice path) {
  for (size_t i = 0; i < COUNT(routes); i++) {
    if (laju_slice_equal(path, (laju_slice){routes[i].path, strlen(routes[i].path)})) return &routes[i];
  }
  return &routes[COUNT(routes) - 1];
}

bool laju_admin_takes(const laju_admin_route *route, uint8_t method) {
  laju_slice name, rest = {route->allow, strlen(route->allow)};
  const char *asked = llhttp_method_name(method);
  while (rest.at != NULL) {
    name = laju_slice_trim(laju_slice_cut(rest, ',', &rest));
    if (laju_slice_equal(name, (laju_slice){asked, strlen(asked)})) return true;
  }
  return false;
}

/* ---- parameters ---- */

enum { RULE, KEY, GROUP, LIMIT, PARAMETERS };
#define BIT(parameter) (1u << (parameter))

static const struct {
  const char *name, *allowed;
} parameters[PARAMETERS] = {
    [RULE] = {"rule", "the name of a rule of the configuration"},
    [KEY] = {"key", "1 to 1024 bytes"},
    [GROUP] = {"group", "1 to 1024 bytes"},
    [LIMIT] = {"limit", "a whole number from 1 to 100"},
};

typedef struct reader {
  laju_admin_query *out;
  const laju_terms *terms;
  laju_batch *batch;
  laju_problem *problem;
  unsigned takes, needs, seen;
} reader;

static bool refuse(reader *r, const char *detail, laju_shown field, laju_shown value, const char *allowed) {
  *r->problem = (laju_problem){.status = 400,
                               .detail = detail,
                               .list = "",
                               .index = LAJU_PROBLEM_NO_INDEX,
                               .field = field,
                               .value = value,
                               .allowed = allowed};
  return false;
}

static bool refuse_value(reader *r, int which, const char *detail, laju_slice value) {
  const char *name = parameters[which].name;
  return refuse(r, detail, (laju_shown){name, strlen(name)}, (laju_shown){value.at, value.len},
                parameters[which].allowed);
}

static bool read_limit(reader *r, laju_slice value) {
  uint32_t limit = 0;
  for (size_t i = 0; i < value.len; i++) {
    if (value.at[i] < '0' || value.at[i] > '9' || limit > LAJU_ADMIN_TOP_MAX) limit = LAJU_ADMIN_TOP_MAX + 1;
    if (limit <= LAJU_ADMIN_TOP_MAX) limit = 10 * limit + (uint32_t)(value.at[i] - '0');
  }
  if (limit < 1 || limit > LAJU_ADMIN_TOP_MAX) return refuse_value(r, LIMIT, "is out of range", value);
  r->out->limit = limit;
  return true;
}

/* Texts of a request are longer than the batch has room for only where they are refused. */
static bool read_text(reader *r, int which, laju_slice value, laju_slice *out) {
  char *to = r->batch->keys + r->batch->key_len;
  if (value.len > 3 * LAJU_KEY_MAX) return refuse_value(r, which, "is too long", value);
  size_t len = laju_query_decode(to, value);
  if (len < 1 || len > LAJU_KEY_MAX) return refuse_value(r, which, len < 1 ? "is empty" : "is too long", value);
  r->batch->key_len += len;
  *out = (laju_slice){to, len};
  return true;
}

static bool read_rule(reader *r, laju_slice value) {
  laju_slice name;
  if (!read_text(r, RULE, value, &name)) return false;
  r->out->policy = laju_ruleset_find(r->terms->rules, name.at, name.len);
  return r->out->policy != NULL || refuse_value(r, RULE, "is not known", name);
}

static bool read_value(reader *r, int which, laju_slice value) {
  switch (which) {
    case RULE: return read_rule(r, value);
    case KEY: return read_text(r, KEY, value, &r->out->key);
    case GROUP: return read_text(r, GROUP, value, &r->out->group);
    default: return read_limit(r, value);
  }
}

static int find(laju_slice encoded) {
  int which = 0;
  while (which < PARAMETERS && !laju_query_is_named(encoded, parameters[which].name)) which++;
  return which;
}

static bool read_pair(reader *r, laju_slice pair) {
  laju_slice value, name = laju_slice_cut(pair, '=', &value);
  int which = find(name);
  if (which == PARAMETERS || (r->takes & BIT(which)) == 0) {
    const char *allowed = r->takes == 0            ? "none"
                          : r->takes == BIT(LIMIT) ? "limit"
                          : r->takes & BIT(GROUP)  ? "rule, key, group"
                                                   : "rule, key";
    return refuse(r, "is not known", (laju_shown){name.at, name.len}, (laju_shown){NULL, 0}, allowed);
  }
  if (value.at == NULL) value = (laju_slice){"", 0};
  if ((r->seen & BIT(which)) != 0) return refuse_value(r, which, "is given twice", value);
  r->seen |= BIT(which);
  return read_value(r, which, value);
}

static void choose(reader *r, const laju_admin_route *route, uint8_t method) {
  bool reads = method == HTTP_GET || method == HTTP_HEAD;
  if (route->name == LAJU_ADMIN_KEYS || (route->name == LAJU_ADMIN_OVERRIDES && !reads)) {
    r->takes = r->needs = BIT(RULE) | BIT(KEY);
    if (route->name == LAJU_ADMIN_KEYS && method != HTTP_PUT) r->takes |= BIT(GROUP);
  } else if (route->name == LAJU_ADMIN_TOP_KEYS) {
    r->takes = BIT(LIMIT);
  }
}

bool laju_admin_read_query(laju_admin_query *out, const laju_admin_route *route, uint8_t method, laju_slice query,
                           const laju_terms *terms, laju_batch *batch, laju_problem *problem) {
  reader r = {.out = out, .terms = terms, .batch = batch, .problem = problem};
  *out = (laju_admin_query){.policy = NULL};
  bool is_any = route->name == LAJU_ADMIN_PAGE || route->name == LAJU_ADMIN_HEALTH || route->name == LAJU_ADMIN_METRICS;
  if (is_any) return true;
  choose(&r, route, method);
  while (query.at != NULL) {
    laju_slice pair = laju_slice_cut(query, '&', &query);
    if (pair.len > 0 && !read_pair(&r, pair)) return false;
  }
  for (int which = 0; which < PARAMETERS; which++) {
    if ((r.needs & ~r.seen & BIT(which)) != 0) return refuse_value(&r, which, "is missing", (laju_slice){NULL, 0});
  }
  return true;
}
