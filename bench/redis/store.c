/* Checks a second through the store (src/redis/store.h) on the Redis at 127.0.0.1:PORT, which is emptied, beside raw INCR.
 *
 *     redis_store PORT ROUNDS
 *
 * One loop, one connection. `window` checks are under way: each that is answered submits the next. "one a command" is what a
 * cluster is sent; otherwise what a loop turn has submitted goes in commands of up to LAJU_STORE_BATCH. "cpu" is the server's own
 * time, which others on the machine disturb least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "redis/store.h"
#include "subjects.h"
#include "wire.h"

#define CHECKS 200000 /* of an operation and round */
#define INCRS 480000
#define PIPELINE 16
#define WINDOW_MAX 4096
#define ROUNDS_MAX 9

typedef struct operation {
  const char *name;
  const char *scheme; /* of the store's URL; NULL: INCR */
  size_t window;
  size_t rule;
  double rates[ROUNDS_MAX], cpus_us[ROUNDS_MAX], own_us[ROUNDS_MAX], p99_us[ROUNDS_MAX];
} operation;

static int port;
static uv_loop_t *loop;
static laju_store *store;
static subjects of;

typedef struct one {
  laju_store_request request; /* first */
  laju_script_ask ask;
  laju_script_answer answer;
  laju_store_outcome outcome;
} one;

static one all[WINDOW_MAX];
static size_t left, under_way, rule_of_all, failed;

static void die(const char *what) {
  fprintf(stderr, "redis_store: %s\n", what);
  exit(1);
}

static double own_cpu_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_done(laju_store_request *request);

static void submit(one *o) {
  size_t k = wire_random_below(SUBJECTS_KEYS);
  left--;
  o->ask = (laju_script_ask){.rule = &of.rules[rule_of_all],
                             .name = of.names[rule_of_all][k],
                             .name_len = of.name_lens[rule_of_all][k],
                             .cost = 1};
  o->request = (laju_store_request){
      .asks = &o->ask, .count = 1, .answers = &o->answer, .outcomes = &o->outcome, .done = on_done};
  if (!laju_store_submit(store, &o->request)) die("the store does not take a check");
  under_way++;
}

static void on_done(laju_store_request *request) {
  one *o = (one *)request;
  under_way--;
  failed += o->outcome != LAJU_STORE_ANSWERED || o->answer.error != NULL;
  if (left > 0) submit(o);
}

static void open_store(const char *scheme) {
  char url[64], why[LAJU_TEXT_SIZE];
  laju_store_options options = {
      .timeout_us = 1000000, .connect_timeout_us = 1000000, .pool = 1, .max_inflight = WINDOW_MAX};
  snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, port);
  if (laju_store_url_parse(&options.url, url, strlen(url), why) < 0) die(why);
  if (laju_store_new(&store, loop, &options, why) < 0) die(why);
  while (!laju_store_is_up(store)) uv_run(loop, UV_RUN_ONCE);
}

static void on_closed(void *context) {
  *(bool *)context = true;
}

static void close_store(void) {
  bool closed = false;
  laju_store_close(store, on_closed, &closed);
  while (!closed) uv_run(loop, UV_RUN_ONCE);
}

static void run_checks(const operation *op) {
  left = CHECKS;
  rule_of_all = op->rule;
  for (size_t i = 0; i < op->window; i++) submit(&all[i]);
  while (under_way > 0) uv_run(loop, UV_RUN_ONCE);
}

static void run_incrs(void) {
  laju_buffer bytes = {0};
  size_t pipelines = INCRS / PIPELINE, *ends = calloc(pipelines + 1, sizeof *ends);
  if (ends == NULL) die("no memory");
  for (size_t p = 0; p < pipelines; p++) {
    for (size_t i = 0; i < PIPELINE; i++) {
      laju_buffer_add_format(&bytes, "*2\r\n$4\r\nINCR\r\n$9\r\nkey:%05d\r\n", (int)wire_random_below(SUBJECTS_KEYS));
    }
    ends[p + 1] = bytes.len;
  }
  wire_run(bytes.data, ends, pipelines, PIPELINE);
  free(ends);
  laju_buffer_deinit(&bytes);
}

static void measure(operation *op, int round) {
  double done = op->scheme != NULL ? CHECKS : INCRS;
  if (op->scheme != NULL) open_store(op->scheme);
  double cpu_s = wire_server_cpu_s(), own_s = own_cpu_s(), start_s = wire_now_s();
  if (op->scheme != NULL) {
    run_checks(op);
  } else {
    run_incrs();
  }
  op->rates[round] = done / (wire_now_s() - start_s);
  op->own_us[round] = (own_cpu_s() - own_s) / done * 1e6;
  op->cpus_us[round] = (wire_server_cpu_s() - cpu_s) / done * 1e6;
  if (op->scheme == NULL) return;
  op->p99_us[round] = (double)laju_histogram_quantile(&laju_store_read_counters(store)->latency, 0.99);
  close_store();
}

static void prepare(void) {
  loop = uv_default_loop();
  wire_open(port);
  if (!subjects_make(&of)) die("libcrypto");
}

int main(int argc, char **argv) {
  int rounds = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
  if (rounds < 1 || rounds > ROUNDS_MAX) die("usage: redis_store PORT ROUNDS");
  port = (int)strtol(argv[1], NULL, 10);
  prepare();
  operation operations[] = {
      {.name = "INCR, pipelines of 16"},
      {.name = "token bucket, one a command", .scheme = "redis+cluster", .window = 800},
      {.name = "token bucket", .scheme = "redis", .window = 1},
      {.name = "token bucket", .scheme = "redis", .window = 50},
      {.name = "token bucket", .scheme = "redis", .window = 800},
      {.name = "token bucket", .scheme = "redis", .window = WINDOW_MAX},
      {.name = "sliding counter", .scheme = "redis", .window = 800, .rule = LAJU_SLIDING_WINDOW_COUNTER},
      {.name = "fixed window", .scheme = "redis", .window = 800, .rule = LAJU_FIXED_WINDOW},
      {.name = "leaky bucket", .scheme = "redis", .window = 800, .rule = LAJU_LEAKY_BUCKET},
      {.name = "sliding log, limit 100", .scheme = "redis", .window = 800, .rule = LAJU_SLIDING_WINDOW_LOG},
  };
  enum { OPERATIONS = sizeof operations / sizeof *operations };
  for (int round = 0; round < rounds; round++) {
    for (size_t i = 0; i < OPERATIONS; i++) measure(&operations[i], round);
  }
  double incr_rate = wire_median(operations[0].rates, rounds), incr_us = wire_median(operations[0].cpus_us, rounds);
  printf("%-28s %6s %10s %8s %8s %8s %8s %8s\n", "", "window", "checks/s", "of INCR", "cpu us", "of INCR", "own us",
         "p99 ms");
  for (size_t i = 0; i < OPERATIONS; i++) {
    operation *op = &operations[i];
    double rate = wire_median(op->rates, rounds), us = wire_median(op->cpus_us, rounds);
    printf("%-28s %6zu %10.0f %7.1f%% %8.2f %8.2f %8.2f %8.2f\n", op->name, op->window, rate, 100 * rate / incr_rate,
           us, us / incr_us, wire_median(op->own_us, rounds), wire_median(op->p99_us, rounds) / 1000);
  }
  if (failed > 0) die("some checks were not answered");
  return 0;
}
