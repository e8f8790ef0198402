/* Checks a second through the store (src/redis/store.h) of one worker: a token bucket, KEYS keys, a number of checks under way.
 *
 *     store_rate NAME URL PORT...
 *
 * PORT are the servers', for their processor time. A line for each number of checks under way: checks a second, microseconds of
 * the servers' and of our own processor time a check, checks a command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "redis/keys.h"
#include "redis/store.h"

#define KEYS 10000
#define SECONDS 2
#define UNDER_WAY_MAX 1024
#define SERVERS_MAX 8

typedef struct slot {
  laju_store_request request; /* first */
  laju_script_ask ask;
  laju_script_answer answer;
  laju_store_outcome outcome;
} slot;

static uv_loop_t *loop;
static laju_store *store;
static laju_rule rule;
static char names[KEYS][LAJU_KEYS_NAME_MAX];
static uint32_t name_lens[KEYS];
static slot slots[UNDER_WAY_MAX];
static uint64_t answered, failed;
static size_t under_way;
static bool running;
static redisContext *servers[SERVERS_MAX];
static size_t server_count;

static void die(const char *what) {
  fprintf(stderr, "store_rate: %s\n", what);
  exit(1);
}

static void make_names(void) {
  laju_keys keys;
  if (laju_rule_init(&rule, "api", 3, LAJU_TOKEN_BUCKET, 1000000, 60000000, 0) < 0) die("rule");
  if (laju_keys_init(&keys, "laju", 4) < 0) die("keys");
  for (int i = 0; i < KEYS; i++) {
    char key[16];
    laju_keys_subject subject = {.key = key, .key_len = (size_t)snprintf(key, sizeof key, "user:%d", i)};
    name_lens[i] = (uint32_t)laju_keys_name(&keys, &rule, &subject, names[i]);
  }
  laju_keys_deinit(&keys);
}

static void on_done(laju_store_request *request);

static void send_one(slot *s) {
  static uint64_t x = 88172645463325252;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  size_t key = x % KEYS;
  s->ask = (laju_script_ask){.rule = &rule, .name = names[key], .name_len = name_lens[key], .cost = 1};
  s->request = (laju_store_request){
      .asks = &s->ask, .count = 1, .answers = &s->answer, .outcomes = &s->outcome, .done = on_done};
  if (!laju_store_submit(store, &s->request)) die("the store takes no checks");
  under_way++;
}

static void on_done(laju_store_request *request) {
  slot *s = (slot *)request;
  under_way--;
  if (s->outcome == LAJU_STORE_ANSWERED && s->answer.error == NULL) {
    answered++;
  } else {
    failed++;
  }
  if (running) send_one(s);
}

static double servers_cpu_us(void) {
  static const char *const fields[] = {"used_cpu_sys:", "used_cpu_user:"};
  double sum = 0;
  for (size_t i = 0; i < server_count; i++) {
    redisReply *reply = redisCommand(servers[i], "INFO cpu");
    for (size_t j = 0; reply != NULL && j < 2; j++) {
      const char *at = strstr(reply->str, fields[j]);
      if (at != NULL) sum += strtod(at + strlen(fields[j]), NULL) * 1e6;
    }
    freeReplyObject(reply);
  }
  return sum;
}

static double own_cpu_us(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void on_over(uv_timer_t *timer) {
  *(bool *)timer->data = true;
}

static void turn_for(uint64_t ms) {
  bool over = false;
  uv_timer_t timer = {.data = &over};
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_over, ms, 0);
  while (!over) uv_run(loop, UV_RUN_ONCE);
  uv_close((uv_handle_t *)&timer, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

static void measure(const char *name, size_t count) {
  const laju_store_counters *counters = laju_store_read_counters(store);
  running = true;
  for (size_t i = 0; i < count; i++) send_one(&slots[i]);
  turn_for(300); /* all connections, all buffers */
  uint64_t before = answered, commands = counters->commands, checks = counters->checks;
  double servers_us = servers_cpu_us(), own_us = own_cpu_us();
  uint64_t began = uv_hrtime();
  turn_for(SECONDS * 1000);
  double took_s = (double)(uv_hrtime() - began) / 1e9, done = (double)(answered - before);
  own_us = own_cpu_us() - own_us;
  servers_us = servers_cpu_us() - servers_us;
  printf("%-24s %6zu %10.0f %8.2f %8.2f %8.1f\n", name, count, done / took_s, servers_us / done, own_us / done,
         (double)(counters->checks - checks) / (double)(counters->commands - commands));
  running = false;
  while (under_way > 0) uv_run(loop, UV_RUN_ONCE);
  if (failed > 0) die("checks failed");
}

static void open_store(const char *url) {
  laju_store_options options = {.timeout_us = 2000000, .connect_timeout_us = 250000, .pool = 1, .max_inflight = 20000};
  char wrong[LAJU_STORE_WHY_SIZE], why[LAJU_TEXT_SIZE];
  loop = uv_default_loop();
  if (laju_store_url_parse(&options.url, url, strlen(url), wrong) < 0) die(wrong);
  if (laju_store_new(&store, loop, &options, why) < 0) die(why);
  for (int i = 0; i < 100 && !laju_store_is_up(store); i++) turn_for(20);
}

int main(int argc, char **argv) {
  static const size_t counts[] = {1, 16, 50, 200, 1000};
  if (argc < 4 || argc - 3 > SERVERS_MAX) die("NAME URL PORT...");
  make_names();
  open_store(argv[2]);
  for (int i = 3; i < argc; i++) {
    servers[server_count] = redisConnect("127.0.0.1", (int)strtol(argv[i], NULL, 10));
    if (servers[server_count]->err != 0) die(servers[server_count]->errstr);
    server_count++;
  }
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) measure(argv[1], counts[i]);
  laju_store_close(store, NULL, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return 0;
}
