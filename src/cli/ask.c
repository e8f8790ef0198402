#include "cli/ask.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "base/duration.h"
#include "cli/print.h"

#define MEMBERS 6 /* of a decision: allowed, limit, remaining, retry_after, reset_after, delay */

/* ADDR as it was given, for messages. */
static void show_server(const laju_address *server, char *to, size_t size) {
  switch (server->kind) {
    case LAJU_ADDRESS_UNIX: snprintf(to, size, "unix:%.120s", server->host); break;
    case LAJU_ADDRESS_IPV6: snprintf(to, size, "[%.120s]:%u", server->host, server->port); break;
    default: snprintf(to, size, "%.120s:%u", server->host, server->port); break;
  }
}

static int fail_connection(const laju_question *question, const redisContext *link, char why[LAJU_ASK_WHY_SIZE]) {
  char server[160];
  show_server(question->server, server, sizeof server);
  /* hiredis reports a timeout as EAGAIN ("Resource temporarily unavailable"), which tells nobody anything */
  bool late = link->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT);
  if (late || strcmp(link->errstr, "Connection timed out") == 0) {
    char wait[24];
    laju_duration_format(wait, sizeof wait, question->timeout_us);
    snprintf(why, LAJU_ASK_WHY_SIZE, "%s does not answer within %s; is laju serve running there?", server, wait);
  } else if (link->err == REDIS_ERR_PROTOCOL) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "%s does not speak RESP; is it laju's resp address, not the one for HTTP?",
             server);
  } else {
    snprintf(why, LAJU_ASK_WHY_SIZE, "cannot ask %s: %s; is laju serve running there? --server ADDR names another",
             server, link->errstr);
  }
  laju_text_clean(why);
  return -1;
}

static int fail_reply(const laju_question *question, const redisReply *reply, char why[LAJU_ASK_WHY_SIZE]) {
  char server[160];
  const char *advice = "";
  show_server(question->server, server, sizeof server);
  if (reply->type != REDIS_REPLY_ERROR) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "%s answers something else than a decision; is it laju?", server);
    return -1;
  }
  if (strncmp(reply->str, "NOAUTH", 6) == 0) advice = "; give the password by LAJU_PASSWORD or --password";
  if (strstr(reply->str, "unknown command") != NULL) advice = "; is it laju?";
  snprintf(why, LAJU_ASK_WHY_SIZE, "%s refuses: %.250s%s", server, reply->str, advice);
  laju_text_clean(why);
  return -1;
}

static redisContext *connect_to(const laju_address *server, struct timeval timeout) {
  redisContext *link = server->kind == LAJU_ADDRESS_UNIX ? redisConnectUnixWithTimeout(server->host, timeout)
                                                         : redisConnectWithTimeout(server->host, server->port, timeout);
  if (link != NULL && link->err == 0) redisSetTimeout(link, timeout);
  return link;
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The reply that comes until then, or NULL. hiredis has a timeout for each read; a server that drips could go on for ever. */
static redisReply *await(redisContext *link, int64_t until_us) {
  void *reply = NULL;
  while (redisGetReplyFromReader(link, &reply) == REDIS_OK && reply == NULL) {
    int64_t left_us = until_us - now_us();
    if (left_us < 1) left_us = 1;
    if (redisSetTimeout(link, (struct timeval){left_us / 1000000, left_us % 1000000}) != REDIS_OK) return NULL;
    if (redisBufferRead(link) != REDIS_OK) return NULL;
  }
  return reply;
}

/* One command of up to four words; its reply, or NULL where the connection failed. */
static redisReply *command(const laju_question *question, redisContext *link, const char *const *words, int count) {
  const char *argv[4];
  int sent = 0;
  int64_t until_us = now_us() + question->timeout_us;
  memcpy(argv, words, (size_t)count * sizeof *words);
  if (redisAppendCommandArgv(link, count, argv, NULL) != REDIS_OK) return NULL;
  while (!sent) {
    if (redisBufferWrite(link, &sent) != REDIS_OK) return NULL;
  }
  return await(link, until_us);
}

static int authenticate(const laju_question *question, redisContext *link, char why[LAJU_ASK_WHY_SIZE]) {
  const char *const words[] = {"AUTH", question->password};
  redisReply *reply = command(question, link, words, 2);
  if (reply == NULL) return fail_connection(question, link, why);
  int error = reply->type == REDIS_REPLY_STATUS ? 0 : fail_reply(question, reply, why);
  freeReplyObject(reply);
  return error;
}

static bool is_decision(const redisReply *reply) {
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements != MEMBERS) return false;
  for (size_t i = 0; i < MEMBERS; i++) {
    if (reply->element[i]->type != REDIS_REPLY_INTEGER) return false;
  }
  return true;
}

static int check(const laju_question *question, redisContext *link, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]) {
  const char *const words[] = {question->peek ? "LAJU.PEEK" : "LAJU.CHECK", question->rule, question->key,
                               question->cost};
  redisReply *reply = command(question, link, words, question->cost != NULL ? 4 : 3);
  if (reply == NULL) return fail_connection(question, link, why);
  int error = is_decision(reply) ? 0 : fail_reply(question, reply, why);
  if (error == 0) {
    *out = (laju_answer){
        .allowed = reply->element[0]->integer == 1,
        .limit = reply->element[1]->integer,
        .remaining = reply->element[2]->integer,
        .retry_after_ms = reply->element[3]->integer,
        .reset_after_ms = reply->element[4]->integer,
        .delay_ms = reply->element[5]->integer,
    };
  }
  freeReplyObject(reply);
  return error;
}

int laju_ask(const laju_question *question, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]) {
  struct timeval timeout = {question->timeout_us / 1000000, question->timeout_us % 1000000};
  redisContext *link = connect_to(question->server, timeout);
  if (link == NULL) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "memory ran out");
    return -1;
  }
  int error = link->err != 0 ? fail_connection(question, link, why) : 0;
  if (error == 0 && question->password != NULL) error = authenticate(question, link, why);
  if (error == 0) error = check(question, link, out, why);
  redisFree(link);
  return error;
}
