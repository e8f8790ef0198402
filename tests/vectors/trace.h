/* The contract's traces, read from a file that oracle.py wrote, for the programs that run them through one or another
 * implementation. Files that cannot be read end the program with 2; these are tests. */
#ifndef TESTS_VECTORS_TRACE_H
#define TESTS_VECTORS_TRACE_H

#include <laju/laju.h>

typedef struct trace_step {
  laju_rule rule; /* in force at this step: limit and burst may change on the way */
  int64_t now_us;
  uint32_t cost;
  laju_decision wanted;
} trace_step;

typedef struct trace {
  long line; /* in the file, from 1 */
  size_t count;
  trace_step *steps;
} trace;

/* Calls `run` with each trace in turn. */
void trace_each(const char *path, void (*run)(const trace *t, void *context), void *context);

/* Counts the step as passed or failed, and says how it differs (for the first twenty). */
void trace_judge(const trace *t, size_t step, const laju_decision *got);

/* Counts something else about a step, told as `what`. */
void trace_judge_that(const trace *t, size_t step, bool right, const char *what);

/* Prints "N passed, N failed"; the program's exit code. */
int trace_verdict(void);

#endif
