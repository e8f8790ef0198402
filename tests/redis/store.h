/* A real redis-server of the test's own, on a unix socket in a folder of its own, with laju's script loaded.
 *
 * A failure to start ends the program: with 77 (skip) where there is no redis-server, otherwise with 1. The server dies with
 * the test. */
#ifndef TESTS_REDIS_STORE_H
#define TESTS_REDIS_STORE_H

#include <sys/types.h>

#include "redis/script.h"

typedef struct store {
  pid_t pid;
  char folder[64];
  redisContext *link;
  laju_script script;
  laju_buffer buffer;
} store;

void store_start(store *s);
void store_stop(store *s);

/* A command by hiredis' format; the caller frees the reply. A link that fails ends the program. */
redisReply *store_command(store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The integer that a command returns. */
int64_t store_integer(store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends a call without waiting (store_next_reply reads), or sends and reads it: the time that it was decided at. A reply
 * that is none of the script's ends the program. */
void store_send(store *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin);
redisReply *store_next_reply(store *s);
int64_t store_ask(store *s, const laju_script_ask *asks, size_t count, const laju_script_pin *pin,
                  laju_script_answer *answers);

/* Errors' words outlive a reply no longer than the next store_ask. */

#endif
