#include "server/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tls/files.h"

struct laju_tls {
  pthread_mutex_t lock; /* of `context` */
  SSL_CTX *context;
  bool http;
};

/* ---- certificates -------------------------------------------------------------------------------------------------- */

static int use_files(SSL_CTX *context, const laju_tls_files *files, char why[LAJU_TEXT_SIZE]) {
  int error = laju_tls_use_certificate(context, files->cert, files->key, why);
  if (error < 0) return error;
  if (files->client_ca == NULL) return 0;
  STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->client_ca);
  if (names == NULL || SSL_CTX_load_verify_locations(context, files->client_ca, NULL) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return laju_tls_refuse_file(why, "certificate authorities", files->client_ca);
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

laju_tls_stream *laju_tls_stream_new(laju_tls *tls) {
  pthread_mutex_lock(&tls->lock);
  SSL *ssl = SSL_new(tls->context);
  pthread_mutex_unlock(&tls->lock);
  if (ssl != NULL) SSL_set_accept_state(ssl);
  return laju_tls_stream_of(ssl);
}
