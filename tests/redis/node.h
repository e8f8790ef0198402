/* For tests of limiter's way to a real Redis: nodes (a limiter, a store on the default loop, an errand), and claims on them. */
#ifndef TESTS_REDIS_NODE_H
#define TESTS_REDIS_NODE_H

#include "redis/fixture.h"

#include "limiter/errand.h"
#include "redis/loop.h"
#include "redis/store.h"

#define PREFIX "laju"
#define CLAIMS_MAX 64

typedef struct node {
  laju_limiter *limiter;
  laju_store *store;
  laju_way way;
  laju_errand *errand;
  bool done, closed;
} node;

static _Atomic uint32_t nodes = 1;

static inline laju_store_options options_of(const redis_server *at) {
  laju_store_options options = {.timeout_us = 5 * SECOND, .connect_timeout_us = SECOND, .pool = 1};
  options.max_inflight = 100000;
  options.url.kind = LAJU_STORE_SINGLE;
  snprintf(options.url.unix_path, sizeof options.url.unix_path, "%s", at->socket);
  return options;
}

/* Comes back when its store is up. */
static inline void open_node(node *n, const laju_store_options *options) {
  char why[LAJU_TEXT_SIZE] = "";
  *n = (node){.errand = laju_errand_new()};
  assert_int_equal(laju_limiter_new_shared(&n->limiter, &(laju_limiter_options){.memory_bytes = 4 << 20}), 0);
  assert_int_equal(laju_store_new(&n->store, uv_default_loop(), options, why), 0);
  n->way = (laju_way){.limiter = n->limiter, .store = n->store, .deny_cache = true, .nodes = &nodes};
  n->way.transaction = options->transaction;
  assert_int_equal(laju_keys_init(&n->way.keys, PREFIX, strlen(PREFIX)), 0);
  assert_true(COMES_TRUE(uv_default_loop(), laju_store_is_up(n->store)));
}

static inline void on_node_closed(void *context) {
  ((node *)context)->closed = true;
}

static inline void close_node(node *n) {
  laju_store_close(n->store, on_node_closed, n);
  assert_true(COMES_TRUE(uv_default_loop(), n->closed));
  laju_errand_free(n->errand);
  laju_keys_deinit(&n->way.keys);
  laju_limiter_free(n->limiter);
}

/* ---- claims ---- */

static inline laju_rule exact_of(const char *text) {
  laju_rule rule;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_rule_parse(&rule, text, why), 0);
  rule.mode = LAJU_EXACT;
  return rule;
}

static inline laju_rule embedded_of(const char *text) {
  laju_rule rule = exact_of(text);
  rule.mode = LAJU_EMBEDDED;
  return rule;
}

static inline laju_check check_of(const laju_rule *rule, const char *key, uint32_t cost) {
  return (laju_check){.rule = rule, .key = key, .key_len = (uint32_t)strlen(key), .cost = cost};
}

static inline laju_claim claim_of(laju_claim_kind kind, const laju_check *checks, size_t count,
                                  laju_decision *decisions) {
  return (laju_claim){.kind = kind, .checks = checks, .count = (uint32_t)count, .decisions = decisions};
}

static inline void on_errand_done(void *context) {
  ((node *)context)->done = true;
}

/* Starts what the way leaves. True: it is under way. */
static inline bool start_claims(node *n, laju_claim *claims, size_t count) {
  int64_t now_us = laju_limiter_now_us(n->limiter);
  n->done = false;
  return laju_errand_start(n->errand, &n->way, claims, count, now_us, on_errand_done, n);
}

/* Until all are decided. True where the store was asked. */
static inline bool decide_claims(node *n, laju_claim *claims, size_t count) {
  if (!start_claims(n, claims, count)) return false;
  assert_false(n->done);
  assert_true(COMES_TRUE(uv_default_loop(), n->done));
  return true;
}

/* One claim, as a door has it decided. True where the store was asked. */
static inline bool decide_claim(node *n, laju_claim *claim) {
  return !laju_way_decide(&n->way, claim, laju_limiter_now_us(n->limiter)) && decide_claims(n, claim, 1);
}

/* A request of these checks: is it allowed? */
static inline bool request(node *n, const laju_check *checks, size_t count, laju_decision *decisions) {
  laju_claim claim = claim_of(LAJU_CLAIM_ALL, checks, count, decisions);
  decide_claim(n, &claim);
  return claim.allowed;
}

static inline laju_decision ask(node *n, const laju_rule *rule, const char *key, uint32_t cost) {
  laju_check check = check_of(rule, key, cost);
  laju_decision decision;
  bool allowed = request(n, &check, 1, &decision);
  assert_int_equal(allowed, decision.allowed || rule->shadow);
  return decision;
}

/* Forgets a key; was it known? */
static inline bool reset(node *n, const laju_rule *rule, const char *key) {
  laju_check check = check_of(rule, key, 0);
  laju_claim claim = claim_of(LAJU_CLAIM_RESET, &check, 1, NULL);
  decide_claim(n, &claim);
  assert_false(claim.failed);
  return claim.known;
}

/* What the table holds of a key, whatever its rule's mode. */
static inline uint32_t here(const node *n, const laju_rule *rule, const char *key) {
  laju_check peek = check_of(rule, key, 0);
  laju_decision decision;
  laju_table_decide_all(laju_limiter_table(n->limiter), &peek, 1, laju_limiter_now_us(n->limiter), &decision);
  return decision.remaining;
}

/* How many checks the node has sent. */
static inline uint64_t sent(const node *n) {
  return laju_store_read_counters(n->store)->checks;
}

#endif
