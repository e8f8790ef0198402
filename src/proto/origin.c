#include "proto/origin.h"

#include "proto/hops.h"
#include "proto/target.h"

typedef enum kind {
  HOST,
  FORWARDED_HOST,
  FORWARDED_FOR,
  FORWARDED,
  REAL_IP,
  METHOD,
  TARGET,
  OTHER,
} kind;

static kind kind_of(laju_slice name) {
  static const struct {
    const char *name;
    size_t len;
    kind kind;
  } names[] = {
      {"host", 4, HOST},
      {"x-real-ip", 9, REAL_IP},
      {"forwarded", 9, FORWARDED},
      {"x-original-uri", 14, TARGET},
      {"x-original-url", 14, TARGET},
      {"x-forwarded-uri", 15, TARGET},
      {"x-forwarded-for", 15, FORWARDED_FOR},
      {"x-forwarded-host", 16, FORWARDED_HOST},
      {"x-original-method", 17, METHOD},
      {"x-forwarded-method", 18, METHOD},
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (laju_field_named(name, names[i].name, names[i].len)) return names[i].kind;
  }
  return OTHER;
}

/* What the fields have told so far; a slice is NULL until then. */
typedef struct reading {
  const laju_terms *terms;
  int error;
  laju_slice host, forwarded_host, method;
  laju_target target;
  bool lists, forwarded; /* there is an X-Forwarded-For, a Forwarded */
  laju_hops list_hops, forwarded_hops;
  bool has_real_ip;
  laju_ip real_ip;
} reading;

static void take_target(reading *r, laju_target target) {
  const laju_target *known = &r->target;
  bool same = laju_slice_equal(known->path, target.path) && laju_slice_equal(known->query, target.query);
  if (known->path.at != NULL && !same) r->error = LAJU_ORIGIN_TARGETS;
  if (target.authority.at == NULL) target.authority = known->authority;
  r->target = target;
}

static void take_method(reading *r, laju_slice method) {
  if (r->method.at != NULL && !laju_slice_equal(r->method, method)) r->error = LAJU_ORIGIN_METHODS;
  r->method = method;
}

static laju_slice right_most(laju_slice list) {
  laju_slice last = list;
  while (list.at != NULL) {
    laju_slice element = laju_slice_trim(laju_slice_cut(list, ',', &list));
    if (element.len > 0) last = element;
  }
  return last;
}

static void take_field(reading *r, kind which, laju_slice value) {
  switch (which) {
    case FORWARDED_HOST: r->forwarded_host = right_most(value); break;
    case FORWARDED_FOR:
      laju_hops_add_list(&r->list_hops, r->terms, value);
      r->lists = true;
      break;
    case FORWARDED:
      laju_hops_add_forwarded(&r->forwarded_hops, r->terms, value);
      r->forwarded = true;
      break;
    case REAL_IP: r->has_real_ip = laju_hop_address(value, &r->real_ip); break;
    case METHOD: take_method(r, value); break;
    case TARGET: take_target(r, laju_target_split(value)); break;
    default: break;
  }
}

/* All fields, once; returns whether any of them is one that proxies send. */
static bool take_fields(reading *r, const laju_fields *fields, bool trusted) {
  bool forwards = false;
  for (size_t i = 0; i < fields->count; i++) {
    kind which = kind_of(laju_field_name(fields, i));
    if (which == OTHER) continue;
    laju_slice value = laju_field_value(fields, i);
    if (which == HOST) r->host = value;
    if (which == HOST || value.len == 0) continue;
    forwards = true;
    if (trusted) take_field(r, which, value);
  }
  return forwards;
}

/* The target of the call itself: what is behind /auth, if anything is. */
static void take_own(reading *r, laju_origin *out, laju_slice text) {
  laju_target own = laju_target_split(text);
  own.authority = (laju_slice){NULL, 0};
  own.path = (laju_slice){own.path.at + sizeof LAJU_AUTH_PATH - 1, own.path.len - (sizeof LAJU_AUTH_PATH - 1)};
  if (own.path.len > 0) {
    take_target(r, own);
  } else if (r->target.path.at == NULL) {
    r->target = own;
    out->own_query = true;
  }
}

static laju_hops client_of(const reading *r, const laju_peer *peer) {
  laju_hops peer_itself = {.known = !peer->is_unix, .client = peer->address};
  if (r->lists) return r->list_hops.known ? r->list_hops : peer_itself;
  if (r->forwarded) return r->forwarded_hops.known ? r->forwarded_hops : peer_itself;
  return r->has_real_ip ? (laju_hops){.known = true, .client = r->real_ip} : peer_itself;
}

static laju_slice normalise_host(char *to, laju_slice host) {
  return (laju_slice){to, host.at != NULL ? laju_host_normalise(to, host) : 0};
}

/* The host that is told, into `to`; both ways to tell it must come to the same. */
static laju_slice host_of(reading *r, char *to) {
  laju_slice authority = r->target.authority, forwarded = r->forwarded_host;
  if (authority.at == NULL) return normalise_host(to, forwarded.at != NULL ? forwarded : r->host);
  laju_slice host = normalise_host(to, authority);
  if (forwarded.at != NULL && !laju_slice_equal(host, normalise_host(to + host.len, forwarded))) {
    r->error = LAJU_ORIGIN_HOSTS;
  }
  return host;
}

int laju_origin_read(laju_origin *out, const laju_terms *terms, const laju_peer *peer, const laju_fields *fields,
                     laju_slice method, laju_slice target, char scratch[LAJU_ORIGIN_SCRATCH]) {
  reading r = {.terms = terms};
  bool trusted = peer->is_unix ? terms->trust_unix : laju_terms_trust(terms, &peer->address);
  bool forwards = take_fields(&r, fields, trusted);
  *out = (laju_origin){.untrusted = forwards && !trusted};
  take_own(&r, out, target);
  size_t path_len = laju_path_normalise(scratch, r.target.path);
  out->path = (laju_slice){scratch, path_len};
  out->host = host_of(&r, scratch + path_len);
  out->query = r.target.query;
  out->method = r.method.at != NULL ? r.method : method;
  laju_hops client = client_of(&r, peer);
  out->addressed = client.known;
  out->client = client.client;
  return r.error;
}
