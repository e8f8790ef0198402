#include "tls/files.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

int laju_tls_refuse_file(char why[LAJU_TEXT_SIZE], const char *what, const char *file) {
  unsigned long error = ERR_peek_error(); /* the first is the cause */
  const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  snprintf(why, LAJU_TEXT_SIZE, "%s %.140s: %s", what, file, reason != NULL ? reason : "cannot be used");
  ERR_clear_error();
  return LAJU_ERR_SYSTEM;
}

/* Otherwise OpenSSL would ask the terminal for it, and all would wait. */
static int no_passphrase(char *to, int size, int writing, void *unused) {
  (void)to;
  (void)size;
  (void)writing;
  (void)unused;
  return -1;
}

int laju_tls_use_certificate(SSL_CTX *context, const char *cert, const char *key, char why[LAJU_TEXT_SIZE]) {
  if (key == NULL) key = cert;
  ERR_clear_error();
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (SSL_CTX_use_certificate_chain_file(context, cert) != 1) return laju_tls_refuse_file(why, "certificate", cert);
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) return laju_tls_refuse_file(why, "key", key);
  if (SSL_CTX_check_private_key(context) != 1) return laju_tls_refuse_file(why, "key", key);
  return 0;
}

const char *laju_tls_reason(const SSL *ssl) {
  unsigned long error = ERR_peek_error();
  long verified = SSL_get_verify_result(ssl);
  bool checked = SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE;
  if (checked && verified != X509_V_OK) return X509_verify_cert_error_string(verified);
  return error != 0 ? ERR_reason_error_string(error) : NULL;
}
