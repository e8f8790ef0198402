/* Runs traces that oracle.py wrote through the core and compares every member of every decision.
 *
 *     vectors FILE      ends with "N passed, N failed" (steps); exit 1 where any differs, 2 where FILE cannot be read
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decide.h"
#include "core/log.h"
#include "core/rule.h"

#define SHOWN_MAX 20

typedef struct trace {
  laju_rule rule;
  laju_state state;
  laju_log log;
} trace;

static long passed, failed;

static int64_t integer(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  if (!json_is_integer(value)) {
    fprintf(stderr, "vectors: no integer \"%s\"\n", name);
    exit(2);
  }
  return json_integer_value(value);
}

static void make_rule(laju_rule *rule, laju_algorithm algorithm, int64_t period_us, const json_t *numbers) {
  int64_t limit = integer(numbers, "limit"), burst = integer(numbers, "burst");
  if (!laju_algorithm_is_bucket(algorithm)) burst = 0;
  int error = laju_rule_init(rule, "vector", 6, algorithm, (uint64_t)limit, period_us, (uint64_t)burst);
  if (error < 0) {
    fprintf(stderr, "vectors: a rule is refused: %s\n", laju_error_field(error));
    exit(2);
  }
}

static void decide_log(trace *t, int64_t now_us, uint32_t cost, laju_decision *decision) {
  laju_log_decide(&t->rule, &t->log, now_us, cost, decision);
  if (!decision->allowed || cost == 0) return;
  uint32_t need = laju_log_need(&t->rule, &t->log, now_us, cost);
  if (need > t->log.capacity) {
    uint64_t *old = t->log.stamps;
    uint64_t *stamps = calloc(need, sizeof *stamps);
    if (stamps == NULL) exit(2);
    laju_log_move(&t->log, stamps, need);
    free(old);
  }
  laju_log_admit(&t->rule, &t->log, now_us, cost);
}

static bool same(const char *name, int64_t got, int64_t want, long line, size_t step) {
  if (got == want) return true;
  if (failed < SHOWN_MAX) {
    printf("line %ld step %zu: %s is %" PRId64 ", should be %" PRId64 "\n", line, step + 1, name, got, want);
  }
  return false;
}

static void run_step(trace *t, const json_t *step, long line, size_t index) {
  const json_t *set = json_object_get(step, "set");
  if (set != NULL) make_rule(&t->rule, t->rule.algorithm, laju_rule_period_us(&t->rule), set);
  int64_t now_us = integer(step, "t");
  uint32_t cost = (uint32_t)integer(step, "cost");
  laju_decision d;
  if (t->rule.algorithm == LAJU_SLIDING_WINDOW_LOG) {
    decide_log(t, now_us, cost, &d);
  } else {
    laju_decide(&t->rule, &t->state, now_us, cost, &d);
  }
  bool ok = same("allowed", d.allowed, json_is_true(json_object_get(step, "allowed")), line, index);
  ok &= same("limit", d.limit, t->rule.capacity, line, index);
  ok &= same("remaining", d.remaining, integer(step, "remaining"), line, index);
  ok &= same("retry_after_us", d.retry_after_us, integer(step, "retry_after_us"), line, index);
  ok &= same("more_after_us", d.more_after_us, integer(step, "more_after_us"), line, index);
  ok &= same("reset_after_us", d.reset_after_us, integer(step, "reset_after_us"), line, index);
  ok &= same("delay_us", d.delay_us, integer(step, "delay_us"), line, index);
  if (ok) {
    passed++;
  } else {
    failed++;
  }
}

static void run_trace(const json_t *vector, long line) {
  const json_t *rule = json_object_get(vector, "rule");
  const char *name = json_string_value(json_object_get(rule, "algorithm"));
  laju_algorithm algorithm;
  if (name == NULL || laju_algorithm_find(name, strlen(name), &algorithm) < 0) {
    fprintf(stderr, "vectors: line %ld: unknown algorithm\n", line);
    exit(2);
  }
  trace t = {0};
  make_rule(&t.rule, algorithm, integer(rule, "period_us"), rule);
  size_t index;
  json_t *step;
  json_array_foreach(json_object_get(vector, "steps"), index, step) run_step(&t, step, line, index);
  free(t.log.stamps);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: vectors FILE\n");
    return 2;
  }
  FILE *file = fopen(argv[1], "r");
  if (file == NULL) {
    perror(argv[1]);
    return 2;
  }
  char *text = NULL;
  size_t size = 0;
  for (long line = 1; getline(&text, &size, file) >= 0; line++) {
    json_error_t error;
    json_t *vector = json_loads(text, 0, &error);
    if (vector == NULL) {
      fprintf(stderr, "vectors: line %ld: %s\n", line, error.text);
      return 2;
    }
    run_trace(vector, line);
    json_decref(vector);
  }
  free(text);
  fclose(file);
  printf("%ld passed, %ld failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
