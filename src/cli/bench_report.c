#include "cli/bench_report.h"

#include <string.h>

#include "proto/json_text.h"
#include "replay/text.h"

static uint64_t replies_of(const laju_load_result *result) {
  return result->allowed + result->denied + result->errors;
}

static double rate_of(uint64_t count, int64_t us) {
  return us > 0 ? (double)count * 1e6 / (double)us : 0;
}

/* As many digits as tell something: 87us, 1.23ms, 12.3ms, 1.05s. */
static void add_time(laju_buffer *to, int64_t us) {
  const char *unit = us < 1000 ? "us" : us < 1000000 ? "ms" : "s";
  double value = us < 1000 ? (double)us : us < 1000000 ? (double)us / 1e3 : (double)us / 1e6;
  int decimals = us < 1000 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  laju_buffer_add_format(to, "%.*f%s", decimals, value, unit);
}

static void add_quantile(laju_buffer *to, const char *name, const laju_histogram *latency, double q) {
  laju_buffer_add_text(to, name);
  add_time(to, laju_histogram_quantile(latency, q));
}

static bool decides(const laju_load_plan *plan) {
  return plan->door.protocol == LAJU_LOAD_HTTP || plan->request->meaning != LAJU_LOAD_ANY;
}

void laju_bench_progress_print(void *context, const laju_load_result *so_far) {
  laju_bench_progress *progress = context;
  laju_buffer line = {0};
  uint64_t replies = replies_of(so_far);
  laju_buffer_add_format(&line, "%4.0fs  ", (double)so_far->elapsed_us / 1e6);
  laju_text_add_count(&line, (uint64_t)rate_of(replies - progress->replies, so_far->elapsed_us - progress->elapsed_us));
  add_quantile(&line, "/s   so far: p50 ", &so_far->latency, 0.5);
  add_quantile(&line, ", p99 ", &so_far->latency, 0.99);
  laju_buffer_add_text(&line, ", denied ");
  laju_text_add_count(&line, so_far->denied);
  laju_buffer_add_text(&line, ", errors ");
  laju_text_add_count(&line, so_far->errors + so_far->lost);
  laju_buffer_add_text(&line, "\n");
  if (!line.failed) fwrite(line.data, 1, line.len, progress->to);
  laju_buffer_deinit(&line);
  progress->replies = replies;
  progress->elapsed_us = so_far->elapsed_us;
}

static void add_plan(laju_buffer *to, const laju_load_plan *plan) {
  char door[LAJU_LOAD_DOOR_SIZE];
  laju_load_door_show(&plan->door, door);
  laju_buffer_add_format(to, "%s: %s\n", door, plan->request->command.data);
  laju_buffer_add_format(to, "%u connections, pipeline %u, %u threads, ", plan->connections, plan->pipeline,
                         plan->threads);
  laju_text_add_count(to, plan->keys);
  laju_buffer_add_text(to, " keys");
  if (plan->skew > 0) laju_buffer_add_format(to, " (Zipf %g)", plan->skew);
  laju_buffer_add_text(to, plan->rate > 0 ? ", open loop at " : ", closed loop");
  if (plan->rate > 0) {
    laju_text_add_count(to, plan->rate);
    laju_buffer_add_text(to, "/s");
  }
  laju_buffer_add_text(to, "\n");
}

static void add_row(laju_buffer *to, const char *name, uint64_t count, uint64_t of) {
  laju_buffer_add_format(to, "%-11s ", name);
  laju_text_add_count(to, count);
  if (of > 0) {
    laju_buffer_add_text(to, " (");
    laju_text_add_share(to, count, of);
    laju_buffer_add_text(to, ")");
  }
  laju_buffer_add_text(to, "\n");
}

/* What should not have been: only where it was. */
static void add_troubles(laju_buffer *to, const laju_load_result *result) {
  uint64_t replies = replies_of(result);
  if (result->errors > 0) add_row(to, "errors", result->errors, replies);
  if (result->error[0] != '\0') laju_buffer_add_format(to, "            the first: %s\n", result->error);
  if (result->broken > 0) {
    laju_buffer_add_text(to, "lost        ");
    laju_text_add_count(to, result->lost);
    laju_buffer_add_text(to, " on ");
    laju_text_add_count(to, result->broken);
    laju_buffer_add_text(to, " connections that ended\n");
  }
  if (result->unanswered > 0) add_row(to, "unanswered", result->unanswered, 0);
  if (result->unsent > 0) {
    laju_buffer_add_text(to, "unsent      ");
    laju_text_add_count(to, result->unsent);
    laju_buffer_add_text(to, " were due and found no connection free: the server did not keep up with the rate\n");
  }
}

