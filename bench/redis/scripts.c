/* Decisions a second of the script alone, on the Redis at 127.0.0.1:PORT, which is emptied.
 *
 *     redis_scripts PORT ROUNDS
 *
 * WIRE_CONNECTIONS connections in lockstep: a pipeline is written to each, then the replies of each are read. Every operation
 * is measured once a round, in turn, so that a machine that changes its pace changes it for all. "cpu" is the server's own
 * time, which others on the machine disturb least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/script.h"
#include "subjects.h"
#include "wire.h"

#define DECISIONS 60000 /* of an operation and round */
#define BATCH 50
#define ROUNDS_MAX 9

typedef struct operation {
  const char *name;
  const laju_rule *rule; /* NULL: the plain command of that name */
  size_t batch;          /* decisions of a command */
  size_t pipeline;
  bool mixed; /* rules in turn */
  double rates[ROUNDS_MAX], cpus_us[ROUNDS_MAX];
} operation;

static subjects of;
static laju_script script;

static void die(const char *what) {
  perror(what);
  exit(1);
}

/* ---- operations ---- */

static void add_plain(laju_buffer *to, const operation *op, const char *return_1) {
  size_t k = wire_random_below(SUBJECTS_KEYS);
  if (strcmp(op->name, "INCR") == 0) {
    laju_buffer_add_format(to, "*2\r\n$4\r\nINCR\r\n$9\r\nkey:%05zu\r\n", k);
  } else {
    laju_buffer_add_format(to, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n$1\r\n1\r\n$9\r\nkey:%05zu\r\n", return_1, k);
  }
}

static void add_call(laju_buffer *to, const operation *op) {
  laju_script_ask asks[BATCH];
  for (size_t i = 0; i < op->batch; i++) {
    size_t r = op->mixed ? i % (LAJU_ALGORITHMS - 1) : (size_t)(op->rule - of.rules),
           k = wire_random_below(SUBJECTS_KEYS);
    asks[i] =
        (laju_script_ask){.rule = &of.rules[r], .name = of.names[r][k], .name_len = of.name_lens[r][k], .cost = 1};
  }
  laju_script_call(&script, asks, op->batch, NULL, to);
}

static void measure(operation *op, int round, const char *return_1) {
  size_t pipelines = DECISIONS / op->batch / op->pipeline;
  laju_buffer bytes = {0};
  size_t *ends = calloc(pipelines + 1, sizeof *ends);
  if (ends == NULL) die("calloc");
  for (size_t p = 0; p < pipelines; p++) {
    for (size_t i = 0; i < op->pipeline; i++) {
      if (op->rule != NULL) {
        add_call(&bytes, op);
      } else {
        add_plain(&bytes, op, return_1);
      }
    }
    ends[p + 1] = bytes.len;
  }
  double cpu_s = wire_server_cpu_s(), start_s = wire_now_s();
  wire_run(bytes.data, ends, pipelines, op->pipeline);
  double took_s = wire_now_s() - start_s, done = (double)(pipelines * op->pipeline * op->batch);
  op->cpus_us[round] = (wire_server_cpu_s() - cpu_s) / done * 1e6;
  op->rates[round] = done / took_s;
  free(ends);
  laju_buffer_deinit(&bytes);
}

/* ---- the run ---- */

static void prepare(int port) {
  wire_open(port);
  if (!subjects_make(&of) || laju_script_init(&script) < 0) die("libcrypto");
  laju_buffer load = {0};
  laju_script_load(&load);
  wire_command(load.data, load.len);
  laju_buffer_deinit(&load);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: redis_scripts PORT ROUNDS\n");
    return 2;
  }
  int rounds = (int)strtol(argv[2], NULL, 10);
  if (rounds < 1 || rounds > ROUNDS_MAX) return 2;
  prepare((int)strtol(argv[1], NULL, 10));
  char return_1[41] = {0};
  memcpy(return_1, strchr(wire_command("SCRIPT LOAD \"return 1\"\r\n", 24), '\n') + 1, 40);

  const laju_rule *token = &of.rules[LAJU_TOKEN_BUCKET], *fixed = &of.rules[LAJU_FIXED_WINDOW];
  const laju_rule *counter = &of.rules[LAJU_SLIDING_WINDOW_COUNTER], *log = &of.rules[LAJU_SLIDING_WINDOW_LOG];
  operation operations[] = {
      {.name = "INCR", .batch = 1, .pipeline = 16},
      {.name = "EVALSHA return 1", .batch = 1, .pipeline = 16},
      {.name = "token bucket", .rule = token, .batch = 1, .pipeline = 1},
      {.name = "token bucket", .rule = token, .batch = 1, .pipeline = 16},
      {.name = "token bucket", .rule = token, .batch = 1, .pipeline = 64},
      {.name = "fixed window", .rule = fixed, .batch = 1, .pipeline = 16},
      {.name = "sliding counter", .rule = counter, .batch = 1, .pipeline = 16},
      {.name = "sliding log, limit 100", .rule = log, .batch = 1, .pipeline = 16},
      {.name = "token bucket", .rule = token, .batch = BATCH, .pipeline = 1},
      {.name = "token bucket", .rule = token, .batch = BATCH, .pipeline = 16},
      {.name = "sliding counter", .rule = counter, .batch = BATCH, .pipeline = 16},
      {.name = "four algorithms", .rule = token, .batch = BATCH, .pipeline = 16, .mixed = true},
      {.name = "sliding log, limit 100", .rule = log, .batch = BATCH, .pipeline = 16},
  };
  enum { OPERATIONS = sizeof operations / sizeof *operations };
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < OPERATIONS; i++) measure(&operations[i], round, return_1);
  }
  double incr_rate = wire_median(operations[0].rates, rounds), incr_us = wire_median(operations[0].cpus_us, rounds);
  printf("%-24s %5s %8s %12s %9s %8s %8s\n", "", "batch", "pipeline", "decisions/s", "of INCR", "cpu us", "of INCR");
  for (size_t i = 0; i < OPERATIONS; i++) {
    operation *op = &operations[i];
    double rate = wire_median(op->rates, rounds), us = wire_median(op->cpus_us, rounds);
    printf("%-24s %5zu %8zu %12.0f %8.1f%% %8.2f %8.2f\n", op->name, op->batch, op->pipeline, rate,
           100 * rate / incr_rate, us, us / incr_us);
  }
  return 0;
}
