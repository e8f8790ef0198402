/* What a pipelined request costs a codec and the limiter, without any socket: parse, decide, encode, in ns a request.
 *
 *   bench_doors_codec [MILLISECONDS [WORD]]     how long to repeat each line (300); only those whose name has the word
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/codec.h"

#define PIPELINE 64
#define PIPELINES 256 /* different ones, so that keys do not all stay in the nearest cache */
#define KEYS 10000

typedef struct bench {
  laju_service service;
  const laju_codec *codec;
  void *connection;
  laju_way way;
  laju_batch *batch;
  laju_buffer out;
  int64_t parse_ns, decide_ns, encode_ns;
  uint64_t requests;
  int64_t ms;
  const char *word;
} bench;

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

static uint32_t random_key(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32) % KEYS;
}

/* `%` in a request's text stands for a key of twelve digits. */
static void add_request(laju_buffer *to, const char *request) {
  for (const char *at = request; *at != '\0'; at++) {
    if (*at == '%') {
      laju_buffer_add_format(to, "%012" PRIu32, random_key());
    } else {
      laju_buffer_add(to, at, 1);
    }
  }
}

static void turn(bench *on, const laju_buffer *bytes) {
  size_t used = 0;
  while (used < bytes->len) {
    int64_t start = now_ns();
    laju_batch_clear(on->batch);
    laju_parsed parsed = on->codec->parse(on->connection, bytes->data + used, bytes->len - used, on->batch);
    int64_t parsed_at = now_ns();
    laju_batch_decide(on->batch, &on->way, laju_limiter_now_us(on->service.limiter));
    int64_t decided_at = now_ns();
    on->codec->encode(on->connection, on->batch, &on->out);
    laju_buffer_clear(&on->out);
    on->parse_ns += parsed_at - start;
    on->decide_ns += decided_at - parsed_at;
    on->encode_ns += now_ns() - decided_at;
    on->requests += on->batch->ask_count;
    used += parsed.consumed;
  }
}

static void measure(bench *on, const char *name, const char *request) {
  if (strstr(name, on->word) == NULL) return;
  static laju_buffer pipelines[PIPELINES];
  for (size_t i = 0; i < PIPELINES; i++) {
    laju_buffer_clear(&pipelines[i]);
    for (int j = 0; j < PIPELINE; j++) add_request(&pipelines[i], request);
  }
  memset(on->connection, 0, on->codec->connection_size);
  on->codec->init(on->connection, &on->service, &(laju_peer){.is_unix = true});
  for (size_t i = 0; i < PIPELINES; i++) turn(on, &pipelines[i]);
  on->parse_ns = on->decide_ns = on->encode_ns = 0;
  on->requests = 0;
  int64_t end = now_ns() + on->ms * 1000000, cpu_start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  while (now_ns() < end) {
    for (size_t i = 0; i < PIPELINES; i++) turn(on, &pipelines[i]);
  }
  /* The CPU's time, shared out as the wall clock saw the parts: others may have used the machine too. */
  double total = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / (double)on->requests;
  double share = total / (double)(on->parse_ns + on->decide_ns + on->encode_ns);
  printf("%-28s %7.1f %7.1f %7.1f %7.1f %8.2f\n", name, (double)on->parse_ns * share, (double)on->decide_ns * share,
         (double)on->encode_ns * share, total, 1000 / total);
}

/* A POST of this body, as wrk sends it. */
static void measure_http(bench *on, const char *name, const char *body) {
  laju_buffer request = {0};
  size_t len = strlen(body) + (strchr(body, '%') != NULL ? 11 : 0);
  laju_buffer_add_format(&request, "POST /v1/check HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: %zu\r\n\r\n%s",
                         len, body);
  laju_buffer_add(&request, "", 1);
  measure(on, name, request.data);
  laju_buffer_deinit(&request);
}

/* A GET of /auth as nginx asks for leave, of a client that the key's digits tell. */
static void measure_auth(bench *on, const char *name, const char *path) {
  laju_buffer request = {0};
  laju_buffer_add_format(&request,
                         "GET /auth?deny=403 HTTP/1.1\r\nHost: api.example.com\r\nX-Original-URI: %s\r\n"
                         "X-Original-Method: GET\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Host: api.example.com\r\n"
                         "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0\r\n"
                         "Accept: text/html,application/xhtml+xml\r\nAccept-Language: en-GB,en;q=0.5\r\n"
                         "Accept-Encoding: gzip, deflate, br\r\nCookie: sid=%%\r\nX-User-Id: user:%%\r\n\r\n",
                         path);
  laju_buffer_add(&request, "", 1);
  measure(on, name, request.data);
  laju_buffer_deinit(&request);
}

