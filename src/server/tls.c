#include "server/tls.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct laju_tls {
  pthread_mutex_t lock; /* of `context` */
  SSL_CTX *context;
  bool http;
};

#define KEPT_MAX 16384 /* bytes that either side of a stream keeps while it is empty */

struct laju_tls_stream {
  SSL *ssl;
  BIO *in, *out; /* the wire; the SSL's own */
  bool broken;
};

/* ---- certificates -------------------------------------------------------------------------------------------------- */

static int refuse(char why[LAJU_TEXT_SIZE], const char *what, const char *file) {
  unsigned long error = ERR_peek_error();
  const char *reason = ERR_SYSTEM_ERROR(error) ? strerror(ERR_GET_REASON(error)) : ERR_reason_error_string(error);
  snprintf(why, LAJU_TEXT_SIZE, "%s %.140s: %s", what, file, reason != NULL ? reason : "cannot be used");
  ERR_clear_error();
  return LAJU_ERR_SYSTEM;
}

static int use_files(SSL_CTX *context, const laju_tls_files *files, char why[LAJU_TEXT_SIZE]) {
  const char *key = files->key != NULL ? files->key : files->cert;
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, files->cert) != 1) return refuse(why, "certificate", files->cert);
  if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) return refuse(why, "key", key);
  if (SSL_CTX_check_private_key(context) != 1) return refuse(why, "key", key);
  if (files->client_ca == NULL) return 0;
  STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->client_ca);
  if (names == NULL || SSL_CTX_load_verify_locations(context, files->client_ca, NULL) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return refuse(why, "certificate authorities", files->client_ca);
  }
  SSL_CTX_set_client_CA_list(context, names); /* takes them over */
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
  return 0;
}

/* A client that offers protocols without ours is let in all the same: it may speak ours without saying so. */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *chosen_len,
                           const unsigned char *offered, unsigned offered_len, void *unused) {
  static const unsigned char ours[] = "\x08http/1.1";
  (void)ssl;
  (void)unused;
  int found = SSL_select_next_proto((unsigned char **)(uintptr_t)chosen, chosen_len, ours, sizeof ours - 1, offered,
                                    offered_len);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static int make_context(SSL_CTX **out, const laju_tls_files *files, bool http, char why[LAJU_TEXT_SIZE]) {
  static const unsigned char session_id_context[] = "laju";
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  if (context == NULL) {
    snprintf(why, LAJU_TEXT_SIZE, "out of memory");
    return LAJU_ERR_MEMORY;
  }
  int error = use_files(context, files, why);
  if (error < 0) {
    SSL_CTX_free(context);
    return error;
  }
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);         /* idle connections keep none */
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets do, without memory of ours */
  SSL_CTX_set_session_id_context(context, session_id_context, sizeof session_id_context - 1);
  if (http) SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
  *out = context;
  return 0;
}

int laju_tls_new(laju_tls **out, const laju_tls_files *files, bool http, char why[LAJU_TEXT_SIZE]) {
  SSL_CTX *context;
  int error = make_context(&context, files, http, why);
  if (error < 0) return error;
  laju_tls *tls = calloc(1, sizeof *tls);
  if (tls == NULL || pthread_mutex_init(&tls->lock, NULL) != 0) {
    SSL_CTX_free(context);
    free(tls);
    snprintf(why, LAJU_TEXT_SIZE, "out of memory");
    return LAJU_ERR_MEMORY;
  }
  tls->context = context;
  tls->http = http;
  *out = tls;
  return 0;
}

void laju_tls_free(laju_tls *tls) {
  if (tls == NULL) return;
  SSL_CTX_free(tls->context);
  pthread_mutex_destroy(&tls->lock);
  free(tls);
}

