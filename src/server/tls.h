/* TLS at our doors: what a door's certificate is, and the streams that show it.
 *
 * TLS 1.2 and 1.3, no renegotiation, no compression, sessions resumed by tickets.
 *
 * laju_tls is used by all workers at once; its certificate may be exchanged meanwhile, and a stream keeps the one that it began with.
 */
#ifndef LAJU_SERVER_TLS_H
#define LAJU_SERVER_TLS_H

#include "tls/stream.h"
#include <laju/laju.h>

/* PEM files. */
typedef struct laju_tls_files {
  const char *cert;      /* the chain, ours first */
  const char *key;       /* NULL: in the same file */
  const char *client_ca; /* NULL: clients need no certificate; else one that these authorities signed */
} laju_tls_files;

typedef struct laju_tls laju_tls;

/* `http`: clients that ask for a protocol (ALPN) are told HTTP/1.1. LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM: `why` names the file and what is
 * wrong with it. */
int laju_tls_new(laju_tls **out, const laju_tls_files *files, bool http, char why[LAJU_TEXT_SIZE]);
void laju_tls_free(laju_tls *tls); /* when no stream is made any more; NULL is allowed */

/* The files anew, for streams from now on. On an error all stays as it is. */
int laju_tls_replace(laju_tls *tls, const laju_tls_files *files, char why[LAJU_TEXT_SIZE]);

laju_tls_stream *laju_tls_stream_new(laju_tls *tls); /* NULL: no memory */

#endif
