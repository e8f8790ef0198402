/* What may be said of the shared store, and of rules that it decides, though it is probably not what was meant. */
#include <stdio.h>
#include <string.h>

#include "base/duration.h"
#include "base/network.h"
#include "config/setting_store.h"
#include "config/value.h"
#include "config/warn.h"

#define WHERE "rules[%zu] (%s): "
#define TIMEOUT_LONG_US INT64_C(1000000)

/* ---- the store ----------------------------------------------------------------------------------------------------- */

/* Settings that nothing comes of, for there is no store. */
static bool is_idle(const laju_config_store *store) {
  laju_config_store untouched;
  laju_store_init(&untouched);
  bool same = store->timeout_us == untouched.timeout_us && store->connect_timeout_us == untouched.connect_timeout_us &&
              store->pool == untouched.pool && store->max_inflight == untouched.max_inflight &&
              store->transaction == untouched.transaction && store->deny_cache == untouched.deny_cache &&
              store->nodes == untouched.nodes && strcmp(store->prefix, untouched.prefix) == 0;
  bool none = store->password[0] == '\0' && store->tls_ca[0] == '\0' && store->tls_cert[0] == '\0' &&
              store->tls_server_name[0] == '\0';
  return !same || !none;
}

static bool is_loopback(const char *host) {
  laju_ip address;
  laju_network v4, v6;
  if (strcmp(host, "localhost") == 0) return true;
  if (laju_ip_parse(host, strlen(host), &address) < 0) return false;
  bool known = laju_network_parse("127.0.0.0/8", 11, &v4) == 0 && laju_network_parse("::1", 3, &v6) == 0;
  return known && (laju_network_has(&v4, &address) || laju_network_has(&v6, &address));
}

static void warn_of_open_password(laju_teller *to, const laju_store_url *url) {
  if (url->tls || url->password[0] == '\0') return;
  for (size_t i = 0; i < url->place_count; i++) {
    const char *host = url->places[i].host;
    if (is_loopback(host)) continue;
    laju_teller_warn(to, "store.redis: the password goes to %s as plain text; rediss:// would encrypt it", host);
    return;
  }
}

static void warn_of_store(laju_teller *to, const laju_config_store *store) {
  if (store->url.kind == LAJU_STORE_NONE) {
    if (is_idle(store)) laju_teller_warn(to, "store: has no redis: URL, so nothing is shared");
    return;
  }
  warn_of_open_password(to, &store->url);
  if (store->timeout_us <= TIMEOUT_LONG_US) return;
  char timeout[24];
  laju_duration_format(timeout, sizeof timeout, store->timeout_us);
  laju_teller_warn(to, "store.timeout: while the store does not answer, checks wait for %s", timeout);
}

/* ---- rules --------------------------------------------------------------------------------------------------------- */

/* A share is at least 1, so that together they admit more than the limit. */
static void warn_of_share(laju_teller *to, size_t i, const char *name, const char *place, uint32_t limit,
                          uint32_t nodes) {
  if (limit == 0 || limit >= nodes) return;
  laju_teller_warn(to,
                   WHERE
                   "%slimit: %u is less than the %u nodes, so that under on_store_error: local they admit up to "
                   "%u together",
                   i, name, place, limit, nodes, nodes);
}

static void warn_of_shares(laju_teller *to, size_t i, const laju_policy *policy, uint32_t nodes) {
  if (policy->rule.mode != LAJU_EXACT || policy->rule.on_store_error != LAJU_STORE_ERROR_LOCAL) return;
  warn_of_share(to, i, policy->rule.name, "", policy->rule.limit, nodes);
  for (size_t j = 0; j < policy->override_count; j++) {
    char place[32];
    snprintf(place, sizeof place, "overrides[%zu].", j);
    warn_of_share(to, i, policy->rule.name, place, policy->overrides[j].rule.limit, nodes);
  }
}

static void warn_of_unused(laju_teller *to, size_t i, const laju_policy *policy, laju_store_kind kind) {
  const char *name = policy->rule.name;
  bool embedded = policy->rule.mode == LAJU_EMBEDDED;
  if (embedded && policy->on_store_error_given) {
    laju_teller_warn(to, WHERE "on_store_error: is for exact rules, and this one is embedded", i, name);
  }
  if (policy->group_count == 0) return;
  if (embedded) {
    laju_teller_warn(to, WHERE "group: is for exact rules, and this one is embedded", i, name);
  } else if (kind != LAJU_STORE_CLUSTER) {
    laju_teller_warn(to, WHERE "group: is for a cluster, and the store is none", i, name);
  }
}

/* ---- rules together ------------------------------------------------------------------------------------------------ */

/* The parts that say where its keys live. */
static const laju_part *place_of(const laju_policy *policy, size_t *count) {
  *count = policy->group_count > 0 ? policy->group_count : policy->part_count;
  return policy->group_count > 0 ? policy->group_parts : policy->parts;
}

static bool live_together(const laju_policy *a, const laju_policy *b) {
  size_t a_count, b_count;
  const laju_part *a_parts = place_of(a, &a_count), *b_parts = place_of(b, &b_count);
  bool same = a_count == b_count && a->rule.secret == b->rule.secret;
  for (size_t i = 0; same && i < a_count; i++) {
    same = a_parts[i].kind == b_parts[i].kind && strcmp(a_parts[i].name, b_parts[i].name) == 0;
  }
  return same;
}

/* Of those that are decided as one request, and match any, the first that lives elsewhere than the one before. */
static void warn_of_split(laju_teller *to, const laju_config *config) {
  const laju_policy *first = NULL;
  size_t first_at = 0;
  for (size_t i = 0; i < config->rule_count; i++) {
    const laju_policy *policy = &config->rules[i];
    if (policy->rule.mode != LAJU_EXACT || policy->rule.shadow || !laju_policy_is_for_any(policy)) continue;
    if (first == NULL) {
      first = policy;
      first_at = i;
    } else if (!live_together(first, policy)) {
      laju_teller_warn(to,
                       WHERE
                       "key: differs from that of rules[%zu] (%s): a request that both match is refused in a "
                       "cluster, unless they have one group",
                       i, policy->rule.name, first_at, first->rule.name);
      return;
    }
  }
}

void laju_store_warn(laju_teller *to, const laju_config *config) {
  warn_of_store(to, &config->store);
  if (config->store.url.kind == LAJU_STORE_CLUSTER) warn_of_split(to, config);
  for (size_t i = 0; i < config->rule_count; i++) {
    warn_of_unused(to, i, &config->rules[i], config->store.url.kind);
    warn_of_shares(to, i, &config->rules[i], config->store.nodes);
  }
}