/* A rule that applies to the paths under `/NAME/`, by user. */
static laju_policy path_policy(const char *name) {
  laju_rule rule;
  laju_policy policy;
  char path[64];
  int path_len = snprintf(path, sizeof path, "/%s/*", name);
  if (laju_rule_init(&rule, name, strlen(name), LAJU_SLIDING_WINDOW_COUNTER, 1000000, 60000000, 0) < 0) exit(1);
  laju_policy_init(&policy, &rule);
  policy.parts[0] = (laju_part){.kind = LAJU_PART_HEADER, .name = "x-user-id"};
  policy.match.paths = calloc(1, sizeof *policy.match.paths);
  if (policy.match.paths == NULL) exit(1);
  policy.match.paths[policy.match.path_count++] = (laju_pattern){.text = strdup(path), .len = (size_t)path_len};
  return policy;
}

/* The rules api and r1 to r(count - 1), each for paths of its own. */
static laju_ruleset *make_rules(size_t count) {
  laju_policy *policies = calloc(count, sizeof *policies);
  laju_ruleset *rules;
  if (policies == NULL) exit(1);
  for (size_t i = 0; i < count; i++) {
    char name[16] = "api";
    if (i > 0) snprintf(name, sizeof name, "r%zu", i);
    policies[i] = path_policy(name);
  }
  if (laju_ruleset_new(&rules, policies, count) < 0) exit(1);
  free(policies);
  return rules;
}

int main(int argc, char **argv) {
  bench on = {.ms = argc > 1 ? strtol(argv[1], NULL, 10) : 300, .word = argc > 2 ? argv[2] : ""};
  laju_limiter_options options = {.memory_bytes = 4 << 20}; /* room for ten times the keys */
  if (laju_limiter_new(&on.service.limiter, &options) < 0) return 1;
  laju_terms terms = {.rules = make_rules(1),
                      .inline_limits = true,
                      .show_x_ratelimit = true,
                      .show_ratelimit = true,
                      .trust_unix = true,
                      .ip_prefix_v4 = 32,
                      .ip_prefix_v6 = 64};
  atomic_store(&on.service.terms, &terms);
  atomic_store(&on.service.stage, LAJU_SERVING);
  on.way.limiter = on.service.limiter;
  on.batch = laju_batch_new();
  size_t http = laju_http_codec.connection_size, resp = laju_resp_codec.connection_size;
  on.connection = malloc(http > resp ? http : resp);
  if (on.batch == NULL || on.connection == NULL) return 1;

  printf("%-28s %7s %7s %7s %7s %8s\n", "ns a request, pipeline 64", "parse", "decide", "encode", "in all", "M/s");
  on.codec = &laju_resp_codec;
  measure(&on, "PING", "*1\r\n$4\r\nPING\r\n");
  measure(&on, "LAJU.CHECK", "*3\r\n$10\r\nLAJU.CHECK\r\n$3\r\napi\r\n$16\r\nkey:%\r\n");
  measure(&on, "CL.THROTTLE", "*5\r\n$11\r\nCL.THROTTLE\r\n$16\r\nkey:%\r\n$2\r\n99\r\n$3\r\n100\r\n$2\r\n60\r\n");
  measure(
      &on, "LAJU.MCHECK of 8 keys",
      "*11\r\n$11\r\nLAJU.MCHECK\r\n$3\r\napi\r\n$1\r\n1\r\n$12\r\n%\r\n$12\r\n%\r\n$12\r\n%\r\n$12\r\n%\r\n$12\r\n%\r\n"
      "$12\r\n%\r\n$12\r\n%\r\n$12\r\n%\r\n");
  on.codec = &laju_http_codec;
  measure_http(&on, "POST /v1/check", "{\"rule\":\"api\",\"key\":\"key:%\"}");
  measure_http(&on, "POST /v1/check, inline", "{\"limit\":100,\"per\":\"1m\",\"key\":\"key:%\"}");
  measure_auth(&on, "GET /auth, no rule", "/other/x");
  measure_auth(&on, "GET /auth, 1 rule", "/api/x");
  terms.rules = make_rules(10000);
  measure_auth(&on, "GET /auth, 1 of 10000 rules", "/r5000/x");
  return 0;
}
