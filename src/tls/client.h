/* What a client of ours believes and shows when it speaks TLS: to the shared store, and to doors.
 *
 * The server's certificate must be signed by an authority that is known and name the host (or hold the address) that is connected
 * to, or `server_name`; unless `insecure`. TLS 1.2 and above. A context is used by any thread once it is made.
 */
#ifndef LAJU_TLS_CLIENT_H
#define LAJU_TLS_CLIENT_H

#include <laju/laju.h>
#include <openssl/types.h>

/* Files are PEM. */
typedef struct laju_tls_client_options {
  const char *ca;          /* NULL: the system's authorities */
  const char *cert, *key;  /* NULL: no client certificate; a key NULL: in the certificate's file */
  const char *server_name; /* NULL: the host's name */
  bool insecure;           /* any certificate will do */
} laju_tls_client_options;

typedef struct laju_tls_client laju_tls_client;

/* LAJU_ERR_SYSTEM (`why` names the file and what is wrong with it), LAJU_ERR_MEMORY. Nothing of `options` is kept. */
int laju_tls_client_new(laju_tls_client **out, const laju_tls_client_options *options, char why[LAJU_TEXT_SIZE]);
void laju_tls_client_free(laju_tls_client *client); /* when it connects no more; NULL is allowed */

/* One connection's, for `host`, without a BIO yet. NULL: no memory. */
SSL *laju_tls_client_ssl(laju_tls_client *client, const char *host);

#endif
