/* A real redis-server of the test's own, on a unix socket in a folder of its own, with laju's script loaded.
 *
 * A failure to start ends the program: with 77 (skip) where there is no redis-server, otherwise with 1. Servers die with the
 * test, and their folders with them. */
#ifndef TESTS_REDIS_REDIS_SERVER_H
#define TESTS_REDIS_REDIS_SERVER_H

#include <sys/types.h>

#include "redis/script.h"

#define REDIS_ARGUMENTS_MAX 24

typedef struct redis_server {
  pid_t pid; /* 0: not running */
  char folder[64];
  char socket[80];
  const char *arguments[REDIS_ARGUMENTS_MAX + 1]; /* more of redis-server's, NULL behind the last */
  redisContext *link;                             /* NULL: not running */
  laju_script script;
  laju_buffer buffer;
  struct redis_server *next;
} redis_server;

void redis_start(redis_server *s);

/* With more of redis-server's arguments, NULL behind the last. */
void redis_start_with(redis_server *s, const char *const *arguments);
void redis_stop(redis_server *s);

/* kill -9; and the same again, empty, with the same arguments. */
void redis_kill(redis_server *s);
void redis_start_again(redis_server *s);

/* A port of 127.0.0.1 that is free, as text. */
const char *redis_free_port(void);

/* A command by hiredis' format; the caller frees the reply. A link that fails ends the program. */
redisReply *redis_command(redis_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The integer that a command returns. */
int64_t redis_integer(redis_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends a call without waiting (redis_next_reply reads), or sends and reads it: the time that it was decided at. A reply
 * that is none of the script's ends the program. */
void redis_send(redis_server *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin);
redisReply *redis_next_reply(redis_server *s);
int64_t redis_ask(redis_server *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                  laju_script_answer *answers);

/* Errors' words outlive a reply no longer than the next redis_ask. */

#endif
