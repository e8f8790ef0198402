#include "tls/stream.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

#include "tls/files.h"

#define KEPT_MAX 16384 /* bytes that either side of a stream keeps while it is empty */

struct laju_tls_stream {
  SSL *ssl;
  BIO *in, *out; /* the wire; the SSL's own */
  const char *why;
  bool broken;
};

laju_tls_stream *laju_tls_stream_of(SSL *ssl) {
  laju_tls_stream *stream = ssl != NULL ? calloc(1, sizeof *stream) : NULL;
  BIO *in = stream != NULL ? BIO_new(BIO_s_mem()) : NULL, *out = in != NULL ? BIO_new(BIO_s_mem()) : NULL;
  if (out == NULL) {
    SSL_free(ssl);
    BIO_free(in);
    free(stream);
    return NULL;
  }
  *stream = (laju_tls_stream){.ssl = ssl, .in = in, .out = out};
  BIO_set_mem_eof_return(in, -1); /* empty is not the end */
  SSL_set_bio(ssl, in, out);
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
  stream->why = laju_tls_reason(stream->ssl);
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

const char *laju_tls_stream_why(const laju_tls_stream *stream) {
  return stream->why != NULL ? stream->why : "failed";
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
