#include "server/status.h"

#include <string.h>

#include "base/count.h"
#include "proto/json_text.h"

static const char *const verdicts[LAJU_VERDICTS] = {[LAJU_VERDICT_ALLOWED] = "allowed",
                                                    [LAJU_VERDICT_DENIED] = "denied",
                                                    [LAJU_VERDICT_SHADOW_DENIED] = "shadow_denied",
                                                    [LAJU_VERDICT_ERROR] = "error"};

static void begin(laju_buffer *out, const char *name) {
  laju_json_add_name(out, name);
  laju_buffer_add_text(out, "{");
}

static void end(laju_buffer *out) {
  laju_buffer_add_text(out, "}");
}

static void add(laju_buffer *out, const char *name, const _Atomic uint64_t *counter) {
  laju_json_add_count(out, name, laju_count_read(counter));
}

static void add_lately(laju_buffer *out, const laju_lately *lately) {
  begin(out, "latency");
  laju_json_add_name(out, "window_s");
  laju_buffer_add_format(out, "%.3f", (double)lately->window_us / 1e6);
  laju_json_add_count(out, "count", lately->count);
  laju_json_add_count(out, "p50_us", (uint64_t)lately->p50_us);
  laju_json_add_count(out, "p99_us", (uint64_t)lately->p99_us);
  end(out);
}

/* ---- decisions ---- */

static void add_requests(laju_buffer *out, const laju_readings *r) {
  static const char *const doors[LAJU_DOOR_NAMES] = {[LAJU_DOOR_HTTP] = "http", [LAJU_DOOR_RESP] = "resp"};
  begin(out, "requests");
  for (size_t door = 0; door < LAJU_DOOR_NAMES; door++) {
    begin(out, doors[door]);
    laju_json_add_count(out, "allowed", r->requests[door][LAJU_REQUEST_ALLOWED]);
    laju_json_add_count(out, "denied", r->requests[door][LAJU_REQUEST_DENIED]);
    laju_json_add_count(out, "error", r->requests[door][LAJU_REQUEST_ERROR]);
    end(out);
  }
  end(out);
}

typedef struct rule_counts {
  const char *name;
  uint64_t counts[LAJU_VERDICTS], all;
} rule_counts;

static rule_counts read_counts(const laju_readings *r, const char *name, uint32_t number) {
  rule_counts rule = {.name = name};
  for (int verdict = 0; verdict < LAJU_VERDICTS; verdict++) {
    rule.counts[verdict] = laju_readings_checks(r, number, (laju_verdict)verdict);
    rule.all += rule.counts[verdict];
  }
  return rule;
}

static void add_counts(laju_buffer *out, const uint64_t counts[LAJU_VERDICTS]) {
  for (int verdict = 0; verdict < LAJU_VERDICTS; verdict++)
    laju_json_add_count(out, verdicts[verdict], counts[verdict]);
}

static void add_checks(laju_buffer *out, const laju_readings *r) {
  uint64_t sums[LAJU_VERDICTS] = {0};
  for (uint32_t number = 0; number < laju_rule_names_count(r->names); number++) {
    for (int verdict = 0; verdict < LAJU_VERDICTS; verdict++) {
      sums[verdict] += laju_readings_checks(r, number, (laju_verdict)verdict);
    }
  }
  begin(out, "checks");
  add_counts(out, sums);
  end(out);
}

/* Puts a rule in its place among those that had the most checks; among equals the configuration's order. */
static size_t insert(rule_counts *most, size_t len, const rule_counts *rule) {
  size_t at = len;
  while (at > 0 && most[at - 1].all < rule->all) at--;
  if (at == LAJU_STATUS_RULES_MAX) return len;
  if (len < LAJU_STATUS_RULES_MAX) len++;
  memmove(&most[at + 1], &most[at], (len - at - 1) * sizeof *most);
  most[at] = *rule;
  return len;
}

static void add_rules(laju_buffer *out, const laju_readings *r, const laju_ruleset *rules) {
  rule_counts most[LAJU_STATUS_RULES_MAX];
  size_t len = 0;
  for (size_t i = 0; i < laju_ruleset_count(rules); i++) {
    const laju_rule *rule = &laju_ruleset_at(rules, i)->rule;
    rule_counts counts = read_counts(r, rule->name, rule->number);
    len = insert(most, len, &counts);
  }
  laju_json_add_count(out, "rule_count", laju_ruleset_count(rules));
  laju_json_add_name(out, "rules");
  laju_buffer_add_text(out, "[");
  for (size_t i = 0; i < len; i++) {
    laju_json_begin_element(out);
    laju_json_add_word(out, "name", most[i].name);
    add_counts(out, most[i].counts);
    end(out);
  }
  laju_buffer_add_text(out, "]");
}

/* ---- the server ---- */

