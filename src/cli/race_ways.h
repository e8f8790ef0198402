/* Four ways in which many processes may share one limit, as the race runs them: each client asks the same question, one at a
 * time, over a connection of its own. A client belongs to one thread; what they share is read only. */
#ifndef LAJU_CLI_RACE_WAYS_H
#define LAJU_CLI_RACE_WAYS_H

#include <hiredis/hiredis.h>

#include "cli/race.h"
#include "redis/keys.h"
#include "redis/script.h"

/* What all clients of one run ask about. */
typedef struct laju_race_subject {
  laju_race_way way;
  const laju_store_url *url;
  laju_rule rule;
  char name[LAJU_KEYS_NAME_MAX + 1]; /* of the one key in Redis; with a random part, so that no other run meets it */
  laju_buffer load, call;            /* SCRIPT LOAD, and the EVALSHA that asks */
  laju_script_ask ask;
} laju_race_subject;

typedef struct laju_race_client {
  const laju_race_subject *subject;
  redisContext *link;    /* NULL where it needs none */
  laju_limiter *limiter; /* of its own; NULL but for LAJU_RACE_LOCAL */
  char why[LAJU_RACE_WHY_SIZE];
} laju_race_client;

/* Thinks of a key, and prepares what is sent. 0, or -1 with `why`. Deinit is due in any case. */
int laju_race_subject_init(laju_race_subject *subject, const laju_store_url *url, laju_race_way way,
                           char why[LAJU_RACE_WHY_SIZE]);
void laju_race_subject_deinit(laju_race_subject *subject);

/* Connects, logs in and prepares. 0, or -1 with `client->why`. Deinit is due in any case. */
int laju_race_client_init(laju_race_client *client, const laju_race_subject *subject);
void laju_race_client_deinit(laju_race_client *client);

/* May one more pass? 1, 0, or -1 with `client->why`. */
int laju_race_client_ask(laju_race_client *client);

/* Takes the key away again. 0, or -1 with `client->why`. */
int laju_race_client_forget(laju_race_client *client);

#endif