int laju_tls_replace(laju_tls *tls, const laju_tls_files *files, char why[LAJU_TEXT_SIZE]) {
  SSL_CTX *fresh;
  int error = make_context(&fresh, files, tls->http, why);
  if (error < 0) return error;
  pthread_mutex_lock(&tls->lock);
  SSL_CTX *old = tls->context;
  tls->context = fresh;
  pthread_mutex_unlock(&tls->lock);
  SSL_CTX_free(old); /* streams hold theirs */
  return 0;
}

/* ---- streams ------------------------------------------------------------------------------------------------------- */

laju_tls_stream *laju_tls_stream_new(laju_tls *tls) {
  laju_tls_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) return NULL;
  pthread_mutex_lock(&tls->lock);
  stream->ssl = SSL_new(tls->context);
  pthread_mutex_unlock(&tls->lock);
  stream->in = BIO_new(BIO_s_mem());
  stream->out = BIO_new(BIO_s_mem());
  if (stream->ssl == NULL || stream->in == NULL || stream->out == NULL) {
    SSL_free(stream->ssl);
    BIO_free(stream->in);
    BIO_free(stream->out);
    free(stream);
    return NULL;
  }
  BIO_set_mem_eof_return(stream->in, -1); /* empty is not the end */
  SSL_set_bio(stream->ssl, stream->in, stream->out);
  SSL_set_accept_state(stream->ssl);
  return stream;
}

void laju_tls_stream_free(laju_tls_stream *stream) {
  if (stream == NULL) return;
  SSL_free(stream->ssl);
  free(stream);
}

bool laju_tls_stream_receive(laju_tls_stream *stream, const void *bytes, size_t len) {
  return len <= INT_MAX && BIO_write(stream->in, bytes, (int)len) == (int)len;
}

/* Memory that much has gone through stays as large as that, and is wiped whenever it is emptied. */
static void shed(BIO *bio) {
  BUF_MEM *held;
  if (BIO_get_mem_ptr(bio, &held) != 1 || held->max <= KEPT_MAX) return;
  BUF_MEM *fresh = BUF_MEM_new();
  if (fresh != NULL) BIO_set_mem_buf(bio, fresh, BIO_CLOSE);
}

static int break_off(laju_tls_stream *stream) {
  stream->broken = true;
  ERR_clear_error();
  return LAJU_TLS_BROKEN;
}

ssize_t laju_tls_stream_read(laju_tls_stream *stream, void *to, size_t size) {
  size_t got;
  if (stream->broken) return LAJU_TLS_BROKEN;
  ERR_clear_error();
  if (SSL_read_ex(stream->ssl, to, size, &got) == 1) return (ssize_t)got;
  switch (SSL_get_error(stream->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
      if (BIO_pending(stream->in) == 0) shed(stream->in);
      return 0;
    case SSL_ERROR_ZERO_RETURN: return LAJU_TLS_ENDED;
    default: return break_off(stream);
  }
}

bool laju_tls_stream_is_greeted(const laju_tls_stream *stream) {
  return SSL_is_init_finished(stream->ssl) == 1;
}

bool laju_tls_stream_write(laju_tls_stream *stream, const void *bytes, size_t len) {
  size_t written;
  if (stream->broken || len == 0) return !stream->broken;
  ERR_clear_error();
  /* Memory takes all, so it is whole or broken. */
  if (SSL_write_ex(stream->ssl, bytes, len, &written) == 1 && written == len) return true;
  break_off(stream);
  return false;
}

void laju_tls_stream_end(laju_tls_stream *stream) {
  if (stream->broken || !laju_tls_stream_is_greeted(stream)) return;
  SSL_shutdown(stream->ssl);
  ERR_clear_error();
}

void laju_tls_stream_take(laju_tls_stream *stream, laju_buffer *out) {
  char *bytes;
  long len = BIO_get_mem_data(stream->out, &bytes);
  if (len <= 0) return;
  laju_buffer_add(out, bytes, (size_t)len);
  (void)BIO_reset(stream->out);
  shed(stream->out);
}
