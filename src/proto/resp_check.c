#include "proto/resp_run.h"

#include <string.h>

#include "proto/resolve.h"
#include "proto/resp_reply.h"

#define THROTTLE_RULE "cl.throttle"
#define SECOND_US INT64_C(1000000)
#define PERIOD_MAX_S (LAJU_PERIOD_MAX_US / SECOND_US)

/* ---- arguments ---- */

/* Digits alone, no leading zero, at most `max`. */
static inline bool read_number(laju_resp_argument text, uint64_t max, uint64_t *out) {
  if (text.len == 0 || text.len > 10 || (text.len > 1 && text.at[0] == '0')) return false;
  uint64_t value = 0;
  for (uint32_t i = 0; i < text.len; i++) {
    unsigned digit = (unsigned)(unsigned char)text.at[i] - '0';
    if (digit > 9) return false;
    value = value * 10 + digit;
  }
  if (value > max) return false;
  *out = value;
  return true;
}

static void refuse(laju_resp_call *call, const char *field, laju_resp_argument value, const char *allowed) {
  char quoted[LAJU_RESP_QUOTED_SIZE];
  laju_resp_note_error(call, "ERR %s %s: %s", field, laju_resp_quote(quoted, value), allowed);
}

/* The policy of that name, or NULL, refused. Most requests of a run name the same one. */
static inline const laju_policy *find_policy(laju_resp_call *call, laju_resp_argument name) {
  const laju_policy *policy = call->named;
  if (policy != NULL && laju_policy_is_named(policy, name.at, name.len)) return policy;
  policy = laju_ruleset_find(call->connection->terms->rules, name.at, name.len);
  if (policy == NULL) {
    refuse(call, "rule", name, "no such rule; it must be one of the configuration's");
    return NULL;
  }
  call->named = policy;
  return policy;
}

static inline bool read_key(laju_resp_call *call, laju_resp_argument key) {
  if (key.len >= 1) return true; /* not above LAJU_KEY_MAX: no argument is */
  refuse(call, "key", key, laju_error_allowed(LAJU_ERR_KEY));
  return false;
}

static inline bool read_cost(laju_resp_call *call, const char *field, laju_resp_argument text, uint32_t *out) {
  uint64_t cost;
  if (!read_number(text, LAJU_TOKENS_MAX, &cost)) {
    refuse(call, field, text, laju_error_allowed(LAJU_ERR_COST));
    return false;
  }
  *out = (uint32_t)cost;
  return true;
}

static inline void add_check(laju_batch *batch, const laju_rule *rule, laju_resp_argument key, uint32_t cost) {
  if (rule->grouped) batch->groups[batch->check_count] = (laju_slice){NULL, 0};
  batch->checks[batch->check_count++] = (laju_check){.rule = rule, .key = key.at, .key_len = key.len, .cost = cost};
}

/* A check that names its policy: by the rule and at the cost that are this key's, where it says none itself (NULL). */
static inline void add_named(laju_resp_call *call, const laju_policy *policy, laju_resp_argument key,
                             const uint32_t *said) {
  uint32_t cost;
  const laju_terms *terms = call->connection->terms;
  const laju_rule *rule = laju_ruleset_resolve(terms->rules, policy, key.at, key.len, said, &cost);
  rule = laju_terms_override(terms, rule, key.at, key.len, &call->batch->rules[call->batch->check_count]);
  add_check(call->batch, rule, key, cost);
}

/* ---- LAJU.* ---- */

static const uint32_t nothing = 0; /* the cost of a look */

void laju_resp_run_check(laju_resp_call *call) {
  const laju_resp_argument *argv = call->argv;
  const laju_policy *policy = find_policy(call, argv[1]);
  if (policy == NULL || !read_key(call, argv[2])) return;
  uint32_t cost;
  if (call->argc > 3 && !read_cost(call, "cost", argv[3], &cost)) return;
  add_named(call, policy, argv[2], call->argc > 3 ? &cost : NULL);
  laju_resp_ask(call, LAJU_ASK_EACH, LAJU_RESP_FORM_CHECK, 1);
}

void laju_resp_run_peek(laju_resp_call *call) {
  const laju_policy *policy = find_policy(call, call->argv[1]);
  if (policy == NULL || !read_key(call, call->argv[2])) return;
  add_named(call, policy, call->argv[2], &nothing);
  laju_resp_ask(call, LAJU_ASK_EACH, LAJU_RESP_FORM_CHECK, 1);
}

