/* What the tests on a real Redis share: one server for a program's tests, rules, asks of named keys. */
#ifndef TESTS_REDIS_FIXTURE_H
#define TESTS_REDIS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "redis/redis_server.h"

#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define NOON (INT64_C(1700000000) * SECOND / (7200 * SECOND) * 7200 * SECOND) /* a full even hour, after the epoch */
#define LONG_ENOUGH_MS (INT64_C(1) << 42)

static const laju_algorithm every_algorithm[LAJU_ALGORITHMS] = {LAJU_TOKEN_BUCKET, LAJU_LEAKY_BUCKET, LAJU_FIXED_WINDOW,
                                                                LAJU_SLIDING_WINDOW_COUNTER, LAJU_SLIDING_WINDOW_LOG};

static redis_server server;

static inline int start(void **unused) {
  (void)unused;
  redis_start(&server);
  return 0;
}

static inline int stop(void **unused) {
  (void)unused;
  redis_stop(&server);
  return 0;
}

static inline int empty(void **unused) {
  (void)unused;
  freeReplyObject(redis_command(&server, "FLUSHALL"));
  return 0;
}

static inline laju_rule rule_of(laju_algorithm algorithm, uint64_t limit, int64_t period_us, uint64_t burst) {
  laju_rule rule;
  assert_int_equal(laju_rule_init(&rule, "rule", 4, algorithm, limit, period_us, burst), 0);
  return rule;
}

static inline laju_script_ask ask_of(const laju_rule *rule, const char *name, uint32_t cost) {
  return (laju_script_ask){.rule = rule, .name = name, .name_len = (uint32_t)strlen(name), .cost = cost};
}

/* One request of one check, at a time of the test's, with the rule's own time to live. */
static inline laju_script_answer ask_at(const laju_rule *rule, const char *name, uint32_t cost, int64_t now_us) {
  laju_script_ask ask = ask_of(rule, name, cost);
  laju_script_answer answer;
  redis_ask(&server, &ask, 1, &(laju_script_pin){.now_us = now_us}, &answer);
  return answer;
}

/* A small generator, the same on every machine. */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound) {
  return random_next(state) % bound;
}

/* How many calls of the script the server has carried out. */
static inline int64_t evalshas(void) {
  redisReply *reply = redis_command(&server, "INFO commandstats");
  const char *at = strstr(reply->str, "cmdstat_evalsha:calls=");
  int64_t calls = at != NULL ? strtoll(at + strlen("cmdstat_evalsha:calls="), NULL, 10) : 0;
  freeReplyObject(reply);
  return calls;
}

#endif
