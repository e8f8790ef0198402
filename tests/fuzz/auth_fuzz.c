/* Forward-auth from strangers: a target and header fields, into the original request and the keys of rules.
 *
 * The input's first line is the peer (t: trusted, u: a unix socket, else a stranger) and the target; the others are header lines.
 * Whatever they are: a path has one form, a host too, hops are addresses or nothing, no key is empty or longer than 1,024
 * bytes, and two requests whose parts differ never have the same key. */
#include <stdint.h>

#include "../unit/proto/made.h"
#include "proto/key.h"
#include "proto/match.h"
#include "proto/target.h"

#define FIELDS_MAX LAJU_HTTP_HEADERS_MAX

typedef struct request {
  char bytes[LAJU_HTTP_HEAD_MAX];
  laju_field list[FIELDS_MAX];
  laju_fields fields;
  laju_slice target;
  laju_peer peer;
  laju_origin origin;
  char scratch[LAJU_ORIGIN_SCRATCH];
  int error;
} request;

static laju_network trusted;
static laju_terms terms = {
    .trusted = &trusted, .trusted_count = 1, .trust_unix = true, .ip_prefix_v4 = 24, .ip_prefix_v6 = 64};
static laju_batch *batch;

static void prepare(void) {
  static const char *const hosts[] = {NULL, "*.example", "a.example", NULL};
  static const char *const parts[] = {"header:a header:b", "cookie:c query:q path", "ip header:a host", "header:a"};
  laju_policy policies[4];
  if (terms.rules != NULL) return;
  batch = laju_batch_new();
  made_must(batch != NULL);
  for (size_t i = 0; i < 4; i++) {
    char line[] = "r0=5/1m leaky-bucket";
    line[1] = (char)('0' + i);
    policies[i] = made_policy(line, parts[i], hosts[i], i == 1 ? "/a*" : NULL);
    policies[i].missing = (laju_missing)i;
    policies[i].secret = i == 1;
    policies[i].group_parts[0] = made_part("header:b", 8);
    policies[i].group_count = i % 2;
    policies[i].rule.grouped = i % 2 == 1;
  }
  made_exempt(&policies[0], "key:x*");
  made_override(&policies[2], "*a*", "r2=9/1m leaky-bucket");
  laju_ruleset *rules;
  made_must(laju_ruleset_new(&rules, policies, 4) == 0);
  made_must(laju_network_parse("10.0.0.0/8", 10, &trusted) == 0);
  terms.rules = rules;
}

static void read_request(request *r, const uint8_t *bytes, size_t len) {
  if (len > sizeof r->bytes) len = sizeof r->bytes;
  if (len > 0) memcpy(r->bytes, bytes, len);
  laju_slice rest = {r->bytes, len}, line = laju_slice_cut(rest, '\n', &rest);
  bool marked = line.len > 0;
  r->peer = (laju_peer){.is_unix = marked && line.at[0] == 'u'};
  bool is_trusted = marked && line.at[0] == 't';
  made_must(laju_ip_parse(is_trusted ? "10.1.2.3" : "192.0.2.9", is_trusted ? 8 : 9, &r->peer.address) == 0);
  if (marked) line = (laju_slice){line.at + 1, line.len - 1};
  size_t url_len = line.len;
  bool own = url_len >= 5 && memcmp(line.at, "/auth", 5) == 0 && (url_len == 5 || strchr("/?#", line.at[5]) != NULL);
  r->target = own && (url_len == 5 || line.at[5] != '\0') ? line : made_slice("/auth");
  size_t count = 0;
  while (rest.at != NULL && count < FIELDS_MAX) {
    laju_slice value, text = laju_slice_cut(rest, '\n', &rest), name = laju_slice_cut(text, ':', &value);
    if (value.at == NULL || name.len == 0) continue;
    r->list[count++] = (laju_field){.name_at = (uint16_t)(name.at - r->bytes),
                                    .name_len = (uint16_t)name.len,
                                    .value_at = (uint16_t)(value.at - r->bytes),
                                    .value_len = (uint16_t)value.len};
  }
  r->fields = (laju_fields){.bytes = r->bytes, .list = r->list, .count = count};
  r->error = laju_origin_read(&r->origin, &terms, &r->peer, &r->fields, made_slice("GET"), r->target, r->scratch);
}

/* ---- invariants ---- */

static void check_path(laju_slice path) {
  made_must(path.len >= 1 && path.at[0] == '/');
  laju_slice rest = {path.at + 1, path.len - 1};
  while (rest.at != NULL) {
    laju_slice segment = laju_slice_cut(rest, '/', &rest);
    made_must(segment.len > 0 || rest.at == NULL); /* no "//" */
    made_must(!laju_slice_equal(segment, made_slice(".")) && !laju_slice_equal(segment, made_slice("..")));
  }
}

