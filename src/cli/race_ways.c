#include "cli/race_ways.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>

#include "cli/print.h"

#define CONNECT_TIMEOUT_S 2
#define ANSWER_TIMEOUT_S 5
#define LOCAL_MEMORY (1 << 20)

/* ---- what is asked about ------------------------------------------------------------------------------------------- */

static int fail(char why[LAJU_RACE_WHY_SIZE], const char *text) {
  snprintf(why, LAJU_RACE_WHY_SIZE, "%s", text);
  return -1;
}

/* The one name of laju's own kind for all ways, so that each writes to the same place of the keyspace. */
static int make_name(laju_race_subject *subject) {
  uint64_t random;
  char prefix[40], key[] = "everyone";
  if (getrandom(&random, sizeof random, 0) != sizeof random) return -1;
  int len = snprintf(prefix, sizeof prefix, "laju-race-%016llx", (unsigned long long)random);
  laju_keys keys;
  if (laju_keys_init(&keys, prefix, (size_t)len) < 0) return -1;
  laju_keys_subject who = {.key = key, .key_len = strlen(key)};
  int name_len = laju_keys_name(&keys, &subject->rule, &who, subject->name);
  laju_keys_deinit(&keys);
  if (name_len < 0) return -1;
  subject->name[name_len] = '\0';
  return 0;
}

static int make_call(laju_race_subject *subject) {
  laju_script script;
  if (laju_script_init(&script) < 0) return -1;
  laju_script_load(&subject->load);
  subject->ask = (laju_script_ask){
      .rule = &subject->rule, .name = subject->name, .name_len = (uint32_t)strlen(subject->name), .cost = 1};
  laju_script_call(&script, &subject->ask, 1, NULL, &subject->call);
  return subject->load.failed || subject->call.failed ? -1 : 0;
}

int laju_race_subject_init(laju_race_subject *subject, const laju_store_url *url, laju_race_way way,
                           char why[LAJU_RACE_WHY_SIZE]) {
  *subject = (laju_race_subject){.way = way, .url = url};
  int64_t period_us = INT64_C(1000000) * LAJU_RACE_PERIOD_S;
  if (laju_rule_init(&subject->rule, "race", 4, LAJU_SLIDING_WINDOW_COUNTER, LAJU_RACE_LIMIT, period_us, 0) < 0 ||
      make_name(subject) < 0 || make_call(subject) < 0) {
    return fail(why, "memory, randomness or libcrypto's hashes cannot be had");
  }
  return 0;
}

void laju_race_subject_deinit(laju_race_subject *subject) {
  laju_buffer_deinit(&subject->load);
  laju_buffer_deinit(&subject->call);
}

/* ---- talking to Redis ---------------------------------------------------------------------------------------------- */

static int fail_link(laju_race_client *client) {
  char server[LAJU_STORE_SHOWN_SIZE];
  const redisContext *link = client->link;
  laju_store_url_show(server, client->subject->url);
  bool late = link->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT);
  const char *text = late ? "it does not answer in time" : link->errstr;
  snprintf(client->why, sizeof client->why, "%.300s: %.100s; is Redis running there?", server, text);
  laju_text_clean(client->why);
  return -1;
}

static int fail_reply(laju_race_client *client, const char *what, const redisReply *reply) {
  const char *text = reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer that is not one";
  snprintf(client->why, sizeof client->why, "Redis says to %s: %.300s", what, text);
  laju_text_clean(client->why);
  return -1;
}

/* The next reply, or NULL with `why`; `type` is what it must be. The caller frees it. */
static redisReply *next_reply(laju_race_client *client, const char *what, int type) {
  void *reply = NULL;
  if (redisGetReply(client->link, &reply) != REDIS_OK) {
    fail_link(client);
    return NULL;
  }
  if (((redisReply *)reply)->type == type) return reply;
  fail_reply(client, what, reply);
  freeReplyObject(reply);
  return NULL;
}

static int skip_reply(laju_race_client *client, const char *what, int type) {
  redisReply *reply = next_reply(client, what, type);
  if (reply == NULL) return -1;
  freeReplyObject(reply);
  return 0;
}

static int next_number(laju_race_client *client, const char *what, int64_t *out) {
  redisReply *reply = next_reply(client, what, REDIS_REPLY_INTEGER);
  if (reply == NULL) return -1;
  *out = reply->integer;
  freeReplyObject(reply);
  return 0;
}

static int connect_link(laju_race_client *client) {
  const laju_store_url *url = client->subject->url;
  struct timeval patience = {.tv_sec = CONNECT_TIMEOUT_S}, answer = {.tv_sec = ANSWER_TIMEOUT_S};
  client->link = url->unix_path[0] != '\0'
                     ? redisConnectUnixWithTimeout(url->unix_path, patience)
                     : redisConnectWithTimeout(url->places[0].host, url->places[0].port, patience);
  if (client->link == NULL) return fail(client->why, "memory ran out");
  return client->link->err != 0 || redisSetTimeout(client->link, answer) != REDIS_OK ? fail_link(client) : 0;
}

