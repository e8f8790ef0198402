#include "vectors/trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rule.h"

#define SHOWN_MAX 20

static long passed, failed;

/* ---- reading ---- */

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

static void first_rule(laju_rule *rule, const json_t *object, long line) {
  const char *name = json_string_value(json_object_get(object, "algorithm"));
  laju_algorithm algorithm;
  if (name == NULL || laju_algorithm_find(name, strlen(name), &algorithm) < 0) {
    fprintf(stderr, "vectors: line %ld: unknown algorithm\n", line);
    exit(2);
  }
  make_rule(rule, algorithm, integer(object, "period_us"), object);
}

static void read_step(trace_step *out, laju_rule *rule, const json_t *step) {
  const json_t *set = json_object_get(step, "set");
  if (set != NULL) make_rule(rule, rule->algorithm, laju_rule_period_us(rule), set);
  *out = (trace_step){
      .rule = *rule,
      .now_us = integer(step, "t"),
      .cost = (uint32_t)integer(step, "cost"),
      .wanted =
          {
              .allowed = json_is_true(json_object_get(step, "allowed")),
              .limit = rule->capacity,
              .remaining = (uint32_t)integer(step, "remaining"),
              .retry_after_us = integer(step, "retry_after_us"),
              .more_after_us = integer(step, "more_after_us"),
              .reset_after_us = integer(step, "reset_after_us"),
              .delay_us = integer(step, "delay_us"),
          },
  };
}

static void read_trace(const json_t *vector, long line, void (*run)(const trace *, void *), void *context) {
  laju_rule rule;
  first_rule(&rule, json_object_get(vector, "rule"), line);
  const json_t *steps = json_object_get(vector, "steps");
  trace t = {.line = line, .count = json_array_size(steps)};
  t.steps = calloc(t.count > 0 ? t.count : 1, sizeof *t.steps);
  if (t.steps == NULL) exit(2);
  for (size_t i = 0; i < t.count; i++) read_step(&t.steps[i], &rule, json_array_get(steps, i));
  run(&t, context);
  free(t.steps);
}

void trace_each(const char *path, void (*run)(const trace *, void *), void *context) {
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  char *text = NULL;
  size_t size = 0;
  for (long line = 1; getline(&text, &size, file) >= 0; line++) {
    json_error_t error;
    json_t *vector = json_loads(text, 0, &error);
    if (vector == NULL) {
      fprintf(stderr, "vectors: line %ld: %s\n", line, error.text);
      exit(2);
    }
    read_trace(vector, line, run, context);
    json_decref(vector);
  }
  free(text);
  fclose(file);
}

/* ---- judging ---- */

static bool same(const trace *t, size_t step, const char *name, int64_t got, int64_t wanted) {
  if (got == wanted) return true;
  if (failed < SHOWN_MAX) {
    printf("line %ld step %zu: %s is %" PRId64 ", should be %" PRId64 "\n", t->line, step + 1, name, got, wanted);
  }
  return false;
}

static void count(bool right) {
  if (right) {
    passed++;
  } else {
    failed++;
  }
}

void trace_judge(const trace *t, size_t step, const laju_decision *got) {
  const laju_decision *wanted = &t->steps[step].wanted;
  bool right = same(t, step, "allowed", got->allowed, wanted->allowed);
  right &= same(t, step, "limit", got->limit, wanted->limit);
  right &= same(t, step, "remaining", got->remaining, wanted->remaining);
  right &= same(t, step, "retry_after_us", got->retry_after_us, wanted->retry_after_us);
  right &= same(t, step, "more_after_us", got->more_after_us, wanted->more_after_us);
  right &= same(t, step, "reset_after_us", got->reset_after_us, wanted->reset_after_us);
  right &= same(t, step, "delay_us", got->delay_us, wanted->delay_us);
  count(right);
}

void trace_judge_that(const trace *t, size_t step, bool right, const char *what) {
  if (!right && failed < SHOWN_MAX) printf("line %ld step %zu: %s\n", t->line, step + 1, what);
  count(right);
}

int trace_verdict(void) {
  printf("%ld passed, %ld failed\n", passed, failed);
  return failed > 0 || passed == 0;
}
