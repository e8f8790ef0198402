#include "tls/session.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tls/files.h"

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

/* OpenSSL's own for sockets would raise SIGPIPE. Made once, for all. */
static BIO_METHOD *method;
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void make_method(void) {
  method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "laju");
  if (method == NULL) return;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
}

/* ---- sessions ---- */

laju_tls_session *laju_tls_session_new(laju_tls_client *client, int fd, const char *host) {
  pthread_once(&method_once, make_method);
  laju_tls_session *session = calloc(1, sizeof *session);
  BIO *bio = session != NULL && method != NULL ? BIO_new(method) : NULL;
  SSL *ssl = bio != NULL ? laju_tls_client_ssl(client, host) : NULL;
  if (ssl == NULL) {
    BIO_free(bio);
    free(session);
    return NULL;
  }
  session->ssl = ssl;
  session->fd = fd;
  BIO_set_data(bio, session);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  return session;
}

void laju_tls_session_free(laju_tls_session *session) {
  if (session == NULL) return;
  SSL_free(session->ssl);
  free(session);
}

static void explain(laju_tls_session *session) {
  const char *reason = laju_tls_reason(session->ssl);
  if (reason == NULL) reason = session->error != 0 ? strerror(session->error) : "the server has closed the connection";
  snprintf(session->why, sizeof session->why, "TLS: %s", reason);
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