static int log_in(laju_race_client *client) {
  const laju_store_url *url = client->subject->url;
  if (url->user[0] != '\0') {
    redisAppendCommand(client->link, "AUTH %s %s", url->user, url->password);
  } else if (url->password[0] != '\0') {
    redisAppendCommand(client->link, "AUTH %s", url->password);
  }
  if (url->password[0] != '\0' && skip_reply(client, "AUTH", REDIS_REPLY_STATUS) < 0) return -1;
  redisAppendCommand(client->link, "SELECT %u", url->database);
  return skip_reply(client, "SELECT", REDIS_REPLY_STATUS);
}

/* ---- the ways ------------------------------------------------------------------------------------------------------ */

static int ask_local(laju_race_client *client) {
  laju_check check = {.rule = &client->subject->rule, .key = "everyone", .key_len = 8, .cost = 1};
  laju_decision decision;
  int allowed = laju_limiter_check(client->limiter, &check, 1, &decision);
  return allowed < 0 ? fail(client->why, "the limiter cannot decide") : allowed;
}

/* As it is often written. Between the two commands others have read the same number. INCR and EXPIRE leave together, so that no
 * key stays behind for ever. */
static int ask_get_incr(laju_race_client *client) {
  const char *name = client->subject->name;
  void *reply = NULL;
  redisAppendCommand(client->link, "GET %s", name);
  if (redisGetReply(client->link, &reply) != REDIS_OK) return fail_link(client);
  const redisReply *got = reply;
  bool good = got->type == REDIS_REPLY_NIL || got->type == REDIS_REPLY_STRING;
  long long count = got->type == REDIS_REPLY_STRING ? strtoll(got->str, NULL, 10) : 0;
  int answer = good ? count < LAJU_RACE_LIMIT : fail_reply(client, "GET", got);
  freeReplyObject(reply);
  if (answer != 1) return answer;
  int64_t ignored;
  redisAppendCommand(client->link, "INCR %s", name);
  redisAppendCommand(client->link, "EXPIRE %s %d", name, LAJU_RACE_PERIOD_S);
  bool told = next_number(client, "INCR", &ignored) == 0 && next_number(client, "EXPIRE", &ignored) == 0;
  return told ? 1 : -1;
}

static int ask_multi(laju_race_client *client) {
  const char *name = client->subject->name;
  redisAppendCommand(client->link, "MULTI");
  redisAppendCommand(client->link, "INCR %s", name);
  redisAppendCommand(client->link, "EXPIRE %s %d", name, LAJU_RACE_PERIOD_S);
  redisAppendCommand(client->link, "EXEC");
  for (int i = 0; i < 3; i++) {
    if (skip_reply(client, "MULTI", REDIS_REPLY_STATUS) < 0) return -1;
  }
  redisReply *reply = next_reply(client, "EXEC", REDIS_REPLY_ARRAY);
  if (reply == NULL) return -1;
  bool good = reply->elements == 2 && reply->element[0]->type == REDIS_REPLY_INTEGER;
  int answer = good ? reply->element[0]->integer <= LAJU_RACE_LIMIT : fail_reply(client, "EXEC", reply);
  freeReplyObject(reply);
  return answer;
}

static int ask_script(laju_race_client *client) {
  const laju_race_subject *subject = client->subject;
  redisAppendFormattedCommand(client->link, subject->call.data, subject->call.len);
  void *reply = NULL;
  if (redisGetReply(client->link, &reply) != REDIS_OK) return fail_link(client);
  laju_script_answer answer;
  int64_t now_us;
  int allowed = -1;
  if (laju_script_read(reply, &subject->ask, 1, &answer, &now_us) < 0) {
    fail_reply(client, "laju's script", reply);
  } else if (answer.error != NULL) {
    snprintf(client->why, sizeof client->why, "Redis says to laju's script: %.300s", answer.error);
    laju_text_clean(client->why);
  } else {
    allowed = answer.decision.allowed;
  }
  freeReplyObject(reply);
  return allowed;
}

int laju_race_client_ask(laju_race_client *client) {
  switch (client->subject->way) {
    case LAJU_RACE_LOCAL: return ask_local(client);
    case LAJU_RACE_GET_INCR: return ask_get_incr(client);
    case LAJU_RACE_MULTI: return ask_multi(client);
    case LAJU_RACE_SCRIPT: break;
  }
  return ask_script(client);
}

/* ---- clients ------------------------------------------------------------------------------------------------------- */

int laju_race_client_init(laju_race_client *client, const laju_race_subject *subject) {
  *client = (laju_race_client){.subject = subject};
  if (subject->way == LAJU_RACE_LOCAL) {
    laju_limiter_options options = {.memory_bytes = LOCAL_MEMORY};
    return laju_limiter_new(&client->limiter, &options) < 0 ? fail(client->why, "memory ran out") : 0;
  }
  if (connect_link(client) < 0 || log_in(client) < 0) return -1;
  if (subject->way != LAJU_RACE_SCRIPT) return 0;
  redisAppendFormattedCommand(client->link, subject->load.data, subject->load.len);
  return skip_reply(client, "SCRIPT LOAD", REDIS_REPLY_STRING);
}

void laju_race_client_deinit(laju_race_client *client) {
  if (client->link != NULL) redisFree(client->link);
  laju_limiter_free(client->limiter);
}

int laju_race_client_forget(laju_race_client *client) {
  if (client->link == NULL) return 0;
  int64_t ignored;
  redisAppendCommand(client->link, "DEL %s", client->subject->name);
  return next_number(client, "DEL", &ignored);
}
