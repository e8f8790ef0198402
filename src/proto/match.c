#include "proto/match.h"

#include "proto/resolve.h"

typedef struct applying {
  const laju_policy *policy;
  bool waits; /* the answer is held back for its delay */
} applying;

typedef struct matching {
  const laju_terms *terms;
  const laju_asker *asker;
  laju_batch *batch;
  laju_matched *out;
  applying list[LAJU_CHECKS_MAX]; /* of the checks so far */
  int error;
} matching;

static bool fail(matching *m, int error) {
  m->error = error;
  return false;
}

static bool is_there(const matching *m, const laju_policy *policy) {
  for (size_t i = 0; i < m->out->count; i++) {
    if (m->list[i].policy == policy) return true;
  }
  return false;
}

/* The check of this key, not yet hashed; its key is still missing. */
static laju_check check_of(const matching *m, const laju_policy *policy, const char *key, size_t len) {
  const laju_origin *origin = m->asker->origin;
  uint32_t cost;
  const laju_rule *rule = laju_ruleset_resolve(m->terms->rules, policy, key, len, NULL, &cost);
  bool exempt = origin->addressed && laju_policy_exempts_address(policy, &origin->client);
  return (laju_check){.rule = rule, .cost = exempt ? 0 : cost};
}

/* Policies come in no order; a set's lie in the order of the file. */
static void insert(matching *m, const laju_policy *policy, laju_check check, laju_slice group) {
  laju_check *checks = &m->batch->checks[m->batch->check_count];
  laju_slice *groups = &m->batch->groups[m->batch->check_count];
  size_t at = m->out->count++;
  for (; at > 0 && m->list[at - 1].policy > policy; at--) {
    checks[at] = checks[at - 1];
    groups[at] = groups[at - 1];
    m->list[at] = m->list[at - 1];
  }
  checks[at] = check;
  groups[at] = group;
  m->list[at] = (applying){policy, policy->wait_server && !check.rule->shadow && check.cost > 0};
}

/* A key or a group that could not be derived: false where that is an error. */
static bool lacks(matching *m, const laju_policy *policy, laju_derived derived, const laju_part *missing) {
  if (derived == LAJU_KEY_SKIPPED) return true;
  m->out->policy = policy;
  m->out->missing = missing;
  return fail(m, LAJU_MATCH_DENIED);
}

/* Keeps the `len` bytes in the scratch, a key or a group, with the batch's keys. False: they could not be hashed. */
static bool keep(matching *m, const laju_policy *policy, size_t len, laju_slice *out) {
  char *to = m->batch->keys + m->batch->key_len + m->out->key_len;
  int kept = laju_key_keep(policy, m->batch->scratch, len, to);
  if (kept < 0) return fail(m, LAJU_MATCH_BROKEN);
  *out = (laju_slice){to, (size_t)kept};
  m->out->key_len += (size_t)kept;
  return true;
}

/* Adds the policy's check, if it applies. False: enough. */
static bool take(void *context, const laju_policy *policy) {
  matching *m = context;
  char *raw = m->batch->scratch;
  const laju_part *missing;
  size_t len, before = m->out->key_len;
  laju_slice key, group = {NULL, 0};
  if (is_there(m, policy)) return true;
  laju_derived derived = laju_key_derive(policy, m->asker, raw, &len, &missing);
  if (derived != LAJU_KEY_DERIVED) return lacks(m, policy, derived, missing);
  if (m->out->count == LAJU_CHECKS_MAX) return fail(m, LAJU_MATCH_MANY);
  laju_check check = check_of(m, policy, raw, len);
  if (!keep(m, policy, len, &key)) return false;
  if (policy->group_count > 0) {
    derived = laju_group_derive(policy, m->asker, raw, &len, &missing);
    if (derived != LAJU_KEY_DERIVED) {
      m->out->key_len = before;
      return lacks(m, policy, derived, missing);
    }
    if (!keep(m, policy, len, &group)) return false;
  }
  check.key = key.at;
  check.key_len = (uint32_t)key.len;
  insert(m, policy, check, group);
  return true;
}

/* What an operator has set for the key, as it is stored. Each check's place for a rule is its own, so only when they are sorted. */
static void override(matching *m, size_t i) {
  laju_check *check = &m->batch->checks[m->batch->check_count + i];
  check->rule = laju_terms_override(m->terms, check->rule, check->key, check->key_len,
                                    &m->batch->rules[m->batch->check_count + i]);
}

int laju_match_request(laju_matched *out, const laju_terms *terms, const laju_asker *asker,
                       const laju_policy *const *named, size_t named_count, laju_batch *batch) {
  matching m = {.terms = terms, .asker = asker, .batch = batch, .out = out};
  const laju_origin *origin = asker->origin;
  *out = (laju_matched){.count = 0};
  for (size_t i = 0; i < named_count && m.error == 0; i++) take(&m, named[i]);
  if (named_count == 0) {
    laju_request_line request = {.method = origin->method, .host = origin->host, .path = origin->path};
    laju_selection_each(laju_ruleset_selection(terms->rules), &request, take, &m);
  }
  for (size_t i = 0; i < out->count; i++) {
    out->waits |= (uint16_t)(m.list[i].waits << i);
    override(&m, i);
  }
  return m.error;
}
