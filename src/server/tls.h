/* TLS at our doors: what a door's certificate is, and the stream between its bytes on the wire and those that a codec reads.
 *
 * A stream never touches a socket: what came from the wire is put in, plain bytes are read out; plain bytes are written, and what is
 * to go to the wire is taken. TLS 1.2 and 1.3, no renegotiation, no compression, sessions resumed by tickets.
 *
 * laju_tls is used by all workers at once; its certificate may be exchanged meanwhile, and a stream keeps the one that it began with.
 * A stream belongs to one thread.
 */
#ifndef LAJU_SERVER_TLS_H
#define LAJU_SERVER_TLS_H

#include <sys/types.h>

#include "base/buffer.h"
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

typedef struct laju_tls_stream laju_tls_stream;

laju_tls_stream *laju_tls_stream_new(laju_tls *tls); /* NULL: no memory */
void laju_tls_stream_free(laju_tls_stream *stream);  /* NULL is allowed */

/* Bytes from the wire. False: no memory. */
bool laju_tls_stream_receive(laju_tls_stream *stream, const void *bytes, size_t len);

#define LAJU_TLS_ENDED (-1)  /* the peer has said that it sends no more */
#define LAJU_TLS_BROKEN (-2) /* no TLS, a certificate that does not do, an alert */

/* Plain bytes that are complete: how many (at most `size`), 0 where there are none yet, or one of the above. Greets first: there may
 * be bytes to take after any call, even after BROKEN (the alert). */
ssize_t laju_tls_stream_read(laju_tls_stream *stream, void *to, size_t size);

/* Has the greeting ended? Nothing may be written before. */
bool laju_tls_stream_is_greeted(const laju_tls_stream *stream);

/* Plain bytes for the peer. False: it cannot be, the stream is broken. */
bool laju_tls_stream_write(laju_tls_stream *stream, const void *bytes, size_t len);

/* Tells the peer that nothing more comes. */
void laju_tls_stream_end(laju_tls_stream *stream);

/* Appends what is to go to the wire. */
void laju_tls_stream_take(laju_tls_stream *stream, laju_buffer *out);

#endif
