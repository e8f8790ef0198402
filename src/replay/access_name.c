#include "replay/access_name.h"

#include <stdio.h>
#include <strings.h>

#include "config/value.h"

static const struct {
  const char *name;
  laju_access_role role;
  const char *header;
} known[] = {
    {"time", LAJU_ROLE_TIME, ""},
    {"timestamp", LAJU_ROLE_TIME, ""},
    {"@timestamp", LAJU_ROLE_TIME, ""},
    {"ts", LAJU_ROLE_TIME, ""},
    {"time_iso8601", LAJU_ROLE_TIME, ""},
    {"msec", LAJU_ROLE_TIME, ""},
    {"time_local", LAJU_ROLE_TIME, ""},
    {"datetime", LAJU_ROLE_TIME, ""},
    {"StartUTC", LAJU_ROLE_TIME, ""},
    {"client_ip", LAJU_ROLE_CLIENT, ""},
    {"remote_addr", LAJU_ROLE_CLIENT, ""},
    {"remote_ip", LAJU_ROLE_CLIENT, ""},
    {"ip", LAJU_ROLE_CLIENT, ""},
    {"client", LAJU_ROLE_CLIENT, ""},
    {"clientip", LAJU_ROLE_CLIENT, ""},
    {"ClientHost", LAJU_ROLE_CLIENT, ""},
    {"method", LAJU_ROLE_METHOD, ""},
    {"request_method", LAJU_ROLE_METHOD, ""},
    {"http_method", LAJU_ROLE_METHOD, ""},
    {"RequestMethod", LAJU_ROLE_METHOD, ""},
    {"request_uri", LAJU_ROLE_TARGET, ""},
    {"uri", LAJU_ROLE_TARGET, ""},
    {"target", LAJU_ROLE_TARGET, ""},
    {"url", LAJU_ROLE_TARGET, ""},
    {"path", LAJU_ROLE_TARGET, ""},
    {"RequestPath", LAJU_ROLE_TARGET, ""},
    {"host", LAJU_ROLE_HOST, ""},
    {"http_host", LAJU_ROLE_HOST, ""},
    {"server_name", LAJU_ROLE_HOST, ""},
    {"RequestHost", LAJU_ROLE_HOST, ""},
    {"request", LAJU_ROLE_REQUEST, ""},
    {"headers", LAJU_ROLE_HEADERS, ""},
    {"user_agent", LAJU_ROLE_HEADER, "user-agent"},
    {"agent", LAJU_ROLE_HEADER, "user-agent"},
    {"referer", LAJU_ROLE_HEADER, "referer"},
};

#define KNOWN (sizeof known / sizeof known[0])

static bool is(laju_slice name, const char *text) {
  return laju_slice_equal(name, (laju_slice){text, strlen(text)});
}

static void set_header(laju_access_name *out, laju_slice header) {
  memcpy(out->header, header.at, header.len);
  out->header_len = (uint8_t)header.len;
}

/* http_x_api_key is the header x-api-key, as nginx calls it. */
static void find_variable(laju_slice name, laju_access_name *out) {
  if (name.len <= 5 || memcmp(name.at, "http_", 5) != 0) return;
  laju_slice header = {name.at + 5, name.len - 5};
  set_header(out, header);
  for (size_t i = 0; i < header.len; i++) {
    if (out->header[i] == '_') out->header[i] = '-';
  }
  out->role = LAJU_ROLE_HEADER;
  out->rank = KNOWN + 1;
}

void laju_access_names_find(const laju_access_names *names, laju_slice name, laju_access_name *out) {
  *out = (laju_access_name){.role = LAJU_ROLE_NONE};
  if (name.len > LAJU_ACCESS_NAME_MAX) return;
  if (name.len > 0) memcpy(out->text, name.at, name.len);
  out->len = (uint8_t)name.len;
  for (size_t i = 0; i < names->count; i++) {
    const laju_access_name *mapped = &names->mapped[i];
    if (!laju_slice_equal(name, (laju_slice){mapped->text, mapped->len})) continue;
    *out = *mapped;
    return;
  }
  for (size_t i = 0; i < KNOWN; i++) {
    if (!is(name, known[i].name)) continue;
    out->role = (uint8_t)known[i].role;
    out->rank = (uint8_t)(i + 1);
    set_header(out, (laju_slice){known[i].header, strlen(known[i].header)});
    return;
  }
  find_variable(name, out);
}

/* ---- what the operator says ---- */

static laju_access_role role_of(laju_slice what) {
  static const struct {
    const char *word;
    laju_access_role role;
  } words[] = {{"time", LAJU_ROLE_TIME},      {"client", LAJU_ROLE_CLIENT}, {"method", LAJU_ROLE_METHOD},
               {"target", LAJU_ROLE_TARGET},  {"host", LAJU_ROLE_HOST},     {"request", LAJU_ROLE_REQUEST},
               {"headers", LAJU_ROLE_HEADERS}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (is(what, words[i].word)) return words[i].role;
  }
  bool header = what.len > 7 && what.len - 7 <= LAJU_PART_NAME_MAX && memcmp(what.at, "header:", 7) == 0;
  return header ? LAJU_ROLE_HEADER : LAJU_ROLE_NONE;
}

static int parse_one(laju_access_names *out, laju_slice pair, char why[LAJU_TEXT_SIZE]) {
  laju_slice name, what = laju_slice_cut(pair, '=', &name);
  laju_access_name mapped = {.role = (uint8_t)role_of(what)};
  if (name.len == 0 || mapped.role == LAJU_ROLE_NONE) {
    return laju_complain(why, pair.at, pair.len, "is not WHAT=NAME", NULL, "for WHAT " LAJU_ACCESS_WHATS);
  }
  if (name.len > LAJU_ACCESS_NAME_MAX) return laju_complain(why, name.at, name.len, "is too long", NULL, "64 bytes");
  if (out->count == LAJU_ACCESS_MAPPED_MAX) {
    return laju_complain(why, pair.at, pair.len, "is one too many", NULL, "32 names");
  }
  memcpy(mapped.text, name.at, name.len);
  mapped.len = (uint8_t)name.len;
  if (mapped.role == LAJU_ROLE_HEADER) set_header(&mapped, (laju_slice){what.at + 7, what.len - 7});
  out->mapped[out->count++] = mapped;
  return 0;
}

int laju_access_names_parse(laju_access_names *out, const char *text, char why[LAJU_TEXT_SIZE]) {
  laju_access_names names = {.count = 0};
  laju_slice rest = {text, strlen(text)};
  while (rest.at != NULL) {
    if (parse_one(&names, laju_slice_cut(rest, ',', &rest), why) < 0) return -1;
  }
  *out = names;
  return 0;
}
