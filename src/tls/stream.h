/* TLS between bytes on the wire and those that a codec reads.
 *
 * A stream never touches a socket: what came from the wire is put in, plain bytes are read out; plain bytes are written, and what is
 * to go to the wire is taken. A stream belongs to one thread.
 */
#ifndef LAJU_TLS_STREAM_H
#define LAJU_TLS_STREAM_H

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"

typedef struct laju_tls_stream laju_tls_stream;

/* Takes `ssl` over, a server's or a client's. NULL, and `ssl` is freed: no memory, also where `ssl` is NULL. */
laju_tls_stream *laju_tls_stream_of(SSL *ssl);
void laju_tls_stream_free(laju_tls_stream *stream); /* NULL is allowed */

/* Bytes from the wire. False: no memory. */
bool laju_tls_stream_receive(laju_tls_stream *stream, const void *bytes, size_t len);

#define LAJU_TLS_ENDED (-1)  /* the peer has said that it sends no more */
#define LAJU_TLS_BROKEN (-2) /* no TLS, a certificate that does not do, an alert */

/* Plain bytes that are complete: how many (at most `size`), 0 where there are none yet, or one of the above. Greets first: there may
 * be bytes to take after any call, even after BROKEN (the alert). */
ssize_t laju_tls_stream_read(laju_tls_stream *stream, void *to, size_t size);

/* After BROKEN: what OpenSSL calls it. */
const char *laju_tls_stream_why(const laju_tls_stream *stream);

/* Has the greeting ended? Nothing may be written before. */
bool laju_tls_stream_is_greeted(const laju_tls_stream *stream);

/* Plain bytes for the peer. False: it cannot be, the stream is broken. */
bool laju_tls_stream_write(laju_tls_stream *stream, const void *bytes, size_t len);

/* Tells the peer that nothing more comes. */
void laju_tls_stream_end(laju_tls_stream *stream);

/* Appends what is to go to the wire. */
void laju_tls_stream_take(laju_tls_stream *stream, laju_buffer *out);

#endif
