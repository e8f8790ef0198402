#include "replay/replay.h"

#include <stdlib.h>

#include "proto/hops.h"
#include "proto/match.h"
#include "proto/target.h"
#include "replay/access_log.h"

struct laju_replay {
  laju_terms terms;
  laju_ruleset *rules;
  laju_network *trusted;
  laju_limiter *limiter;
  laju_batch *batch;
  laju_history history;
  laju_replay_tally tally;
  int64_t now_us;  /* the latest time seen; -1: none */
  laju_slice host; /* of those that have none */
  bool keeps_history;
  bool reads_headers; /* a rule's key has a header or a cookie, or a forwarding header may count */
  laju_field fields[LAJU_ACCESS_HEADERS_MAX];
  char header_bytes[LAJU_ACCESS_REQUEST_MAX];
};

_Static_assert(LAJU_ACCESS_REQUEST_MAX <= LAJU_ORIGIN_SCRATCH - 1, "a path and a host find room");
_Static_assert(LAJU_ACCESS_REQUEST_MAX <= UINT16_MAX, "a field's offsets fit");

/* ---- life ---- */

static bool needs_headers(const laju_policy *policy) {
  for (size_t i = 0; i < policy->part_count; i++) {
    if (policy->parts[i].kind == LAJU_PART_HEADER || policy->parts[i].kind == LAJU_PART_COOKIE) return true;
  }
  return false;
}

/* The rules belong to the set from here on; of the config's list only the memory is left. */
static int take_rules(laju_replay *replay, laju_config *config) {
  int error = laju_ruleset_new(&replay->rules, config->rules, config->rule_count);
  if (error < 0) return error;
  free(config->rules);
  config->rules = NULL;
  config->rule_count = 0;
  for (size_t i = 0; i < laju_ruleset_count(replay->rules); i++) {
    if (needs_headers(laju_ruleset_at(replay->rules, i))) replay->reads_headers = true;
  }
  return 0;
}

static int take_terms(laju_replay *replay, const laju_config *config, const char *host) {
  char *normal = malloc(host != NULL ? strlen(host) + 1 : 1);
  replay->trusted = calloc(config->trusted_count + 1, sizeof *replay->trusted);
  replay->host.at = normal;
  if (normal == NULL || replay->trusted == NULL) return LAJU_ERR_MEMORY;
  if (host != NULL) replay->host.len = laju_host_normalise(normal, (laju_slice){host, strlen(host)});
  memcpy(replay->trusted, config->trusted, config->trusted_count * sizeof *replay->trusted);
  replay->terms = (laju_terms){.rules = replay->rules,
                               .trust_unix = config->trust_unix,
                               .trusted = replay->trusted,
                               .trusted_count = config->trusted_count,
                               .ip_prefix_v4 = config->ip_prefix_v4,
                               .ip_prefix_v6 = config->ip_prefix_v6};
  return 0;
}

static int make_tally(laju_replay *replay) {
  laju_replay_tally *tally = &replay->tally;
  tally->rules = calloc(laju_ruleset_count(replay->rules) + 1, sizeof *tally->rules);
  if (tally->rules == NULL) return LAJU_ERR_MEMORY;
  for (size_t i = 0; i < laju_ruleset_count(replay->rules); i++) tally->rules[i].first_refused_us = -1;
  laju_timeline_init(&tally->timeline);
  tally->from_us = tally->to_us = -1;
  return laju_refused_init(&tally->refused_keys);
}

static int make(laju_replay *replay, laju_config *config, const char *host) {
  laju_limiter_options options = {.memory_bytes = config->memory_bytes,
                                  .memory_logs_bytes = config->memory_logs_bytes,
                                  .huge_pages = config->huge_pages};
  int error = take_rules(replay, config);
  if (error == 0) error = take_terms(replay, config, host);
  if (error == 0) error = make_tally(replay);
  if (error == 0) error = laju_limiter_new(&replay->limiter, &options);
  laju_batch_clear(replay->batch);
  if (error == 0 && replay->keeps_history) error = laju_history_init(&replay->history);
  return error;
}

int laju_replay_new(laju_replay **out, laju_config *config, const char *host, bool history) {
  laju_replay *replay = calloc(1, sizeof *replay);
  if (replay == NULL) return LAJU_ERR_MEMORY;
  replay->batch = laju_batch_new();
  replay->keeps_history = history;
  replay->now_us = -1;
  int error = replay->batch != NULL ? make(replay, config, host) : LAJU_ERR_MEMORY;
  if (error < 0) {
    laju_replay_free(replay);
    return error;
  }
  *out = replay;
  return 0;
}

