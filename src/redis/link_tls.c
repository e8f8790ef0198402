#include "redis/link_tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct laju_link_tls {
  SSL_CTX *context;
  BIO_METHOD *method; /* OpenSSL's own for sockets would raise SIGPIPE */
  char *server_name;
};

struct laju_tls_session {
  SSL *ssl;
  int error; /* errno of the socket's last call that failed */
  int fd;
  char why[LAJU_TEXT_SIZE];
};

/* ---- the socket, as OpenSSL sees it ---- */

static int take_result(BIO *bio, ssize_t result, int retry) {
  laju_tls_session *session = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (result >= 0) return (int)result;
  session->error = errno;
  if (errno == EAGAIN || errno == EINTR) BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  return -1;
}

static int bio_write(BIO *bio, const char *bytes, int len) {
  const laju_tls_session *session = BIO_get_data(bio);
  return take_result(bio, send(session->fd, bytes, (size_t)len, MSG_NOSIGNAL), BIO_FLAGS_WRITE);
}

static int bio_read(BIO *bio, char *to, int size) {
  const laju_tls_session *session = BIO_get_data(bio);
  return take_result(bio, recv(session->fd, to, (size_t)size, 0), BIO_FLAGS_READ);
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *make_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "laju");
  if (method == NULL) return NULL;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
  return method;
}

/* ---- what all sessions share ---- */

static int refuse(char why[LAJU_TEXT_SIZE], const char *what, const char *file) {
  unsigned long error = ERR_peek_error(); /* the first is the cause */
  const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  snprintf(why, LAJU_TEXT_SIZE, "%s %s: %s", what, file, reason != NULL ? reason : "cannot be used");
  ERR_clear_error();
  return LAJU_ERR_SYSTEM;
}

static int use_files(SSL_CTX *context, const char *ca, const char *cert, const char *key, char why[LAJU_TEXT_SIZE]) {
  ERR_clear_error();
  if (ca == NULL) {
    if (SSL_CTX_set_default_verify_paths(context) != 1) return refuse(why, "certificates of", "the system");
  } else if (SSL_CTX_load_verify_locations(context, ca, NULL) != 1) {
    return refuse(why, "certificate authorities", ca);
  }
  if (cert == NULL) return 0;
  if (SSL_CTX_use_certificate_chain_file(context, cert) != 1) return refuse(why, "certificate", cert);
  if (key == NULL) key = cert;
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) return refuse(why, "key", key);
  if (SSL_CTX_check_private_key(context) != 1) return refuse(why, "key", key);
  return 0;
}

int laju_link_tls_new(laju_link_tls **out, const char *ca, const char *cert, const char *key, const char *server_name,
                      char why[LAJU_TEXT_SIZE]) {
  laju_link_tls *tls = calloc(1, sizeof *tls);
  if (tls == NULL) return LAJU_ERR_MEMORY;
  tls->context = SSL_CTX_new(TLS_client_method());
  tls->method = make_method();
  if (server_name != NULL) tls->server_name = strdup(server_name);
  int err = tls->context == NULL || tls->method == NULL || (server_name != NULL && tls->server_name == NULL)
                ? LAJU_ERR_MEMORY
                : use_files(tls->context, ca, cert, key, why);
  if (err < 0) {
    laju_link_tls_free(tls);
    return err;
  }
  SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
  SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
  SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  *out = tls;
  return 0;
}

void laju_link_tls_free(laju_link_tls *tls) {
  if (tls == NULL) return;
  SSL_CTX_free(tls->context);
  BIO_meth_free(tls->method);
  free(tls->server_name);
  free(tls);
}

/* ---- sessions ---- */

static bool is_address(const char *host) {
  unsigned char bytes[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Whom the certificate must name; an address is not said in SNI. */
static bool set_host(SSL *ssl, const char *host) {
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
  return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
}

laju_tls_session *laju_tls_session_new(laju_link_tls *tls, int fd, const char *host) {
  laju_tls_session *session = calloc(1, sizeof *session);
  BIO *bio = session != NULL ? BIO_new(tls->method) : NULL;
  SSL *ssl = bio != NULL ? SSL_new(tls->context) : NULL;
  if (ssl == NULL || !set_host(ssl, tls->server_name != NULL ? tls->server_name : host)) {
    SSL_free(ssl);
    BIO_free(bio);
    free(session);
    return NULL;
  }
  session->ssl = ssl;
  session->fd = fd;
  BIO_set_data(bio, session);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_connect_state(ssl);
  return session;
}

void laju_tls_session_free(laju_tls_session *session) {
  if (session == NULL) return;
  SSL_free(session->ssl);
  free(session);
}

static void explain(laju_tls_session *session) {
  unsigned long error = ERR_peek_error();
  long verified = SSL_get_verify_result(session->ssl);
  const char *reason = error != 0 ? ERR_reason_error_string(error) : strerror(session->error);
  if (verified != X509_V_OK) reason = X509_verify_cert_error_string(verified);
  snprintf(session->why, sizeof session->why, "TLS: %s", reason != NULL ? reason : "failed");
}

/* `result` is that of the last call for this session, before which the error queue was empty. */
static int problem_of(laju_tls_session *session, int result) {
  switch (SSL_get_error(session->ssl, result)) {
    case SSL_ERROR_WANT_READ: return LAJU_TLS_WANTS_READ;
    case SSL_ERROR_WANT_WRITE: return LAJU_TLS_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN: return LAJU_TLS_CLOSED;
    default: explain(session); return LAJU_TLS_FAILED;
  }
}

static void begin(laju_tls_session *session) {
  ERR_clear_error();
  session->error = 0;
}

int laju_tls_session_shake(laju_tls_session *session) {
  begin(session);
  int result = SSL_do_handshake(session->ssl);
  return result == 1 ? 0 : problem_of(session, result);
}

ssize_t laju_tls_session_read(laju_tls_session *session, void *to, size_t size) {
  begin(session);
  size_t done;
  int result = SSL_read_ex(session->ssl, to, size, &done);
  return result == 1 ? (ssize_t)done : problem_of(session, result);
}

ssize_t laju_tls_session_write(laju_tls_session *session, const void *bytes, size_t len) {
  begin(session);
  size_t done;
  int result = SSL_write_ex(session->ssl, bytes, len, &done);
  return result == 1 ? (ssize_t)done : problem_of(session, result);
}

const char *laju_tls_session_why(const laju_tls_session *session) {
  return session->why;
}