static void check_host(laju_slice host) {
  for (size_t i = 0; i < host.len; i++) made_must(host.at[i] < 'A' || host.at[i] > 'Z');
  made_must(host.len == 0 || host.at[host.len - 1] != '.');
}

static void check_origin(const request *r) {
  bool is_stranger = !r->peer.is_unix && !laju_network_has(&trusted, &r->peer.address);
  check_path(r->origin.path);
  check_host(r->origin.host);
  made_must(r->origin.addressed || r->peer.is_unix);
  made_must(!r->origin.untrusted || is_stranger);
  if (!is_stranger) return;
  made_must(memcmp(&r->origin.client, &r->peer.address, sizeof r->peer.address) == 0);
  made_must(laju_slice_equal(r->origin.method, made_slice("GET")) && r->error == 0);
}

static void check_match(const request *r) {
  laju_asker asker = {.origin = &r->origin, .fields = &r->fields, .prefix_v4 = 24, .prefix_v6 = 64};
  laju_matched matched;
  laju_batch_clear(batch);
  int error = laju_match_request(&matched, &terms, &asker, NULL, 0, batch);
  made_must(error == 0 || error == LAJU_MATCH_DENIED);
  if (error < 0) return;
  made_must(matched.count <= 4 && matched.key_len <= 8 * LAJU_KEY_MAX);
  for (size_t i = 0; i < matched.count; i++) {
    made_must(batch->checks[i].key_len >= 1 && batch->checks[i].key_len <= LAJU_KEY_MAX);
    size_t group_len = batch->groups[i].len;
    made_must(batch->checks[i].rule->grouped ? group_len >= 1 && group_len <= LAJU_KEY_MAX : group_len == 0);
    made_must(i == 0 || strcmp(batch->checks[i - 1].rule->name, batch->checks[i].rule->name) < 0);
  }
}

/* ---- injectivity ---- */

/* A list of parts, from two header fields: each a value, or nothing. */
static laju_slice joined(const request *r, const char *name, char *room) {
  size_t at = 0, len = 0;
  laju_slice value;
  while (laju_fields_next(&r->fields, name, 1, &at, &value)) {
    if (len > 0) {
      memcpy(room + len, ", ", 2);
      len += 2;
    }
    memcpy(room + len, value.at, value.len);
    len += value.len;
  }
  return (laju_slice){room, len};
}

static size_t derive(const request *r, const char *parts, laju_missing missing, char *to) {
  laju_asker asker = {.origin = &r->origin, .fields = &r->fields, .prefix_v4 = 24, .prefix_v6 = 64};
  laju_policy policy = made_policy("r=1/1m", parts, NULL, NULL);
  const laju_part *lacks;
  size_t len;
  policy.missing = missing;
  made_must(laju_key_derive(&policy, &asker, to, &len, &lacks) == LAJU_KEY_DERIVED);
  made_must(len > 0 && len <= LAJU_KEY_SCRATCH);
  return len;
}

static void check_pair(const request *first, const request *second) {
  static char a[2][LAJU_HTTP_HEAD_MAX], b[2][LAJU_HTTP_HEAD_MAX], keys[2][LAJU_KEY_SCRATCH];
  bool same_a = laju_slice_equal(joined(first, "a", a[0]), joined(second, "a", a[1]));
  bool same_b = laju_slice_equal(joined(first, "b", b[0]), joined(second, "b", b[1]));
  size_t len = derive(first, "header:a header:b", LAJU_MISSING_SHARED, keys[0]);
  size_t other_len = derive(second, "header:a header:b", LAJU_MISSING_SHARED, keys[1]);
  made_must((len == other_len && memcmp(keys[0], keys[1], len) == 0) == (same_a && same_b));
  len = derive(first, "header:a", LAJU_MISSING_SHARED, keys[0]);
  other_len = derive(second, "header:a", LAJU_MISSING_SHARED, keys[1]);
  made_must((len == other_len && memcmp(keys[0], keys[1], len) == 0) == same_a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Two requests, with a line of "--" between them. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  static request first, second;
  prepare();
  const uint8_t *cut = len > 0 ? memmem(bytes, len, "\n--\n", 4) : NULL;
  size_t first_len = cut != NULL ? (size_t)(cut - bytes) : len;
  read_request(&first, bytes, first_len);
  check_origin(&first);
  check_match(&first);
  if (cut == NULL) return 0;
  read_request(&second, cut + 4, len - first_len - 4);
  check_origin(&second);
  check_match(&second);
  check_pair(&first, &second);
  return 0;
}
