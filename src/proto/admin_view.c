#include "proto/admin_view.h"

#include <inttypes.h>

#include "base/duration.h"
#include "core/rule.h"
#include "proto/json_text.h"
#include "proto/resolve.h"
#include "proto/shown.h"

static const char *const parts_of[] = {
    [LAJU_PART_IP] = "ip",        [LAJU_PART_HEADER] = "header:", [LAJU_PART_COOKIE] = "cookie:",
    [LAJU_PART_QUERY] = "query:", [LAJU_PART_PATH] = "path",      [LAJU_PART_METHOD] = "method",
    [LAJU_PART_HOST] = "host",
};

static const char *const missing_of[] = {
    [LAJU_MISSING_IP] = "ip",
    [LAJU_MISSING_SKIP] = "skip",
    [LAJU_MISSING_DENY] = "deny",
    [LAJU_MISSING_SHARED] = "shared",
};

static const char *const on_store_errors[] = {
    [LAJU_STORE_ERROR_ALLOW] = "allow",
    [LAJU_STORE_ERROR_DENY] = "deny",
    [LAJU_STORE_ERROR_LOCAL] = "local",
};

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

static void begin_list(laju_buffer *out, const char *name) {
  laju_json_add_name(out, name);
  laju_buffer_add_text(out, "[");
}

static void add_ms(laju_buffer *out, const char *name, int64_t us) {
  laju_json_add_count(out, name, (uint64_t)((us + 999) / 1000));
}

/* Of the two buckets. */
static void add_burst(laju_buffer *out, bool is_bucket, uint32_t burst) {
  laju_json_add_name(out, "burst");
  if (is_bucket) {
    laju_buffer_add_int(out, burst);
  } else {
    laju_buffer_add_text(out, "null");
  }
}

/* ---- rules ---- */

static void add_counts(laju_buffer *out, const laju_admin *admin, const char *name, uint32_t number) {
  static const char *const verdicts[LAJU_VERDICTS] = {[LAJU_VERDICT_ALLOWED] = "allowed",
                                                      [LAJU_VERDICT_DENIED] = "denied",
                                                      [LAJU_VERDICT_SHADOW_DENIED] = "shadow_denied",
                                                      [LAJU_VERDICT_ERROR] = "error"};
  laju_json_add_name(out, name);
  laju_buffer_add_text(out, "{");
  for (int verdict = 0; verdict < LAJU_VERDICTS; verdict++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < admin->account_count; i++) {
      sum += laju_ledger_read(admin->ledgers[i], number, (laju_verdict)verdict);
    }
    laju_json_add_count(out, verdicts[verdict], sum);
  }
  laju_buffer_add_text(out, "}");
}

static void add_patterns(laju_buffer *out, const char *name, const laju_pattern *patterns, size_t count) {
  begin_list(out, name);
  for (size_t i = 0; i < count; i++) laju_json_add_element(out, (laju_slice){patterns[i].text, patterns[i].len});
  laju_buffer_add_text(out, "]");
}

static void add_match(laju_buffer *out, const laju_match *match) {
  laju_json_add_name(out, "match");
  laju_buffer_add_text(out, "{");
  laju_json_add_bool(out, "none", match->none);
  add_patterns(out, "hosts", match->hosts, match->host_count);
  add_patterns(out, "paths", match->paths, match->path_count);
  begin_list(out, "methods");
  for (size_t i = 0; i < match->method_count; i++) laju_json_add_element(out, slice(match->methods[i]));
  laju_buffer_add_text(out, "]}");
}

static void add_parts(laju_buffer *out, const char *name, const laju_part *parts, size_t count) {
  begin_list(out, name);
  for (size_t i = 0; i < count; i++) {
    char text[16 + LAJU_PART_NAME_MAX];
    size_t kind_len = strlen(parts_of[parts[i].kind]), name_len = strlen(parts[i].name);
    memcpy(text, parts_of[parts[i].kind], kind_len);
    memcpy(text + kind_len, parts[i].name, name_len);
    laju_json_add_element(out, (laju_slice){text, kind_len + name_len});
  }
  laju_buffer_add_text(out, "]");
}

