/* What a load came to, for people and for programs. */
#ifndef LAJU_CLI_BENCH_REPORT_H
#define LAJU_CLI_BENCH_REPORT_H

#include <stdio.h>

#include "base/buffer.h"
#include "load/load.h"

/* A line a second while it runs: those since the line before, and the times so far. */
typedef struct laju_bench_progress {
  FILE *to;
  uint64_t replies;   /* at the line before */
  int64_t elapsed_us; /* then */
} laju_bench_progress;

/* A laju_load_watcher; `context` is a laju_bench_progress. */
void laju_bench_progress_print(void *context, const laju_load_result *so_far);

/* What was loaded, how, and the figures: some lines. */
void laju_bench_result_print(laju_buffer *to, const laju_load_plan *plan, const laju_load_result *result);

/* The same as one JSON object in one line. */
void laju_bench_result_print_json(laju_buffer *to, const laju_load_plan *plan, const laju_load_result *result);

#endif
