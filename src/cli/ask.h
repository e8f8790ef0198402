/* Asks a running laju for one decision, over its RESP door, by TLS where that speaks it. Blocks; one thread. */
#ifndef LAJU_CLI_ASK_H
#define LAJU_CLI_ASK_H

#include "load/door.h"
#include "tls/client.h"

#define LAJU_ASK_WHY_SIZE 512

typedef struct laju_question {
  const laju_load_door *server; /* LAJU_LOAD_RESP */
  laju_tls_client_options tls;  /* where that speaks it */
  const char *password;         /* NULL: none */
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
