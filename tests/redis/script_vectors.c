/* Runs traces that oracle.py wrote through the script in a real Redis: compares every member of every decision, and after
 * every step the key's bytes with those that the core would keep.
 *
 *     script_vectors FILE      ends with "N passed, N failed"; exit 1 where any differs, 2 where FILE cannot be read
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/redis_server.h"
#include "vectors/keeper.h"
#include "vectors/trace.h"

#define LONG_ENOUGH_MS (INT64_C(1) << 42)

static bool same_bytes(const redisReply *stored, const unsigned char *bytes, size_t len) {
  if (len == 0) return stored->type == REDIS_REPLY_NIL;
  return stored->type == REDIS_REPLY_STRING && stored->len == len && memcmp(stored->str, bytes, len) == 0;
}

static void judge_step(redis_server *s, const trace *t, size_t i, const laju_script_ask *ask, keeper *k) {
  const trace_step *step = &t->steps[i];
  redisReply *reply = redis_next_reply(s), *stored = redis_next_reply(s);
  laju_script_answer answer = {.error = "no reply"};
  int64_t now_us = -1;
  laju_script_read(reply, ask, 1, &answer, &now_us);
  trace_judge_that(t, i, answer.error == NULL && now_us == step->now_us, answer.error ? answer.error : "another time");
  trace_judge(t, i, &answer.decision);

  laju_decision decision;
  keeper_check(k, &step->rule, step->now_us, step->cost, &decision);
  size_t len;
  unsigned char *bytes = keeper_bytes(k, &step->rule, &len);
  trace_judge_that(t, i, same_bytes(stored, bytes, len), "the bytes stored are not the core's");
  free(bytes);
  freeReplyObject(reply);
  freeReplyObject(stored);
}

static void run(const trace *t, void *context) {
  redis_server *s = context;
  char name[32];
  snprintf(name, sizeof name, "vector:%ld", t->line);
  laju_script_ask *asks = calloc(t->count + 1, sizeof *asks);
  if (asks == NULL) exit(2);
  for (size_t i = 0; i < t->count; i++) {
    const trace_step *step = &t->steps[i];
    asks[i] =
        (laju_script_ask){.rule = &step->rule, .name = name, .name_len = (uint32_t)strlen(name), .cost = step->cost};
    redis_send(s, &asks[i], 1, &(laju_script_pin){.now_us = step->now_us, .px_ms = LONG_ENOUGH_MS});
    redisAppendCommand(s->link, "GET %s", name);
  }
  keeper k = {0};
  for (size_t i = 0; i < t->count; i++) judge_step(s, t, i, &asks[i], &k);
  keeper_deinit(&k);
  free(asks);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: script_vectors FILE\n");
    return 2;
  }
  redis_server s;
  redis_start(&s);
  trace_each(argv[1], run, &s);
  redis_stop(&s);
  return trace_verdict();
}