void laju_replay_free(laju_replay *replay) {
  if (replay == NULL) return;
  laju_history_deinit(&replay->history);
  laju_refused_deinit(&replay->tally.refused_keys);
  laju_limiter_free(replay->limiter);
  laju_ruleset_free(replay->rules);
  free(replay->tally.rules);
  free(replay->trusted);
  free((char *)(uintptr_t)replay->host.at);
  laju_batch_free(replay->batch);
  free(replay);
}

/* ---- what came out ---- */

/* The place of the policy that a check's rule is of, or of one of its overrides. */
static size_t place_of(const laju_replay *replay, const laju_rule *rule) {
  const laju_policy *first = laju_ruleset_at(replay->rules, 0);
  size_t bytes = laju_ruleset_count(replay->rules) * sizeof *first;
  uintptr_t offset = (uintptr_t)rule - (uintptr_t)first;
  if (offset < bytes) return offset / sizeof *first;
  return (size_t)(laju_ruleset_find(replay->rules, rule->name, strlen(rule->name)) - first);
}

static void count_check(laju_replay *replay, const laju_check *check, bool allowed) {
  size_t place = place_of(replay, check->rule);
  laju_rule_tally *rule = &replay->tally.rules[place];
  rule->checks++;
  if (allowed) {
    rule->admitted++;
  } else {
    if (rule->refused++ == 0) rule->first_refused_us = replay->now_us;
    laju_refused_add(&replay->tally.refused_keys, (uint32_t)place, check->key, check->key_len, replay->now_us);
  }
  if (!replay->keeps_history || check->cost == 0 || check->rule != &laju_ruleset_at(replay->rules, place)->rule) return;
  laju_history_add(&replay->history, (uint32_t)place, check->key, check->key_len, replay->now_us);
}

static void count_request(laju_replay *replay, bool admitted) {
  laju_replay_tally *tally = &replay->tally;
  tally->requests++;
  tally->admitted += admitted;
  tally->refused += !admitted;
  laju_timeline_add(&tally->timeline, replay->now_us / 1000000, admitted, !admitted);
}

/* Requests of one check each are independent of each other, and go to the table together. Returns the request after them. */
static size_t decide_run(laju_replay *replay, size_t at) {
  laju_batch *batch = replay->batch;
  size_t end = at;
  while (end < batch->ask_count && batch->asks[end].count == 1) end++;
  uint32_t first = batch->asks[at].first;
  laju_limiter_decide_each(replay->limiter, batch->checks + first, end - at, replay->now_us, batch->decisions + first);
  for (size_t i = at; i < end; i++) {
    const laju_ask *ask = &batch->asks[i];
    batch->asks[i].allowed = batch->decisions[ask->first].allowed || batch->checks[ask->first].rule->shadow;
  }
  return end;
}

static void decide(laju_replay *replay) {
  laju_batch *batch = replay->batch;
  for (size_t i = 0; i < batch->ask_count;) {
    laju_ask *ask = &batch->asks[i];
    if (ask->count == 1) {
      i = decide_run(replay, i);
    } else {
      ask->allowed = laju_limiter_decide_all(replay->limiter, batch->checks + ask->first, ask->count, replay->now_us,
                                             batch->decisions + ask->first);
      i++;
    }
  }
}

/* Decides all that wait, which are of one time: here and now, whatever store their rules name. */
static void flush(laju_replay *replay) {
  laju_batch *batch = replay->batch;
  decide(replay);
  for (size_t i = 0; i < batch->ask_count; i++) {
    const laju_ask *ask = &batch->asks[i];
    count_request(replay, ask->allowed);
    for (uint32_t c = ask->first; c < ask->first + ask->count; c++) {
      count_check(replay, &batch->checks[c], batch->decisions[c].allowed);
    }
  }
  laju_batch_clear(batch);
}

/* ---- a request ---- */

static laju_slice copy(char *bytes, size_t *len, laju_slice text) {
  char *to = bytes + *len;
  memcpy(to, text.at, text.len);
  *len += text.len;
  return (laju_slice){to, text.len};
}

/* The headers as a door's fields: offsets into one run of bytes. */
static laju_fields fields_of(laju_replay *replay, const laju_access *access) {
  char *bytes = replay->header_bytes;
  size_t len = 0;
  for (size_t i = 0; i < access->header_count; i++) {
    laju_slice name = copy(bytes, &len, access->headers[i].name), value = copy(bytes, &len, access->headers[i].value);
    replay->fields[i] = (laju_field){.name_at = (uint16_t)(name.at - bytes),
                                     .name_len = (uint16_t)name.len,
                                     .value_at = (uint16_t)(value.at - bytes),
                                     .value_len = (uint16_t)value.len};
  }
  return (laju_fields){.bytes = bytes, .list = replay->fields, .count = access->header_count};
}

