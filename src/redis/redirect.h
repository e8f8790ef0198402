/* What a server's error says about where a command belongs, or whether it can be asked again. Pure; any thread. */
#ifndef LAJU_REDIS_REDIRECT_H
#define LAJU_REDIS_REDIRECT_H

#include "base/store_url.h"

typedef enum laju_redirect_kind {
  LAJU_REDIRECT_NONE,     /* some other error, or one of these that cannot be understood */
  LAJU_REDIRECT_MOVED,    /* the slot is served by `to`, from now on */
  LAJU_REDIRECT_ASK,      /* the slot is on its way to `to`: ask there, once, after ASKING */
  LAJU_REDIRECT_TRYAGAIN, /* the slot is on its way, and some of the keys are already there */
  LAJU_REDIRECT_DOWN,     /* CLUSTERDOWN, MASTERDOWN: nobody serves the slot */
  LAJU_REDIRECT_READONLY, /* who answers is a replica */
  LAJU_REDIRECT_LOADING,  /* who answers is reading its data and serves nothing yet */
} laju_redirect_kind;

typedef struct laju_redirect {
  laju_redirect_kind kind;
  uint16_t slot;       /* of MOVED and ASK */
  laju_store_place to; /* of MOVED and ASK; host "": the host that said so */
} laju_redirect;

/* Of all these errors it is certain that the command has not run. */
void laju_redirect_read(const char *text, size_t len, laju_redirect *out);

/* Reads host:port, where an IPv6 host has no brackets, and the host may be empty. False where it is none, or names "?", which
 * is a server's word for a host that it does not know. */
bool laju_redirect_read_place(const char *text, size_t len, laju_store_place *out);

/* True where `host` may be a host's name or address: 1 to LAJU_STORE_HOST_MAX bytes that such names have. */
bool laju_redirect_host_valid(const char *host, size_t len);

#endif
