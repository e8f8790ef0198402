/* Random calls, decided by the script in a real Redis, by the embedded table and by the core: all three say the same, and
 * what Redis keeps is what the core would.
 *
 *     script_differs [CALLS [SEED]]      prints "N checks agreed"; exit 1 at the first that does not
 *
 * Calls carry batches of requests of one or several checks, with repeats, takes, peeks and costs that never pass, under
 * rules whose limits change on the way, at times that go forward, stand, jump over edges and step back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decide.h"
#include "core/rule.h"
#include "redis/redis_server.h"
#include "table/table.h"
#include "vectors/keeper.h"

#define KEYS 4
#define RULES 10
#define ASKS_MAX 60
#define LONG_ENOUGH_MS (INT64_C(1) << 42)

typedef struct subject {
  keeper keeper;
  char name[64];
} subject;

static laju_rule rules[RULES];
static subject subjects[RULES][KEYS];
static laju_table *table;
static redis_server server;
static uint64_t seed;
static long agreed;

static uint64_t below(uint64_t bound) {
  uint64_t x = seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (x ^ (x >> 31)) % bound;
}

/* ---- rules and checks ---- */

static void make_rule(size_t i) {
  static const int64_t periods[] = {1000, 1000000, 60000000, 90000000, 86400000000};
  static const uint64_t limits[] = {0, 1, 3, 10, 100, 1000, 5000, 1000000, LAJU_TOKENS_MAX};
  laju_algorithm algorithm = (laju_algorithm)(i % LAJU_ALGORITHMS);
  bool is_log = algorithm == LAJU_SLIDING_WINDOW_LOG;
  uint64_t limit = limits[below(is_log ? 7 : 9)];
  uint64_t burst = laju_algorithm_is_bucket(algorithm) && limit > 0 && below(2) ? below(limit) + 1 : 0;
  char name[8];
  int len = snprintf(name, sizeof name, "r%zu", i);
  if (laju_rule_init(&rules[i], name, (size_t)len, algorithm, limit, periods[i % 5 == 4 ? 2 : (i / 5 + i) % 5], burst) <
      0) {
    abort();
  }
}

static uint32_t any_cost(const laju_rule *rule) {
  switch (below(12)) {
    case 0: return 0;
    case 1: return rule->capacity;
    case 2: return rule->capacity < LAJU_TOKENS_MAX ? rule->capacity + 1 : rule->capacity;
    case 3: return rule->capacity / 2;
    case 4: return rule->capacity / 7 + 1;
    case 5: return 2;
    default: return 1;
  }
}

static laju_script_ask any_ask(void) {
  size_t r = below(RULES), k = below(KEYS);
  return (laju_script_ask){
      .rule = &rules[r],
      .name = subjects[r][k].name,
      .name_len = (uint32_t)strlen(subjects[r][k].name),
      .cost = any_cost(&rules[r]),
  };
}

/* Several requests. A check that takes at most n stands alone: that is how the table takes. */
static size_t make_asks(laju_script_ask asks[ASKS_MAX]) {
  size_t requests = 1 + below(12), count = 0;
  for (size_t i = 0; i < requests; i++) {
    size_t checks = below(2) ? 1 : 1 + below(5);
    for (size_t c = 0; c < checks; c++) {
      asks[count] = any_ask();
      if (c > 0 && below(3) == 0) asks[count] = asks[count - 1]; /* a repeat */
      asks[count].joined = c + 1 < checks;
      asks[count].at_most = checks == 1 && below(4) == 0;
      count++;
    }
  }
  return count;
}

static int64_t step_time(int64_t now_us, int64_t start_us) {
  int64_t period_us = laju_rule_period_us(&rules[below(RULES)]);
  int64_t then_us = now_us;
  switch (below(10)) {
    case 0:
    case 1: break;
    case 2: then_us = (now_us / period_us + 1) * period_us - 1 + (int64_t)below(3); break;
    case 3: then_us -= (int64_t)below((uint64_t)period_us); break;
    case 4: then_us -= (int64_t)below(3 * (uint64_t)period_us); break;
    case 5: then_us += (int64_t)below(3 * (uint64_t)period_us); break;
    default: then_us += (int64_t)below((uint64_t)period_us / 4 + 1);
  }
  return then_us < start_us ? start_us : then_us;
}

/* ---- what the table and the core say ---- */

static size_t request_length(const laju_script_ask *asks) {
  size_t len = 1;
  while (asks[len - 1].joined) len++;
  return len;
}

static void ask_table(const laju_script_ask *asks, size_t count, int64_t now_us, laju_script_answer *answers) {
  laju_check checks[LAJU_CHECKS_MAX];
  laju_decision decisions[LAJU_CHECKS_MAX];
  for (size_t i = 0; i < count; i++) {
    checks[i] = (laju_check){asks[i].rule, asks[i].name, asks[i].name_len, asks[i].cost};
  }
  if (asks[0].at_most) {
    answers[0].taken = laju_table_take(table, &checks[0], now_us, &answers[0].decision);
    return;
  }
  laju_table_decide_all(table, checks, count, now_us, decisions);
  for (size_t i = 0; i < count; i++) answers[i].decision = decisions[i];
}

