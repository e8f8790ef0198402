/* Inside `redis`: the first words on a connection, all in one write: AUTH, SELECT, CLIENT SETNAME, and SCRIPT LOAD or PING. Pure. */
#ifndef LAJU_REDIS_GREETING_H
#define LAJU_REDIS_GREETING_H

#include "redis/link.h"

#define LAJU_GREETING_STEPS_MAX 4

typedef struct laju_greeting {
  unsigned char steps[LAJU_GREETING_STEPS_MAX];
  size_t count, at;
} laju_greeting;

typedef enum laju_greeting_result {
  LAJU_GREETING_GOES_ON,
  LAJU_GREETING_DONE,
  LAJU_GREETING_REFUSED, /* `why` says which word, and the server's answer */
} laju_greeting_result;

/* Appends what the options ask for. */
void laju_greeting_begin(laju_greeting *greeting, const laju_link_options *options, laju_buffer *to);

/* Takes the next reply. An ACL that forbids SETNAME or PING is no hindrance. */
laju_greeting_result laju_greeting_take(laju_greeting *greeting, const redisReply *reply, char why[LAJU_LINK_WHY_SIZE]);

#endif
