/* Real sentinels of the test's own, which watch a primary under the name `primary`. */
#ifndef TESTS_REDIS_SENTINELS_H
#define TESTS_REDIS_SENTINELS_H

#include <hiredis/hiredis.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct sentinel_process {
  pid_t pid;
  uint16_t port;
  char folder[64];
  redisContext *link;
} sentinel_process;

/* `quorum` sentinels must agree that it is down, for which it must be silent for 500 ms. `more` are lines of configuration, or
 * "". It dies with the test. */
void sentinel_start(sentinel_process *s, uint16_t primary_port, int quorum, const char *more);
void sentinel_stop(sentinel_process *s);

/* A command; the caller frees the reply. */
redisReply *sentinel_command(sentinel_process *s, const char *words);

/* What SENTINEL MASTER says of a field, into `out`; "" where it says nothing. */
void sentinel_field(sentinel_process *s, const char *field, char out[64]);

#endif
