#include "server/tls.h"

#include <openssl/ssl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Certificates of one hour, made by the openssl program: `good` and `other` sign themselves. */
static char folder[] = "/tmp/laju-tls-XXXXXX";
static char good[64], other[64], none[64];
static char why[LAJU_TEXT_SIZE];

static int make_pair(char *path, const char *name) {
  char command[512];
  snprintf(path, 64, "%s/%s.pem", folder, name);
  snprintf(command, sizeof command,
           "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%s -days 1 "
           "-keyout %s/key -out %s/crt 2>%s/said && cat %s/key %s/crt >%s",
           name, folder, folder, folder, folder, folder, path);
  return system(command) == 0 ? 0 : -1;
}

static int make(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(none, sizeof none, "%s/none.pem", folder);
  return make_pair(good, "good") < 0 || make_pair(other, "other") < 0 ? -1 : 0;
}

static int end(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

/* A client of OpenSSL's, and the stream that answers it, with the wire between them in memory. */
typedef struct pair {
  laju_tls *tls;
  laju_tls_stream *stream;
  SSL_CTX *context;
  SSL *client;
  laju_buffer wire;
} pair;

static void pair_open(pair *p, laju_tls *tls) {
  *p = (pair){.tls = tls, .stream = laju_tls_stream_new(tls), .context = SSL_CTX_new(TLS_client_method())};
  p->client = SSL_new(p->context);
  SSL_set_bio(p->client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  BIO_set_mem_eof_return(SSL_get_rbio(p->client), -1);
  SSL_set_connect_state(p->client);
}

static void pair_close(pair *p) {
  laju_tls_stream_free(p->stream);
  SSL_free(p->client);
  SSL_CTX_free(p->context);
  laju_buffer_deinit(&p->wire);
}

/* Carries what either has to say to the other, in pieces of `step` bytes to us. Returns what the stream read last. */
static ssize_t carry(pair *p, char *to, size_t size, size_t step) {
  char *bytes;
  ssize_t got = 0;
  long len = BIO_get_mem_data(SSL_get_wbio(p->client), &bytes);
  for (long at = 0; at < len && got >= 0; at += (long)step) {
    size_t piece = len - at < (long)step ? (size_t)(len - at) : step;
    assert_true(laju_tls_stream_receive(p->stream, bytes + at, piece));
    ssize_t more = laju_tls_stream_read(p->stream, to, size);
    if (more != 0) got = more;
  }
  (void)BIO_reset(SSL_get_wbio(p->client));
  laju_buffer_clear(&p->wire);
  laju_tls_stream_take(p->stream, &p->wire);
  if (p->wire.len > 0) BIO_write(SSL_get_rbio(p->client), p->wire.data, (int)p->wire.len);
  return got;
}

static void greet(pair *p, size_t step) {
  char to[64];
  for (int i = 0; i < 10 && !(SSL_is_init_finished(p->client) && laju_tls_stream_is_greeted(p->stream)); i++) {
    SSL_do_handshake(p->client);
    assert_int_equal(carry(p, to, sizeof to, step), 0);
  }
  assert_true(laju_tls_stream_is_greeted(p->stream));
}

static laju_tls *tls_of(const char *cert, const char *client_ca) {
  laju_tls *tls;
  laju_tls_files files = {.cert = cert, .client_ca = client_ca};
  int error = laju_tls_new(&tls, &files, true, why);
  if (error < 0) fail_msg("%s", why);
  return tls;
}

static void bytes_go_both_ways_however_they_are_cut(void **state) {
  (void)state;
  laju_tls *tls = tls_of(good, NULL);
  for (size_t step = 1; step < 100000; step = step * 7 + 1) {
    pair p;
    char said[64] = "", heard[64] = "";
    pair_open(&p, tls);
    greet(&p, step);
    assert_int_equal(SSL_write(p.client, "PING", 4), 4);
    assert_int_equal(carry(&p, said, sizeof said, step), 4);
    assert_memory_equal(said, "PING", 4);
    assert_true(laju_tls_stream_write(p.stream, "PONG", 4));
    carry(&p, said, sizeof said, step);
    assert_int_equal(SSL_read(p.client, heard, sizeof heard), 4);
    assert_memory_equal(heard, "PONG", 4);
    SSL_shutdown(p.client);
    assert_int_equal(carry(&p, said, sizeof said, step), LAJU_TLS_ENDED);
    pair_close(&p);
  }
  laju_tls_free(tls);
}

/* Always 0 with a sanitizer's allocator. */
static size_t allocated(void) {
  struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

static void a_stream_that_much_went_through_keeps_little(void **state) {
  (void)state;
  static char much[300000], heard[sizeof much];
  laju_tls *tls = tls_of(good, NULL);
  pair p;
  pair_open(&p, tls);
  greet(&p, sizeof much);
  assert_true(laju_tls_stream_write(p.stream, much, sizeof much));
  assert_int_equal(carry(&p, heard, sizeof heard, sizeof much), 0);
  for (int got = 0; got < (int)sizeof much;) {
    int more = SSL_read(p.client, heard, sizeof heard);
    assert_true(more > 0);
    got += more;
  }
  assert_int_equal(SSL_write(p.client, much, sizeof much), sizeof much);
  for (ssize_t got = carry(&p, heard, sizeof heard, 2 * sizeof much), more = got; got < (ssize_t)sizeof much;
       got += more) {
    more = laju_tls_stream_read(p.stream, heard, sizeof heard);
    assert_true(more > 0);
  }
  assert_int_equal(laju_tls_stream_read(p.stream, heard, sizeof heard), 0);
  size_t before = allocated();
  laju_tls_stream_free(p.stream);
  assert_in_range(before - allocated(), 0, 65536);
  p.stream = NULL;
  pair_close(&p);
  laju_tls_free(tls);
}

static void what_is_no_tls_breaks_the_stream(void **state) {
  (void)state;
  laju_tls *tls = tls_of(good, NULL);
  laju_tls_stream *stream = laju_tls_stream_new(tls);
  static const char plain[] = "GET / HTTP/1.1\r\n\r\n";
  char to[64];
  assert_true(laju_tls_stream_receive(stream, plain, sizeof plain - 1));
  assert_int_equal(laju_tls_stream_read(stream, to, sizeof to), LAJU_TLS_BROKEN);
  assert_int_equal(laju_tls_stream_read(stream, to, sizeof to), LAJU_TLS_BROKEN);
  assert_false(laju_tls_stream_write(stream, "x", 1));
  laju_tls_stream_end(stream);
  laju_tls_stream_free(stream);
  laju_tls_free(tls);
}

static void a_client_without_the_certificate_that_is_asked_for_is_refused(void **state) {
  (void)state;
  laju_tls *tls = tls_of(good, good);
  for (int with = 0; with < 3; with++) {
    pair p;
    char to[64];
    pair_open(&p, tls);
    const char *cert = with == 0 ? NULL : with == 1 ? other : good;
    if (cert != NULL) {
      SSL_use_certificate_file(p.client, cert, SSL_FILETYPE_PEM);
      SSL_use_PrivateKey_file(p.client, cert, SSL_FILETYPE_PEM);
    }
    ssize_t got = 0;
    for (int i = 0; i < 4 && got == 0; i++) {
      SSL_do_handshake(p.client);
      got = carry(&p, to, sizeof to, 4096);
    }
    assert_int_equal(got, with == 2 ? 0 : LAJU_TLS_BROKEN);
    assert_int_equal(laju_tls_stream_is_greeted(p.stream), with == 2);
    pair_close(&p);
  }
  laju_tls_free(tls);
}

static void certificate_name(const pair *p, char name[64]) {
  X509 *certificate = SSL_get1_peer_certificate(p->client);
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, 64);
  X509_free(certificate);
}

static void a_replaced_certificate_is_for_streams_from_then_on(void **state) {
  (void)state;
  laju_tls *tls = tls_of(good, NULL);
  pair before, after;
  char name[64];
  pair_open(&before, tls);
  laju_tls_files files = {.cert = none};
  assert_int_equal(laju_tls_replace(tls, &files, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, none));
  files.cert = other;
  assert_int_equal(laju_tls_replace(tls, &files, why), 0);
  pair_open(&after, tls);
  greet(&before, 4096);
  greet(&after, 4096);
  certificate_name(&before, name);
  assert_string_equal(name, "good");
  certificate_name(&after, name);
  assert_string_equal(name, "other");
  pair_close(&before);
  pair_close(&after);
  laju_tls_free(tls);
}

static void a_key_of_another_certificate_is_told(void **state) {
  (void)state;
  laju_tls *tls;
  laju_tls_files files = {.cert = good, .key = other};
  assert_int_equal(laju_tls_new(&tls, &files, false, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_go_both_ways_however_they_are_cut),
      cmocka_unit_test(a_stream_that_much_went_through_keeps_little),
      cmocka_unit_test(what_is_no_tls_breaks_the_stream),
      cmocka_unit_test(a_client_without_the_certificate_that_is_asked_for_is_refused),
      cmocka_unit_test(a_replaced_certificate_is_for_streams_from_then_on),
      cmocka_unit_test(a_key_of_another_certificate_is_told),
  };
  return cmocka_run_group_tests(tests, make, end);
}
