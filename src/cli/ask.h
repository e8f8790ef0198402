/* Asks a running laju for one decision, over its RESP door. Blocks; one thread. */
#ifndef LAJU_CLI_ASK_H
#define LAJU_CLI_ASK_H

#include "config/address.h"

#define LAJU_ASK_WHY_SIZE 512

typedef struct laju_question {
  const laju_address *server; /* any kind but off and all */
  const char *password;       /* NULL: none */
  const char *rule, *key;
  const char *cost;   /* in digits; NULL: the rule's own */
  bool peek;          /* ask without charging; `cost` is then NULL */
  int64_t timeout_us; /* for connecting, and for each whole answer */
} laju_question;

/* The answer in whole milliseconds, as LAJU.CHECK gives it. */
typedef struct laju_answer {
  int64_t limit, remaining, reset_after_ms, delay_ms;
  int64_t retry_after_ms; /* LAJU_NEVER where waiting cannot help */
  bool allowed;
} laju_answer;

/* 0, or -1 with `why`: what happened and what to do. */
int laju_ask(const laju_question *question, laju_answer *out, char why[LAJU_ASK_WHY_SIZE]);

#endif
