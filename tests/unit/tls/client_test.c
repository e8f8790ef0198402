#include "tls/client.h"

#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tls/files.h"
#include "tls/stream.h"

/* Certificates that sign themselves, made by the openssl program: one for laju.example and 10.0.0.1, and another. */
static char folder[] = "/tmp/laju-client-XXXXXX";
static char good[64], other[64];
static SSL_CTX *server_context;

static int make_pair(char *path, const char *name, const char *alternatives) {
  char command[512];
  snprintf(path, 64, "%s/%s.pem", folder, name);
  snprintf(command, sizeof command,
           "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%s -addext "
           "subjectAltName=%s -days 1 -keyout key -out crt 2>said && cat key crt >%s",
           folder, name, alternatives, path);
  return system(command) == 0 ? 0 : -1;
}

static int make(void **unused) {
  (void)unused;
  char why[LAJU_TEXT_SIZE];
  if (mkdtemp(folder) == NULL || make_pair(good, "good", "DNS:laju.example,IP:10.0.0.1") < 0) return -1;
  if (make_pair(other, "other", "DNS:laju.example") < 0) return -1;
  server_context = SSL_CTX_new(TLS_server_method());
  return laju_tls_use_certificate(server_context, good, NULL, why);
}

static int end(void **unused) {
  (void)unused;
  char command[64];
  SSL_CTX_free(server_context);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

/* A client's stream and a server's, with the wire between them in memory. */
typedef struct pair {
  laju_tls_client *context;
  laju_tls_stream *client, *server;
  laju_buffer wire;
} pair;

static void pair_open(pair *p, const laju_tls_client_options *options, const char *host) {
  char why[LAJU_TEXT_SIZE];
  *p = (pair){0};
  if (laju_tls_client_new(&p->context, options, why) < 0) fail_msg("%s", why);
  SSL *ssl = SSL_new(server_context);
  SSL_set_accept_state(ssl);
  p->server = laju_tls_stream_of(ssl);
  p->client = laju_tls_stream_of(laju_tls_client_ssl(p->context, host));
  assert_non_null(p->client);
}

static void pair_close(pair *p) {
  laju_tls_stream_free(p->client);
  laju_tls_stream_free(p->server);
  laju_tls_client_free(p->context);
  laju_buffer_deinit(&p->wire);
}

static void carry(pair *p, laju_tls_stream *from, laju_tls_stream *to) {
  laju_buffer_clear(&p->wire);
  laju_tls_stream_take(from, &p->wire);
  if (p->wire.len > 0) assert_true(laju_tls_stream_receive(to, p->wire.data, p->wire.len));
}

/* What the client has read last: 0, or that it is broken. */
static ssize_t greet(pair *p) {
  char to[64];
  ssize_t got = 0;
  for (int i = 0; i < 5 && got == 0; i++) {
    got = laju_tls_stream_read(p->client, to, sizeof to);
    carry(p, p->client, p->server);
    laju_tls_stream_read(p->server, to, sizeof to);
    carry(p, p->server, p->client);
  }
  return got;
}

static void assert_greets(const laju_tls_client_options *options, const char *host) {
  pair p;
  pair_open(&p, options, host);
  assert_int_equal(greet(&p), 0);
  assert_true(laju_tls_stream_is_greeted(p.client));
  assert_true(laju_tls_stream_is_greeted(p.server));
  pair_close(&p);
}

static void assert_breaks(const laju_tls_client_options *options, const char *host, const char *why) {
  pair p;
  pair_open(&p, options, host);
  assert_int_equal(greet(&p), LAJU_TLS_BROKEN);
  assert_string_equal(laju_tls_stream_why(p.client), why);
  assert_false(laju_tls_stream_is_greeted(p.server));
  pair_close(&p);
}

static void the_host_or_address_that_is_connected_to_must_be_named(void **unused) {
  (void)unused;
  laju_tls_client_options options = {.ca = good};
  assert_greets(&options, "laju.example");
  assert_greets(&options, "10.0.0.1");
  assert_breaks(&options, "www.laju.example", "hostname mismatch");
  assert_breaks(&options, "10.0.0.2", "IP address mismatch");
  options.server_name = "laju.example";
  assert_greets(&options, "10.0.0.2");
}

static void only_known_authorities_are_believed(void **unused) {
  (void)unused;
  assert_breaks(&(laju_tls_client_options){.ca = other}, "laju.example", "self-signed certificate");
  assert_breaks(&(laju_tls_client_options){0}, "laju.example", "self-signed certificate"); /* the system's */
}

static void who_is_insecure_believes_everybody(void **unused) {
  (void)unused;
  assert_greets(&(laju_tls_client_options){.insecure = true}, "www.laju.example");
}

/* Many records, in one write and in one piece of the wire. */
static void what_is_written_at_once_arrives_whole(void **unused) {
  (void)unused;
  enum { SIZE = 300000 };
  pair p;
  size_t len = 0;
  ssize_t got;
  char *bytes = malloc(SIZE), *read = malloc(SIZE + 1);
  for (int i = 0; i < SIZE; i++) bytes[i] = (char)(i * 7);
  pair_open(&p, &(laju_tls_client_options){.ca = good}, "laju.example");
  assert_int_equal(greet(&p), 0);
  assert_true(laju_tls_stream_write(p.client, bytes, SIZE));
  carry(&p, p.client, p.server);
  while ((got = laju_tls_stream_read(p.server, read + len, SIZE + 1 - len)) > 0) len += (size_t)got;
  assert_int_equal(got, 0);
  assert_int_equal(len, SIZE);
  assert_memory_equal(read, bytes, SIZE);
  pair_close(&p);
  free(bytes);
  free(read);
}

static void assert_refused(const laju_tls_client_options *options, const char *problem) {
  laju_tls_client *client = NULL;
  char why[LAJU_TEXT_SIZE] = "";
  assert_int_equal(laju_tls_client_new(&client, options, why), LAJU_ERR_SYSTEM);
  assert_null(client);
  assert_non_null(strstr(why, problem));
}

static void files_that_cannot_be_used_are_named(void **unused) {
  (void)unused;
  char key[64];
  snprintf(key, sizeof key, "%s/key", folder); /* the other's */
  assert_refused(&(laju_tls_client_options){.ca = "/nowhere/ca.pem"}, "authorities /nowhere/ca.pem: No such file");
  assert_refused(&(laju_tls_client_options){.cert = "/nowhere/a.pem"}, "certificate /nowhere/a.pem: No such file");
  assert_refused(&(laju_tls_client_options){.cert = good, .key = key}, "key: key values mismatch");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_host_or_address_that_is_connected_to_must_be_named),
      cmocka_unit_test(only_known_authorities_are_believed),
      cmocka_unit_test(who_is_insecure_believes_everybody),
      cmocka_unit_test(what_is_written_at_once_arrives_whole),
      cmocka_unit_test(files_that_cannot_be_used_are_named),
  };
  return cmocka_run_group_tests(tests, make, end);
}
