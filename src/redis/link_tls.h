/* TLS under a link: a context that all links share, and a session for each connection, on its socket.
 *
 * The server's certificate must be signed by an authority that is known and name the host (or hold the address) that the link
 * connects to, or `server_name`. TLS 1.2 and above. Nothing here blocks; nothing raises SIGPIPE. One thread.
 */
#ifndef LAJU_REDIS_LINK_TLS_H
#define LAJU_REDIS_LINK_TLS_H

#include <laju/laju.h>
#include <sys/types.h>

typedef struct laju_link_tls laju_link_tls;

/* `ca`, `cert`, `key` are files; NULL: the system's authorities, no client certificate. `server_name` NULL: the host's.
 * LAJU_ERR_SYSTEM (`why` names the file and what is wrong with it), LAJU_ERR_MEMORY. */
int laju_link_tls_new(laju_link_tls **out, const char *ca, const char *cert, const char *key, const char *server_name,
                      char why[LAJU_TEXT_SIZE]);
void laju_link_tls_free(laju_link_tls *tls); /* NULL is allowed */

typedef struct laju_tls_session laju_tls_session;

/* On a connected socket, which stays the caller's. NULL: no memory. */
laju_tls_session *laju_tls_session_new(laju_link_tls *tls, int fd, const char *host);
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
