#include "cli/ask.h"

#include <errno.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "base/duration.h"
#include "cli/ask_tls.h"
#include "cli/print.h"

#define MEMBERS 6 /* of a decision: allowed, limit, remaining, retry_after, reset_after, delay */

typedef struct asking {
  const laju_question *question;
  redisContext *link;
  laju_ask_tls tls;
} asking;

/* ADDR as it was given, for messages; with its scheme where that is not the usual one. */
static void show_server(const asking *of, char to[LAJU_LOAD_DOOR_SIZE]) {
  const laju_load_door *server = of->question->server;
  if (server->tls) {
    laju_load_door_show(server, to);
  } else {
    laju_load_door_show_address(server, to);
  }
}

static int fail_connection(const asking *of, char why[LAJU_ASK_WHY_SIZE]) {
  const redisContext *link = of->link;
  char server[LAJU_LOAD_DOOR_SIZE];
  show_server(of, server);
  /* hiredis reports a timeout as EAGAIN ("Resource temporarily unavailable"), which tells nobody anything */
  bool late = link->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT);
  if (late || strcmp(link->errstr, "Connection timed out") == 0) {
    char wait[24];
    laju_duration_format(wait, sizeof wait, of->question->timeout_us);
    snprintf(why, LAJU_ASK_WHY_SIZE, "%.200s does not answer within %s; is laju serve running there?", server, wait);
  } else if (link->err == REDIS_ERR_PROTOCOL) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "%.200s does not speak RESP; is it laju's resp address, not the one for HTTP?",
             server);
  } else if (strncmp(link->errstr, "TLS: ", 5) == 0) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "cannot ask %.200s: %s; see --ca, --server-name and --cert", server, link->errstr);
  } else {
    snprintf(why, LAJU_ASK_WHY_SIZE, "cannot ask %.200s: %s; is laju serve running there? --server ADDR names another",
             server, link->errstr);
  }
  laju_text_clean(why);
  return -1;
}

static int fail_reply(const asking *of, const redisReply *reply, char why[LAJU_ASK_WHY_SIZE]) {
  char server[LAJU_LOAD_DOOR_SIZE];
  const char *advice = "";
  show_server(of, server);
  if (reply->type != REDIS_REPLY_ERROR) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "%.200s answers something else than a decision; is it laju?", server);
    return -1;
  }
  if (strncmp(reply->str, "NOAUTH", 6) == 0) advice = "; give the password by LAJU_PASSWORD or --password";
  if (strstr(reply->str, "unknown command") != NULL) advice = "; is it laju?";
  snprintf(why, LAJU_ASK_WHY_SIZE, "%.200s refuses: %.250s%s", server, reply->str, advice);
  laju_text_clean(why);
  return -1;
}

static redisContext *connect_to(const laju_address *server, struct timeval timeout) {
  redisContext *link = server->kind == LAJU_ADDRESS_UNIX ? redisConnectUnixWithTimeout(server->host, timeout)
                                                         : redisConnectWithTimeout(server->host, server->port, timeout);
  if (link != NULL && link->err == 0) redisSetTimeout(link, timeout);
  return link;
}

/* The reply that comes until then, or NULL. hiredis has a timeout for each read; a server that drips could go on for ever. */
static int read_more(asking *of, int64_t until_us) {
  if (of->tls.session != NULL) return laju_ask_tls_read(&of->tls, of->link, until_us);
  int64_t left_us = until_us - laju_ask_now_us();
  if (left_us < 1) left_us = 1;
  struct timeval left = {left_us / 1000000, left_us % 1000000};
  return redisSetTimeout(of->link, left) == REDIS_OK && redisBufferRead(of->link) == REDIS_OK ? 0 : -1;
}

static redisReply *await(asking *of, int64_t until_us) {
  void *reply = NULL;
  while (redisGetReplyFromReader(of->link, &reply) == REDIS_OK && reply == NULL) {
    if (read_more(of, until_us) < 0) return NULL;
  }
  return reply;
}

static int send_words(asking *of, const char **argv, int count, int64_t until_us) {
  int sent = 0;
  if (of->tls.session != NULL) {
    char *bytes;
    long long len = redisFormatCommandArgv(&bytes, count, argv, NULL);
    if (len < 0) return -1;
    int error = laju_ask_tls_send(&of->tls, of->link, bytes, (size_t)len, until_us);
    redisFreeCommand(bytes);
    return error;
  }
  if (redisAppendCommandArgv(of->link, count, argv, NULL) != REDIS_OK) return -1;
  while (!sent) {
    if (redisBufferWrite(of->link, &sent) != REDIS_OK) return -1;
  }
  return 0;
}

/* One command of up to four words; its reply, or NULL where the connection failed. */
static redisReply *command(asking *of, const char *const *words, int count) {
  const char *argv[4];
  int64_t until_us = laju_ask_now_us() + of->question->timeout_us;
  memcpy(argv, words, (size_t)count * sizeof *words);
  return send_words(of, argv, count, until_us) == 0 ? await(of, until_us) : NULL;
}

static int authenticate(asking *of, char why[LAJU_ASK_WHY_SIZE]) {
  const char *const words[] = {"AUTH", of->question->password};
  redisReply *reply = command(of, words, 2);
  if (reply == NULL) return fail_connection(of, why);
  int error = reply->type == REDIS_REPLY_STATUS ? 0 : fail_reply(of, reply, why);
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

static int check(asking *of, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]) {
  const laju_question *question = of->question;
  const char *const words[] = {question->peek ? "LAJU.PEEK" : "LAJU.CHECK", question->rule, question->key,
                               question->cost};
  redisReply *reply = command(of, words, question->cost != NULL ? 4 : 3);
  if (reply == NULL) return fail_connection(of, why);
  int error = is_decision(reply) ? 0 : fail_reply(of, reply, why);
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

static int ask(asking *of, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]) {
  const laju_question *question = of->question;
  if (of->link->err != 0) return fail_connection(of, why);
  if (question->server->tls) {
    const char *host = laju_load_door_host(question->server);
    int64_t until_us = laju_ask_now_us() + question->timeout_us;
    if (laju_ask_tls_open(&of->tls, of->link, &question->tls, host, until_us) < 0) return fail_connection(of, why);
  }
  if (question->password != NULL && authenticate(of, why) < 0) return -1;
  return check(of, out, why);
}

int laju_ask(const laju_question *question, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]) {
  struct timeval timeout = {question->timeout_us / 1000000, question->timeout_us % 1000000};
  asking of = {.question = question, .link = connect_to(&question->server->address, timeout)};
  if (of.link == NULL) {
    snprintf(why, LAJU_ASK_WHY_SIZE, "memory ran out");
    return -1;
  }
  int error = ask(&of, out, why);
  laju_ask_tls_close(&of.tls);
  redisFree(of.link);
  return error;
}