void laju_resp_run_all(laju_resp_call *call) {
  if ((call->argc - 1) % 3 != 0) {
    laju_resp_note_error(call,
                         "ERR wrong number of arguments for 'laju.all' command: rule, key and cost for each check");
    return;
  }
  size_t before = call->batch->check_count;
  for (const laju_resp_argument *at = call->argv + 1; at < call->argv + call->argc; at += 3) {
    uint32_t cost = 0;
    const laju_policy *policy = find_policy(call, at[0]);
    if (policy == NULL || !read_key(call, at[1]) || !read_cost(call, "cost", at[2], &cost)) {
      call->batch->check_count = before;
      return;
    }
    add_named(call, policy, at[1], &cost);
  }
  laju_resp_ask(call, LAJU_ASK_ALL, LAJU_RESP_FORM_ALL, (uint32_t)(call->argc - 1) / 3);
}

void laju_resp_run_mcheck(laju_resp_call *call) {
  size_t before = call->batch->check_count;
  uint32_t cost = 0;
  const laju_policy *policy = find_policy(call, call->argv[1]);
  if (policy == NULL || !read_cost(call, "cost", call->argv[2], &cost)) return;
  for (size_t i = 3; i < call->argc; i++) {
    if (!read_key(call, call->argv[i])) {
      call->batch->check_count = before;
      return;
    }
    add_named(call, policy, call->argv[i], &cost);
  }
  laju_resp_ask(call, LAJU_ASK_EACH, LAJU_RESP_FORM_EACH, (uint32_t)call->argc - 3);
}

void laju_resp_run_reset(laju_resp_call *call) {
  const laju_terms *terms = call->connection->terms;
  if (terms->resp_password == NULL && !terms->resp_admin) {
    laju_resp_note_error(call, "NOPERM 'laju.reset' needs a password set (resp_password) or resp_admin: true");
    return;
  }
  const laju_policy *policy = find_policy(call, call->argv[1]);
  if (policy == NULL || !read_key(call, call->argv[2])) return;
  add_named(call, policy, call->argv[2], &nothing);
  laju_resp_ask(call, LAJU_ASK_RESET, LAJU_RESP_FORM_RESET, 1);
}

/* ---- CL.THROTTLE ---- */

static void refuse_period(laju_resp_call *call, laju_resp_argument text, uint64_t period_s) {
  char quoted[LAJU_RESP_QUOTED_SIZE];
  laju_resp_note_error(call, "ERR period %s: it cannot be counted in whole ticks; the nearest that can is %lld",
                       laju_resp_quote(quoted, text),
                       (long long)(laju_period_nearest((int64_t)period_s * SECOND_US) / SECOND_US));
}

/* The rule for (burst, count, period): the last one again, or a new one in the place of the check to come. NULL: refused. */
static const laju_rule *throttle_rule(laju_resp_call *call, uint32_t capacity, uint32_t count, uint32_t period_s) {
  const laju_rule *last = call->throttle;
  if (last != NULL && last->capacity == capacity && last->limit == count && call->throttle_period == period_s)
    return last;
  laju_rule *rule = &call->batch->rules[call->batch->check_count];
  int error = laju_rule_init(rule, THROTTLE_RULE, sizeof THROTTLE_RULE - 1, LAJU_TOKEN_BUCKET, count,
                             (int64_t)period_s * SECOND_US, capacity);
  if (error < 0) { /* of all its errors only this one is left: the numbers are in range */
    refuse_period(call, call->argv[4], period_s);
    return NULL;
  }
  if (!laju_terms_place(call->connection->terms, rule)) {
    laju_resp_note_error(call,
                         "ERR CL.THROTTLE is a token bucket, which the shared store cannot decide without scripts");
    return NULL;
  }
  call->throttle = rule;
  call->throttle_period = period_s;
  return rule;
}

void laju_resp_run_throttle(laju_resp_call *call) {
  const laju_resp_argument *argv = call->argv;
  uint64_t max_burst, count, period_s;
  uint32_t quantity = 1;
  if (!read_key(call, argv[1])) return;
  if (!read_number(argv[2], LAJU_TOKENS_MAX - 1, &max_burst)) {
    refuse(call, "max_burst", argv[2], "0 to 4294967294");
    return;
  }
  if (!read_number(argv[3], LAJU_TOKENS_MAX, &count) || count == 0) {
    refuse(call, "count", argv[3], "1 to 4294967295");
    return;
  }
  if (!read_number(argv[4], PERIOD_MAX_S, &period_s) || period_s == 0) {
    refuse(call, "period", argv[4], "1 to 31622400 seconds");
    return;
  }
  if (call->argc > 5 && !read_cost(call, "quantity", argv[5], &quantity)) return;
  const laju_rule *rule = throttle_rule(call, (uint32_t)max_burst + 1, (uint32_t)count, (uint32_t)period_s);
  if (rule == NULL) return;
  add_check(call->batch, rule, argv[1], quantity);
  laju_resp_ask(call, LAJU_ASK_EACH, LAJU_RESP_FORM_THROTTLE, 1);
}
