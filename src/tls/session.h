/* A client's TLS on a socket of its own. Nothing here waits, where the socket does not; nothing raises SIGPIPE. One thread. */
#ifndef LAJU_TLS_SESSION_H
#define LAJU_TLS_SESSION_H

#include <sys/types.h>

#include "tls/client.h"

typedef struct laju_tls_session laju_tls_session;

/* On a connected socket, which stays the caller's. NULL: no memory. */
laju_tls_session *laju_tls_session_new(laju_tls_client *client, int fd, const char *host);
void laju_tls_session_free(laju_tls_session *session); /* NULL is allowed */

/* What a step waits for, where it could not be done. */
#define LAJU_TLS_WANTS_READ (-1)
#define LAJU_TLS_WANTS_WRITE (-2)
#define LAJU_TLS_CLOSED (-3) /* the peer has closed */
#define LAJU_TLS_FAILED (-4) /* laju_tls_session_why */

/* 0: greeted, the certificate is good. */
int laju_tls_session_shake(laju_tls_session *session);

/* Bytes read or written (more than 0). A write that wants something has taken its bytes over: it must be called again with the
 * same ones, wherever they lie then. */
ssize_t laju_tls_session_read(laju_tls_session *session, void *to, size_t size);
ssize_t laju_tls_session_write(laju_tls_session *session, const void *bytes, size_t len);

/* In words, after LAJU_TLS_FAILED. */
const char *laju_tls_session_why(const laju_tls_session *session);

#endif
