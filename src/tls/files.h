/* Certificates and keys from PEM files into a context, and what OpenSSL complains of in words. Any thread. */
#ifndef LAJU_TLS_FILES_H
#define LAJU_TLS_FILES_H

#include <laju/laju.h>
#include <openssl/types.h>

/* `why` names the file and what OpenSSL's oldest error says of it. LAJU_ERR_SYSTEM. */
int laju_tls_refuse_file(char why[LAJU_TEXT_SIZE], const char *what, const char *file);

/* Who we are: the chain, ours first, and its key (NULL: in the same file), which has no passphrase: nobody is asked for one. 0 or
 * LAJU_ERR_SYSTEM. */
int laju_tls_use_certificate(SSL_CTX *context, const char *cert, const char *key, char why[LAJU_TEXT_SIZE]);

/* Why a session failed: what is wrong with the peer's certificate, else OpenSSL's oldest error; NULL where neither is known. The text
 * is OpenSSL's own and stays. */
const char *laju_tls_reason(const SSL *ssl);

#endif
