/* TLS under a question: over the socket of a hiredis connection, which knows none. Blocks until a given time; one thread. */
#ifndef LAJU_CLI_ASK_TLS_H
#define LAJU_CLI_ASK_TLS_H

#include <hiredis/hiredis.h>

#include "tls/session.h"

typedef struct laju_ask_tls {
  laju_tls_client *client;
  laju_tls_session *session; /* NULL: the connection is plain */
} laju_ask_tls;

/* Each of these: 0; or -1, and `link` has err and errstr, after a wait that was too long as hiredis has it (REDIS_ERR_IO, errno EAGAIN).
 * `until_us` is CLOCK_MONOTONIC. The socket waits no more from then on. */
int laju_ask_tls_open(laju_ask_tls *tls, redisContext *link, const laju_tls_client_options *options, const char *host,
                      int64_t until_us);
int laju_ask_tls_send(laju_ask_tls *tls, redisContext *link, const char *bytes, size_t len, int64_t until_us);
int laju_ask_tls_read(laju_ask_tls *tls, redisContext *link, int64_t until_us); /* into the connection's reader */

void laju_ask_tls_close(laju_ask_tls *tls);

int64_t laju_ask_now_us(void); /* CLOCK_MONOTONIC */

#endif