/* The client that the log names, or whom it was a proxy for, where its forwarding header counts. */
static void find_client(const laju_replay *replay, const laju_access *access, laju_origin *origin) {
  const laju_terms *terms = &replay->terms;
  laju_hops hops = {.known = false};
  origin->addressed = access->addressed;
  origin->client = access->client;
  for (size_t i = 0; i < access->header_count; i++) {
    const laju_access_header *header = &access->headers[i];
    if (!laju_field_named(header->name, "x-forwarded-for", 15)) continue;
    bool trusted = access->addressed ? laju_terms_trust(terms, &access->client) : terms->trust_unix;
    if (trusted) laju_hops_add_list(&hops, terms, header->value);
  }
  if (!hops.known) return;
  origin->addressed = true;
  origin->client = hops.client;
}

static laju_origin origin_of(laju_replay *replay, const laju_access *access) {
  char *scratch = replay->batch->scratch + LAJU_KEY_SCRATCH;
  laju_target target = laju_target_split(access->target);
  laju_slice host = target.authority.at != NULL ? target.authority : access->host;
  laju_origin origin = {.method = access->method, .query = target.query, .host = replay->host};
  origin.path = (laju_slice){scratch, laju_path_normalise(scratch, target.path)};
  scratch += origin.path.len;
  if (host.len > 0) origin.host = (laju_slice){scratch, laju_host_normalise(scratch, host)};
  find_client(replay, access, &origin);
  return origin;
}

/* Adds the request's checks to those that wait, or counts it at once where there are none. */
static void add_request(laju_replay *replay, const laju_access *access) {
  laju_batch *batch = replay->batch;
  laju_origin origin = origin_of(replay, access);
  laju_fields fields = {.bytes = NULL};
  if (replay->reads_headers) fields = fields_of(replay, access);
  laju_asker asker = {.origin = &origin,
                      .fields = &fields,
                      .prefix_v4 = replay->terms.ip_prefix_v4,
                      .prefix_v6 = replay->terms.ip_prefix_v6};
  laju_matched matched;
  int error = laju_match_request(&matched, &replay->terms, &asker, NULL, 0, batch);
  if (error == 0 && matched.count > 0) {
    batch->asks[batch->ask_count++] =
        (laju_ask){.kind = LAJU_ASK_ALL, .first = (uint32_t)batch->check_count, .count = (uint32_t)matched.count};
    batch->check_count += matched.count;
    batch->key_len += matched.key_len;
    return;
  }
  if (error == LAJU_MATCH_DENIED) {
    replay->tally.rules[place_of(replay, &matched.policy->rule)].missing++;
  } else if (error < 0) {
    replay->tally.crowded++;
  } else {
    replay->tally.unmatched++;
  }
  count_request(replay, error == 0);
}

bool laju_replay_add(laju_replay *replay, const laju_access *access) {
  laju_replay_tally *tally = &replay->tally;
  int64_t late_us = replay->now_us - access->time_us;
  if (late_us > LAJU_REPLAY_LATE_MAX_US) return false;
  if (replay->now_us >= 0 && late_us > 0) {
    tally->late++;
    if (late_us > tally->late_max_us) tally->late_max_us = late_us;
  }
  bool later = access->time_us > replay->now_us;
  if (later || !laju_batch_has_room(replay->batch, LAJU_CHECKS_MAX)) flush(replay);
  if (later) replay->now_us = access->time_us;
  if (tally->from_us < 0) tally->from_us = access->time_us;
  tally->to_us = replay->now_us;
  add_request(replay, access);
  return true;
}

static void count_refused_keys(laju_replay_tally *tally) {
  const laju_refused *refused = &tally->refused_keys;
  for (size_t i = 0; i < refused->count; i++) tally->rules[refused->entries[i].rule].keys_refused++;
}

void laju_replay_finish(laju_replay *replay) {
  flush(replay);
  laju_timeline_finish(&replay->tally.timeline);
  laju_refused_sort(&replay->tally.refused_keys);
  count_refused_keys(&replay->tally);
  laju_table_stats_read(laju_limiter_table(replay->limiter), &replay->tally.table);
}

const laju_ruleset *laju_replay_rules(const laju_replay *replay) {
  return replay->rules;
}

const laju_history *laju_replay_history(const laju_replay *replay) {
  return replay->keeps_history ? &replay->history : NULL;
}

const laju_replay_tally *laju_replay_tally_of(const laju_replay *replay) {
  return &replay->tally;
}