static keeper *keeper_of(const laju_script_ask *ask) {
  size_t r = (size_t)(ask->rule - rules);
  for (size_t k = 0;; k++) {
    if (ask->name == subjects[r][k].name) return &subjects[r][k].keeper;
  }
}

/* Charges what a request of these decisions leaves; a log's repeats are one admission. */
static void charge_core(const laju_script_ask *asks, size_t count, int64_t now_us, const laju_script_answer *answers) {
  for (size_t i = 0; i < count; i++) {
    if (!answers[i].decision.allowed) return;
  }
  for (size_t i = 0; i < count; i++) {
    const laju_rule *rule = asks[i].rule;
    uint32_t cost = asks[i].at_most ? answers[i].taken : asks[i].cost;
    keeper *k = keeper_of(&asks[i]);
    laju_decision decision;
    if (cost == 0) continue;
    k->known = true;
    if (rule->algorithm != LAJU_SLIDING_WINDOW_LOG) {
      laju_decide(rule, &k->state, now_us, cost, &decision);
      continue;
    }
    k->log.pending += cost;
    bool again = false;
    for (size_t j = i + 1; j < count; j++) again |= keeper_of(&asks[j]) == k && asks[j].cost > 0;
    if (!again) keeper_admit(k, rule, now_us, k->log.pending);
  }
}

/* ---- comparing ---- */

static void differ(const char *what, const laju_script_ask *ask, int64_t now_us) {
  printf("%s differs: %s, %s, limit %u, capacity %u, cost %u%s, at %" PRId64 "\n", what, ask->name,
         laju_algorithm_name(ask->rule->algorithm), ask->rule->limit, ask->rule->capacity, ask->cost,
         ask->at_most ? " at most" : "", now_us);
  exit(1);
}

static bool same_decision(const laju_decision *a, const laju_decision *b) {
  return a->allowed == b->allowed && a->limit == b->limit && a->remaining == b->remaining &&
         a->retry_after_us == b->retry_after_us && a->more_after_us == b->more_after_us &&
         a->reset_after_us == b->reset_after_us && a->delay_us == b->delay_us;
}

static void compare_bytes(const laju_script_ask *asks, size_t count, int64_t now_us) {
  for (size_t i = 0; i < count; i++) redisAppendCommand(server.link, "GET %s", asks[i].name);
  for (size_t i = 0; i < count; i++) {
    redisReply *stored = redis_next_reply(&server);
    size_t len;
    unsigned char *bytes = keeper_bytes(keeper_of(&asks[i]), asks[i].rule, &len);
    bool same = len == 0
                    ? stored->type == REDIS_REPLY_NIL
                    : stored->type == REDIS_REPLY_STRING && stored->len == len && memcmp(stored->str, bytes, len) == 0;
    if (!same) differ("what is stored", &asks[i], now_us);
    free(bytes);
    freeReplyObject(stored);
  }
}

static void one_call(int64_t now_us) {
  laju_script_ask asks[ASKS_MAX];
  laju_script_answer got[ASKS_MAX], wanted[ASKS_MAX] = {0};
  size_t count = make_asks(asks);
  redis_ask(&server, asks, count, &(laju_script_pin){now_us, LONG_ENOUGH_MS}, got);
  for (size_t i = 0, len; i < count; i += len) {
    len = request_length(asks + i);
    ask_table(asks + i, len, now_us, wanted + i);
    charge_core(asks + i, len, now_us, wanted + i);
  }
  for (size_t i = 0; i < count; i++, agreed++) {
    if (got[i].error != NULL) differ(got[i].error, &asks[i], now_us);
    if (!same_decision(&got[i].decision, &wanted[i].decision)) differ("the decision", &asks[i], now_us);
    if (asks[i].at_most && got[i].taken != wanted[i].taken) differ("what was taken", &asks[i], now_us);
  }
  compare_bytes(asks, count, now_us);
}

int main(int argc, char **argv) {
  long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (laju_table_new(&table, NULL) < 0) return 2;
  redis_start(&server);
  for (size_t r = 0; r < RULES; r++) {
    make_rule(r);
    for (size_t k = 0; k < KEYS; k++) snprintf(subjects[r][k].name, sizeof subjects[r][k].name, "key:%zu:%zu", r, k);
  }
  const int64_t start_us = INT64_C(1790000000000000);
  int64_t now_us = start_us;
  for (long i = 0; i < calls; i++) {
    now_us = step_time(now_us, start_us);
    if (below(20) == 0) make_rule(below(RULES));
    one_call(now_us);
  }
  for (size_t r = 0; r < RULES; r++) {
    for (size_t k = 0; k < KEYS; k++) keeper_deinit(&subjects[r][k].keeper);
  }
  redis_stop(&server);
  laju_table_free(table);
  printf("%ld checks agreed\n", agreed);
  return 0;
}