static void add_numbers(laju_buffer *out, const laju_rule *rule) {
  char per[24];
  laju_duration_format(per, sizeof per, laju_rule_period_us(rule));
  laju_json_add_word(out, "name", rule->name);
  laju_json_add_word(out, "algorithm", laju_algorithm_name(rule->algorithm));
  laju_json_add_count(out, "limit", rule->limit);
  add_burst(out, laju_algorithm_is_bucket(rule->algorithm), rule->capacity);
  laju_json_add_word(out, "per", per);
  laju_json_add_count(out, "per_us", (uint64_t)laju_rule_period_us(rule));
  laju_json_add_count(out, "cost", rule->cost);
}

static void add_rule(laju_buffer *out, const laju_admin *admin, const laju_policy *policy) {
  const laju_rule *rule = &policy->rule;
  laju_json_begin_element(out);
  add_numbers(out, rule);
  laju_json_add_word(out, "mode", rule->mode == LAJU_EXACT ? "exact" : "embedded");
  laju_json_add_word(out, "on_store_error", on_store_errors[rule->on_store_error]);
  laju_json_add_bool(out, "shadow", rule->shadow);
  laju_json_add_bool(out, "secret", policy->secret);
  add_match(out, &policy->match);
  add_parts(out, "key", policy->parts, policy->part_count);
  add_parts(out, "group", policy->group_parts, policy->group_count);
  laju_json_add_word(out, "missing", missing_of[policy->missing]);
  laju_json_add_count(out, "overrides", policy->override_count);
  laju_json_add_count(out, "exempt", policy->exempt_network_count + policy->exempt_key_count);
  add_counts(out, admin, "counts", rule->number);
  laju_buffer_add_text(out, "}");
}

void laju_admin_view_rules(laju_buffer *out, const laju_admin *admin, const laju_terms *terms) {
  laju_buffer_add_text(out, "{\"rules\":[");
  for (size_t i = 0; i < laju_ruleset_count(terms->rules); i++) add_rule(out, admin, laju_ruleset_at(terms->rules, i));
  laju_buffer_add_text(out, "]");
  add_counts(out, admin, "others", 0);
  laju_buffer_add_text(out, "}");
}

/* ---- keys ---- */

static void add_key(laju_buffer *out, const laju_terms *terms, const laju_shown_key *key) {
  char text[LAJU_SHOWN_MAX];
  bool masked;
  size_t len = laju_key_show(text, terms, key, &masked);
  laju_json_add_word(out, "rule", key->rule);
  laju_json_add_string(out, "key", (laju_slice){text, len});
  laju_json_add_bool(out, "masked", masked);
}

static void add_refused(laju_buffer *out, const laju_terms *terms, const laju_top_entry *entry) {
  bool cut = entry->key_len > LAJU_TOP_TEXT;
  laju_shown_key key = {.rule = entry->rule,
                        .number = entry->number,
                        .secret = entry->secret,
                        .veils = entry->veils,
                        .key = {entry->key, cut ? LAJU_TOP_TEXT : entry->key_len},
                        .cut = cut,
                        .id = entry->id};
  laju_json_begin_element(out);
  add_key(out, terms, &key);
  laju_json_add_bool(out, "cut", cut);
  laju_json_add_count(out, "denied", entry->count);
  laju_json_add_count(out, "over", entry->over);
  laju_json_add_count(out, "last_ms", (uint64_t)(entry->last_us / 1000));
  laju_buffer_add_text(out, "}");
}

void laju_admin_view_top(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, size_t max,
                         int64_t now_us) {
  laju_top_entry entries[LAJU_ADMIN_TOP_MAX];
  size_t count = laju_top_read(admin->tops, admin->account_count, entries, max, now_us);
  laju_buffer_add_text(out, "{");
  laju_json_add_count(out, "half_life_s", (uint64_t)(LAJU_TOP_HALF_LIFE_US / 1000000));
  begin_list(out, "keys");
  for (size_t i = 0; i < count; i++) add_refused(out, terms, &entries[i]);
  laju_buffer_add_text(out, "]}");
}

