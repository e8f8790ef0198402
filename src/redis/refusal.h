/* What a server's error says about where a command belongs, or whether it can be asked again. Pure; any thread. */
#ifndef LAJU_REDIS_REFUSAL_H
#define LAJU_REDIS_REFUSAL_H

#include "base/store_url.h"

typedef enum laju_refusal_kind {
  LAJU_REFUSAL_NONE,     /* some other error, or one of these that cannot be understood */
  LAJU_REFUSAL_MOVED,    /* the slot is served by `to`, from now on */
  LAJU_REFUSAL_ASK,      /* the slot is on its way to `to`: ask there, once, after ASKING */
  LAJU_REFUSAL_TRYAGAIN, /* the slot is on its way, and some of the keys are already there */
  LAJU_REFUSAL_DOWN,     /* CLUSTERDOWN, MASTERDOWN: nobody serves the slot */
  LAJU_REFUSAL_READONLY, /* who answers is a replica */
  LAJU_REFUSAL_LOADING,  /* who answers is reading its data and serves nothing yet */
} laju_refusal_kind;

typedef struct laju_refusal {
  laju_refusal_kind kind;
  uint16_t slot;       /* of MOVED and ASK */
  laju_store_place to; /* of MOVED and ASK; host "": the host that said so */
} laju_refusal;

/* Of all these errors it is certain that the command has not run. */
void laju_refusal_read(const char *text, size_t len, laju_refusal *out);

/* Reads host:port, where an IPv6 host has no brackets, and the host may be empty. False where it is none, or names "?", which
 * is a server's word for a host that it does not know. */
bool laju_refusal_read_place(const char *text, size_t len, laju_store_place *out);

/* True where `host` may be a host's name or address: 1 to LAJU_STORE_HOST_MAX bytes that such names have. */
bool laju_refusal_host_valid(const char *host, size_t len);

#endif
