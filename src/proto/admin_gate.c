#include "proto/admin_gate.h"

#include <strings.h>

#include "base/count.h"
#include "base/secret.h"
#include "proto/target.h"

#define TEXT(text) ((laju_slice){(text), sizeof(text) - 1})

static bool refuse(laju_problem *problem, int status, const char *detail, const char *field, laju_slice value,
                   const char *allowed) {
  *problem = (laju_problem){.status = status,
                            .detail = detail,
                            .list = "",
                            .index = LAJU_PROBLEM_NO_INDEX,
                            .field = {field, field != NULL ? strlen(field) : 0},
                            .value = {value.at, value.len},
                            .allowed = allowed};
  return false;
}

static laju_slice field(const laju_admin_knock *knock, const char *name) {
  size_t at = 0;
  laju_slice value = {NULL, 0};
  laju_fields_next(&knock->fields, name, strlen(name), &at, &value);
  return value;
}

/* ---- Host ---- */

static bool is_listed(const laju_terms *terms, laju_slice host) {
  for (size_t i = 0; i < terms->admin_host_count; i++) {
    const char *listed = terms->admin_hosts[i];
    if (laju_slice_equal(host, (laju_slice){listed, strlen(listed)})) return true;
  }
  return false;
}

/* An address cannot be made to point elsewhere, so any does: the door may be reached by others than it is bound to. */
static bool checks_host(const laju_admin_knock *knock, laju_problem *problem) {
  laju_ip address;
  char text[LAJU_HTTP_HEAD_MAX];
  if (knock->is_free || knock->peer->is_unix) return true;
  laju_slice said = field(knock, "host");
  if (said.len > sizeof text) said.len = 0;
  laju_slice host = {text, laju_host_normalise(text, said)};
  bool good = laju_slice_equal(host, TEXT("localhost")) || laju_ip_parse(host.at, host.len, &address) == 0;
  if (good || is_listed(knock->terms, host)) return true;
  return refuse(problem, 421, "is not this server's", "Host", said,
                "an address, localhost, and what admin.hosts of the configuration names");
}

/* ---- Origin ---- */

static bool is_safe(const laju_admin_knock *knock) {
  return knock->request->method == HTTP_GET || knock->request->method == HTTP_HEAD;
}

/* By whichever scheme: behind a proxy it is not ours to know. */
static bool is_own_origin(laju_slice origin, laju_slice host) {
  size_t scheme = 0;
  if (origin.len > 7 && memcmp(origin.at, "http://", 7) == 0) scheme = 7;
  if (origin.len > 8 && memcmp(origin.at, "https://", 8) == 0) scheme = 8;
  return scheme > 0 && origin.len - scheme == host.len && strncasecmp(origin.at + scheme, host.at, host.len) == 0;
}

static bool is_own_site(laju_slice site) {
  return laju_slice_equal(site, TEXT("same-origin")) || laju_slice_equal(site, TEXT("none"));
}

static bool checks_origin(const laju_admin_knock *knock, laju_problem *problem) {
  if (knock->is_open && is_safe(knock)) return true;
  laju_slice origin = field(knock, "origin"), site = field(knock, "sec-fetch-site");
  if (!is_safe(knock) && origin.at != NULL && !is_own_origin(origin, field(knock, "host"))) {
    return refuse(problem, 403, "is another site's", "Origin", origin, "that of this server's own page");
  }
  if (site.at != NULL && !is_own_site(site)) {
    return refuse(problem, 403, "is another site", "Sec-Fetch-Site", site, "same-origin, none");
  }
  return true;
}

/* ---- token and session ---- */

laju_slice laju_admin_bearer(const laju_fields *fields) {
  size_t at = 0;
  laju_slice value;
  if (!laju_fields_next(fields, "authorization", 13, &at, &value)) return (laju_slice){NULL, 0};
  if (value.len < 7 || strncasecmp(value.at, "bearer ", 7) != 0) return (laju_slice){NULL, 0};
  return laju_slice_trim((laju_slice){value.at + 7, value.len - 7});
}

bool laju_admin_is_token(laju_admin *admin, const laju_terms *terms, laju_slice guess) {
  const char *token = terms->admin_token;
  if (token == NULL) return false;
  if (laju_secret_equal(token, strlen(token), guess.at, guess.len)) return true;
  laju_count(&admin->guesses);
  return false;
}

/* A cookie comes along whoever has made the browser ask: only with the browser's word does it stand for our page. */
static bool checks_session(const laju_admin_knock *knock, laju_problem *problem) {
  laju_slice name = laju_fields_cookie(&knock->fields, LAJU_ADMIN_COOKIE);
  laju_admin *admin = knock->admin;
  if (!laju_sessions_use(&admin->sessions, knock->terms->admin_token, name, knock->now_us)) {
    return refuse(problem, 401, "a token is needed", NULL, (laju_slice){NULL, 0},
                  "Authorization: Bearer TOKEN, or the cookie that POST /v1/session gives for it");
  }
  bool vouched = field(knock, "origin").at != NULL || field(knock, "sec-fetch-site").at != NULL;
  if (is_safe(knock) || vouched) return true;
  return refuse(problem, 403, "is missing", "Origin", (laju_slice){NULL, 0}, "that of this server's own page");
}

static bool checks_token(const laju_admin_knock *knock, laju_problem *problem) {
  const laju_slice none = {NULL, 0};
  if (knock->is_open) return true;
  if (knock->terms->admin_token == NULL) {
    if (!knock->admin->exposed) return true;
    return refuse(problem, 403, "others than this machine reach this door, and admin.token is not set", NULL, none,
                  NULL);
  }
  laju_slice bearer = laju_admin_bearer(&knock->fields);
  if (bearer.at == NULL) return checks_session(knock, problem);
  if (laju_admin_is_token(knock->admin, knock->terms, bearer)) return true;
  return refuse(problem, 401, "the token is not the right one", NULL, none, NULL);
}

bool laju_admin_admits(const laju_admin_knock *knock, laju_problem *problem) {
  return checks_host(knock, problem) && checks_origin(knock, problem) && checks_token(knock, problem);
}