/* ---- overrides ---- */

static void add_override(laju_buffer *out, bool is_bucket, const laju_overlay_entry *entry) {
  laju_json_add_count(out, "limit", entry->limit);
  add_burst(out, is_bucket, entry->burst);
  laju_json_add_count(out, "expires_ms", (uint64_t)(entry->expires_us / 1000));
}

static void add_entry(laju_buffer *out, const laju_admin *admin, const laju_terms *terms,
                      const laju_overlay_entry *entry, const char *rule) {
  const laju_policy *policy = laju_ruleset_find(terms->rules, rule, strlen(rule));
  const laju_rule gone = {.number = entry->number};
  laju_hash hash = laju_key_id(admin->hash_key, policy != NULL ? &policy->rule : &gone, entry->key, entry->key_len);
  const uint64_t id[2] = {hash.lo, hash.hi};
  laju_shown_key key = {
      .rule = rule, .number = entry->number, .veils = entry->veils, .key = {entry->key, entry->key_len}, .id = id};
  add_key(out, terms, &key);
  add_override(out, policy != NULL && laju_algorithm_is_bucket(policy->rule.algorithm), entry);
  laju_buffer_add_text(out, "}");
}

void laju_admin_view_override(laju_buffer *out, const laju_admin *admin, const laju_terms *terms,
                              const laju_overlay_entry *entry, const char *rule) {
  laju_buffer_add_text(out, "{");
  add_entry(out, admin, terms, entry, rule);
}

typedef struct listing {
  laju_buffer *out;
  const laju_admin *admin;
  const laju_terms *terms;
} listing;

static void tell(void *context, const laju_overlay_entry *entry) {
  const listing *to = context;
  laju_json_begin_element(to->out);
  add_entry(to->out, to->admin, to->terms, entry, laju_rule_names_at(to->admin->names, entry->number));
}

void laju_admin_view_overrides(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, int64_t now_us) {
  listing to = {.out = out, .admin = admin, .terms = terms};
  laju_buffer_add_text(out, "{\"overrides\":[");
  laju_overlay_each(admin->overlay, now_us, tell, &to);
  laju_buffer_add_text(out, "]}");
}

/* ---- how a key stands ---- */

static void add_override_of(laju_buffer *out, const laju_terms *terms, const laju_check *check, int64_t now_us) {
  laju_overlay_entry entry;
  laju_json_add_name(out, "override");
  if (!laju_terms_look_override(terms, check->rule, check->key, check->key_len, now_us, &entry)) {
    laju_buffer_add_text(out, "null");
    return;
  }
  laju_buffer_add_text(out, "{");
  add_override(out, laju_algorithm_is_bucket(check->rule->algorithm), &entry);
  laju_buffer_add_text(out, "}");
}

void laju_admin_view_key(laju_buffer *out, const laju_admin *admin, const laju_terms *terms, const laju_check *check,
                         const laju_decision *decision, int64_t now_us) {
  const laju_rule *rule = check->rule;
  laju_hash hash = laju_key_id(admin->hash_key, rule, check->key, check->key_len);
  const uint64_t id[2] = {hash.lo, hash.hi};
  laju_shown_key key = {.rule = rule->name,
                        .number = rule->number,
                        .secret = rule->secret,
                        .key = {check->key, check->key_len},
                        .id = id};
  laju_buffer_add_text(out, "{");
  add_key(out, terms, &key);
  laju_json_add_count(out, "limit", decision->limit);
  laju_json_add_count(out, "remaining", decision->remaining);
  add_ms(out, "more_after_ms", decision->more_after_us);
  add_ms(out, "reset_after_ms", decision->reset_after_us);
  add_ms(out, "delay_ms", decision->delay_us);
  if (decision->basis == LAJU_FALLBACK) laju_json_add_word(out, "source", "fallback");
  add_override_of(out, terms, check, now_us);
  laju_buffer_add_text(out, "}");
}
