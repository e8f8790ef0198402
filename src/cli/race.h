/* The race: thirty clients at once ask 5,000 times in all whether one more of ten an hour may pass, in each of four ways. How many
 * pass is the lesson. Blocks, for seconds at most where Redis answers; one call at a time. */
#ifndef LAJU_CLI_RACE_H
#define LAJU_CLI_RACE_H

#include <stdint.h>

#include "base/store_url.h"

#define LAJU_RACE_CLIENTS 30
#define LAJU_RACE_REQUESTS 5000
#define LAJU_RACE_LIMIT 10
#define LAJU_RACE_PERIOD_S 3600
#define LAJU_RACE_WHY_SIZE 512

typedef enum laju_race_way {
  LAJU_RACE_LOCAL,    /* a limiter in each client */
  LAJU_RACE_GET_INCR, /* GET, and where that is below the limit INCR */
  LAJU_RACE_MULTI,    /* MULTI, INCR, EXPIRE, EXEC: passes where the count is not above the limit */
  LAJU_RACE_SCRIPT,   /* laju's script */
} laju_race_way;

#define LAJU_RACE_WAYS 4

typedef struct laju_race_result {
  uint32_t admitted;
  int64_t took_us; /* from the first client's start to the last one's end */
} laju_race_result;

/* Runs one way on one server, `url` (LAJU_STORE_SINGLE, without TLS), under a key with a random name that is taken away at the
 * end and has a time to live. 0, or -1 with `why`: what happened and what to do. */
int laju_race_run(const laju_store_url *url, laju_race_way way, laju_race_result *out, char why[LAJU_RACE_WHY_SIZE]);

#endif