void laju_bench_result_print(laju_buffer *to, const laju_load_plan *plan, const laju_load_result *result) {
  const laju_histogram *latency = &result->latency;
  uint64_t replies = replies_of(result);
  add_plan(to, plan);
  laju_buffer_add_text(to, "throughput  ");
  laju_text_add_count(to, (uint64_t)rate_of(result->in_time, result->elapsed_us));
  laju_buffer_add_format(to, "/s over %.2f s\n", (double)result->elapsed_us / 1e6);
  add_row(to, "replies", replies, 0);
  if (decides(plan)) {
    add_row(to, "allowed", result->allowed, replies);
    add_row(to, "denied", result->denied, replies);
  }
  add_troubles(to, result);
  add_quantile(to, "latency     p50 ", latency, 0.5);
  add_quantile(to, "  p90 ", latency, 0.9);
  add_quantile(to, "  p99 ", latency, 0.99);
  add_quantile(to, "  p99.9 ", latency, 0.999);
  laju_buffer_add_text(to, "  max ");
  add_time(to, laju_histogram_max_us(latency));
  laju_buffer_add_text(to, "\n");
}

static void add_member(laju_buffer *to, const char *name, uint64_t value) {
  laju_buffer_add_format(to, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void add_plan_json(laju_buffer *to, const laju_load_plan *plan) {
  char door[LAJU_LOAD_DOOR_SIZE];
  laju_load_door_show(&plan->door, door);
  laju_buffer_add_text(to, "{\"door\":");
  laju_json_add_text(to, (laju_slice){door, strlen(door)});
  laju_buffer_add_text(to, ",\"command\":");
  laju_json_add_text(to, (laju_slice){plan->request->command.data, strlen(plan->request->command.data)});
  add_member(to, "connections", plan->connections);
  add_member(to, "pipeline", plan->pipeline);
  add_member(to, "threads", plan->threads);
  add_member(to, "keys", plan->keys);
  laju_buffer_add_format(to, ",\"zipf\":%g", plan->skew);
  if (plan->rate > 0) {
    add_member(to, "rate", plan->rate);
  } else {
    laju_buffer_add_text(to, ",\"rate\":null");
  }
}

void laju_bench_result_print_json(laju_buffer *to, const laju_load_plan *plan, const laju_load_result *result) {
  const laju_histogram *latency = &result->latency;
  uint64_t replies = replies_of(result);
  add_plan_json(to, plan);
  laju_buffer_add_format(to, ",\"seconds\":%.6f", (double)result->elapsed_us / 1e6);
  laju_buffer_add_format(to, ",\"throughput\":%.1f", rate_of(result->in_time, result->elapsed_us));
  add_member(to, "replies", replies);
  if (decides(plan)) {
    add_member(to, "allowed", result->allowed);
    add_member(to, "denied", result->denied);
  } else {
    laju_buffer_add_text(to, ",\"allowed\":null,\"denied\":null");
  }
  add_member(to, "errors", result->errors);
  add_member(to, "lost", result->lost);
  add_member(to, "broken", result->broken);
  add_member(to, "unanswered", result->unanswered);
  add_member(to, "unsent", result->unsent);
  laju_buffer_add_format(to, ",\"latency_us\":{\"mean\":%.1f",
                         replies > 0 ? (double)laju_histogram_sum_us(latency) / (double)replies : 0.0);
  add_member(to, "p50", (uint64_t)laju_histogram_quantile(latency, 0.5));
  add_member(to, "p90", (uint64_t)laju_histogram_quantile(latency, 0.9));
  add_member(to, "p99", (uint64_t)laju_histogram_quantile(latency, 0.99));
  add_member(to, "p999", (uint64_t)laju_histogram_quantile(latency, 0.999));
  add_member(to, "max", (uint64_t)laju_histogram_max_us(latency));
  laju_buffer_add_text(to, "},\"error\":");
  if (result->error[0] != '\0') {
    laju_json_add_text(to, (laju_slice){result->error, strlen(result->error)});
  } else {
    laju_buffer_add_text(to, "null");
  }
  laju_buffer_add_text(to, "}\n");
}
