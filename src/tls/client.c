#include "tls/client.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "tls/files.h"

struct laju_tls_client {
  SSL_CTX *context;
  char *server_name;
};

static int use_files(SSL_CTX *context, const laju_tls_client_options *options, char why[LAJU_TEXT_SIZE]) {
  ERR_clear_error();
  if (options->ca != NULL) {
    if (SSL_CTX_load_verify_locations(context, options->ca, NULL) != 1) {
      return laju_tls_refuse_file(why, "certificate authorities", options->ca);
    }
  } else if (SSL_CTX_set_default_verify_paths(context) != 1) {
    return laju_tls_refuse_file(why, "certificates of", "the system");
  }
  return options->cert != NULL ? laju_tls_use_certificate(context, options->cert, options->key, why) : 0;
}

int laju_tls_client_new(laju_tls_client **out, const laju_tls_client_options *options, char why[LAJU_TEXT_SIZE]) {
  const char *name = options->server_name;
  laju_tls_client *client = calloc(1, sizeof *client);
  if (client == NULL) return LAJU_ERR_MEMORY;
  client->context = SSL_CTX_new(TLS_client_method());
  if (name != NULL) client->server_name = strdup(name);
  int error = client->context == NULL || (name != NULL && client->server_name == NULL)
                  ? LAJU_ERR_MEMORY
                  : use_files(client->context, options, why);
  if (error < 0) {
    laju_tls_client_free(client);
    return error;
  }
  SSL_CTX_set_min_proto_version(client->context, TLS1_2_VERSION);
  SSL_CTX_set_verify(client->context, options->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
  *out = client;
  return 0;
}

void laju_tls_client_free(laju_tls_client *client) {
  if (client == NULL) return;
  SSL_CTX_free(client->context);
  free(client->server_name);
  free(client);
}

static bool is_address(const char *host) {
  unsigned char bytes[sizeof(struct in6_addr)];
  return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

/* Whom the certificate must name; an address is not said in SNI. */
static bool set_host(SSL *ssl, const char *host) {
  if (is_address(host)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
  return SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1;
}

SSL *laju_tls_client_ssl(laju_tls_client *client, const char *host) {
  SSL *ssl = SSL_new(client->context);
  if (ssl == NULL || !set_host(ssl, client->server_name != NULL ? client->server_name : host)) {
    SSL_free(ssl);
    return NULL;
  }
  SSL_set_connect_state(ssl);
  return ssl;
}
