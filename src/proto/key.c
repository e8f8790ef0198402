#include "proto/key.h"

#include "base/base64url.h"
#include "base/buffer.h"
#include "proto/digest.h"
#include "proto/query.h"

#define HASHED "%sha256="
#define HASH_LEN (sizeof HASHED - 1 + LAJU_BASE64URL_LEN(LAJU_DIGEST_SIZE))
#define V4_BITS 96 /* of an address before IPv4's own */

/* A key that is being written. */
typedef struct writer {
  char *to;
  size_t len;
  size_t part; /* where the part began */
  bool joined; /* there are several */
} writer;

static void put_raw(writer *w, const char *text, size_t len) {
  memcpy(w->to + w->len, text, len);
  w->len += len;
}

static void put_byte(writer *w, char c) {
  if (c == '%' && (w->joined || w->len == w->part)) {
    put_raw(w, "%25", 3);
  } else if (c == ':' && w->joined) {
    put_raw(w, "%3A", 3);
  } else {
    w->to[w->len++] = c;
  }
}

static void put_value(writer *w, laju_slice value) {
  for (size_t i = 0; i < value.len; i++) put_byte(w, value.at[i]);
}

/* ---- values; each leaves the writer where it is if there is none ---- */

static void put_address(writer *w, const laju_asker *asker) {
  const laju_origin *origin = asker->origin;
  char text[LAJU_IP_TEXT_SIZE + 8];
  if (!origin->addressed) {
    put_value(w, (laju_slice){"unix", 4});
    return;
  }
  bool v4 = laju_ip_is_v4(&origin->client);
  unsigned prefix = v4 ? asker->prefix_v4 : asker->prefix_v6;
  laju_ip cut = laju_ip_cut(&origin->client, v4 ? V4_BITS + prefix : prefix);
  size_t len = laju_ip_format(text, &cut);
  if (prefix < (v4 ? 32 : 128)) {
    text[len++] = '/';
    len += laju_decimal(text + len, prefix);
  }
  put_value(w, (laju_slice){text, len});
}

static void put_header(writer *w, const laju_fields *fields, const char *name) {
  size_t at = 0, name_len = strlen(name);
  laju_slice value;
  while (laju_fields_next(fields, name, name_len, &at, &value)) {
    if (w->len > w->part) put_raw(w, ", ", 2);
    put_value(w, value);
  }
}

static void put_cookie(writer *w, const laju_fields *fields, const char *name) {
  put_value(w, laju_fields_cookie(fields, name));
}

static void put_query(writer *w, laju_slice query, const char *name) {
  while (query.at != NULL) {
    laju_slice value, pair = laju_slice_cut(query, '&', &query);
    if (!laju_query_is_named(laju_slice_cut(pair, '=', &value), name) || value.len == 0) continue;
    for (size_t at = 0; at < value.len;) put_byte(w, laju_query_byte(value, &at));
    return;
  }
}

/* Those of /auth itself are not the request's. */
static bool is_own(const laju_origin *origin, const char *name) {
  return origin->own_query && (strcmp(name, "deny") == 0 || strcmp(name, "rule") == 0);
}

static void put_part(writer *w, const laju_part *part, const laju_asker *asker) {
  const laju_origin *origin = asker->origin;
  switch (part->kind) {
    case LAJU_PART_IP: put_address(w, asker); break;
    case LAJU_PART_HEADER: put_header(w, asker->fields, part->name); break;
    case LAJU_PART_COOKIE: put_cookie(w, asker->fields, part->name); break;
    case LAJU_PART_QUERY:
      if (!is_own(origin, part->name)) put_query(w, origin->query, part->name);
      break;
    case LAJU_PART_PATH: put_value(w, origin->path); break;
    case LAJU_PART_METHOD: put_value(w, origin->method); break;
    case LAJU_PART_HOST: put_value(w, origin->host); break;
  }
}

/* ---- keys ---- */

/* What stands in for a part that is not there. A mark's `%` is the one that no value has: theirs are followed by 25 or 3A. */
static void put_mark(writer *w, laju_missing missing, const laju_asker *asker) {
  if (missing == LAJU_MISSING_SHARED) {
    put_raw(w, "%shared", 7);
  } else {
    put_raw(w, "%ip=", 4);
    put_address(w, asker);
  }
}

typedef struct parts {
  const laju_part *list;
  size_t count;
  laju_missing missing; /* what becomes of one that is not there */
} parts;

static laju_derived derive(const parts *from, const laju_asker *asker, char *to, size_t *len,
                           const laju_part **missing) {
  writer w = {.to = to, .joined = from->count > 1};
  for (size_t i = 0; i < from->count; i++) {
    if (i > 0) put_raw(&w, ":", 1);
    w.part = w.len;
    put_part(&w, &from->list[i], asker);
    if (w.len > w.part) continue;
    *missing = &from->list[i];
    if (from->missing == LAJU_MISSING_SKIP) return LAJU_KEY_SKIPPED;
    if (from->missing == LAJU_MISSING_DENY) return LAJU_KEY_DENIED;
    put_mark(&w, from->missing, asker);
  }
  *len = w.len;
  return LAJU_KEY_DERIVED;
}

laju_derived laju_key_derive(const laju_policy *policy, const laju_asker *asker, char to[LAJU_KEY_SCRATCH], size_t *len,
                             const laju_part **missing) {
  parts from = {.list = policy->parts, .count = policy->part_count, .missing = policy->missing};
  return derive(&from, asker, to, len, missing);
}

laju_derived laju_group_derive(const laju_policy *policy, const laju_asker *asker, char to[LAJU_KEY_SCRATCH],
                               size_t *len, const laju_part **missing) {
  parts from = {.list = policy->group_parts, .count = policy->group_count, .missing = policy->missing};
  return derive(&from, asker, to, len, missing);
}

bool laju_key_is_hash(const char *key, size_t len) {
  return len == HASH_LEN && memcmp(key, HASHED, sizeof HASHED - 1) == 0;
}

int laju_key_hash(const char *key, size_t len, char to[LAJU_KEY_MAX]) {
  unsigned char digest[LAJU_DIGEST_SIZE];
  if (!laju_digest(digest, key, len)) return LAJU_ERR_SYSTEM;
  memcpy(to, HASHED, sizeof HASHED - 1);
  return (int)(sizeof HASHED - 1 + laju_base64url(to + sizeof HASHED - 1, digest, sizeof digest));
}

int laju_key_keep(const laju_policy *policy, const char *key, size_t len, char to[LAJU_KEY_MAX]) {
  if (policy->secret || len > LAJU_KEY_MAX) return laju_key_hash(key, len, to);
  memcpy(to, key, len);
  return (int)len;
}