static void add_connections(laju_buffer *out, const laju_readings *r) {
  const laju_counters *c = &r->counters;
  begin(out, "connections");
  laju_json_add_count(out, "open", r->connections);
  add(out, "accepted", &c->accepted);
  add(out, "refused", &c->refused);
  begin(out, "closed");
  add(out, "idle", &c->idle);
  add(out, "slow", &c->slow);
  add(out, "stuck", &c->stuck);
  add(out, "oversized", &c->oversized);
  add(out, "starved", &c->starved);
  add(out, "tls", &c->broken);
  add(out, "cut", &c->cut);
  end(out);
  end(out);
}

static void add_table(laju_buffer *out, const laju_table_stats *t) {
  begin(out, "table");
  laju_json_add_count(out, "slots", t->slots);
  laju_json_add_count(out, "keys", t->keys);
  laju_json_add_count(out, "evicted_fresh", t->evicted_fresh);
  laju_json_add_count(out, "evicted_used", t->evicted_used);
  laju_json_add_count(out, "logs_bytes", t->logs_bytes);
  laju_json_add_count(out, "logs_used_bytes", t->logs_used_bytes);
  laju_json_add_count(out, "logs_evicted_fresh", t->logs_evicted_fresh);
  laju_json_add_count(out, "logs_evicted_used", t->logs_evicted_used);
  end(out);
}

static void add_server(laju_buffer *out, const laju_status *status) {
  static const char *const stages[] = {
      [LAJU_STARTING] = "starting", [LAJU_SERVING] = "serving", [LAJU_DRAINING] = "draining"};
  const laju_readings *r = status->readings;
  laju_stage stage = atomic_load_explicit(&status->service->stage, memory_order_relaxed);
  laju_json_add_word(out, "version", LAJU_VERSION);
  laju_json_add_count(out, "now_ms", (uint64_t)(r->now_us / 1000));
  laju_json_add_count(out, "started_ms", (uint64_t)(r->started_us / 1000));
  laju_json_add_word(out, "stage", stages[stage]);
  laju_json_add_count(out, "workers", r->workers);
  begin(out, "reloads");
  laju_json_add_count(out, "done", r->reloads);
  laju_json_add_count(out, "refused", r->reloads_refused);
  end(out);
  laju_json_add_count(out, "overrides", status->readings->overrides);
}

/* ---- the store ---- */

static void add_store_counts(laju_buffer *out, const laju_store_counters *s) {
  add(out, "servers", &s->servers);
  add(out, "servers_up", &s->servers_up);
  add(out, "inflight", &s->inflight);
  add(out, "checks", &s->checks);
  add(out, "commands", &s->commands);
  begin(out, "failures");
  add(out, "timeout", &s->timeouts);
  add(out, "overflow", &s->overflows);
  add(out, "breaker", &s->short_cuts);
  add(out, "refused", &s->refusals);
  add(out, "other", &s->failures);
  end(out);
  add(out, "breaker_opened", &s->breaker_opened);
  add(out, "connects", &s->connects);
  add(out, "connect_failures", &s->connect_failures);
}

static void add_nodes(laju_buffer *out, const laju_readings *r) {
  laju_json_add_count(out, "nodes", r->nodes);
  laju_json_add_name(out, "versions");
  laju_buffer_add_text(out, "[");
  for (size_t i = 0; i < r->seen.version_count; i++) {
    laju_json_begin_element(out);
    laju_json_add_word(out, "version", r->seen.versions[i].text);
    laju_json_add_count(out, "count", r->seen.versions[i].count);
    end(out);
  }
  laju_buffer_add_text(out, "]");
}

static void add_store(laju_buffer *out, const laju_status *status) {
  const laju_readings *r = status->readings;
  const laju_way_counters *w = &r->way;
  uint32_t up = atomic_load_explicit(&status->service->stores_up, memory_order_relaxed);
  bool is_up = up == status->service->stores;
  begin(out, "store");
  laju_json_add_word(out, "url", status->store_url);
  laju_json_add_bool(out, "up", is_up);
  laju_json_add_word(out, "why", is_up ? "" : status->store_why);
  laju_json_add_word(out, "last_error", status->store_refusal);
  laju_json_add_count(out, "workers", status->service->stores);
  laju_json_add_count(out, "workers_up", up);
  add_store_counts(out, &r->store);
  add(out, "fallbacks_allowed", &w->fallbacks_allowed);
  add(out, "fallbacks_denied", &w->fallbacks_denied);
  add(out, "remembered", &w->remembered);
  add(out, "given_back", &w->given_back);
  add_lately(out, &status->store_latency);
  add_nodes(out, r);
  end(out);
}

void laju_status_write(const laju_status *status, laju_buffer *out) {
  const laju_readings *r = status->readings;
  laju_buffer_add_text(out, "{");
  add_server(out, status);
  add_requests(out, r);
  add_checks(out, r);
  add_rules(out, r, laju_service_terms(status->service)->rules);
  add_lately(out, &status->latency);
  add_connections(out, r);
  add_table(out, &r->table);
  if (r->has_store) {
    add_store(out, status);
  } else {
    laju_json_add_name(out, "store");
    laju_buffer_add_text(out, "null");
  }
  laju_buffer_add_text(out, "}");
}
