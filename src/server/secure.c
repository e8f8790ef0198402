/* The bytes of a connection that speaks TLS, between the wire and the codec. */
#include "server/connection_own.h"

bool laju_connection_open_tls(laju_connection *connection) {
  if (connection->door->tls == NULL) return true;
  connection->tls = laju_tls_stream_new(connection->door->tls);
  return connection->tls != NULL;
}

void laju_connection_speak_tls(laju_connection *connection) {
  laju_buffer *cipher = &connection->all->cipher;
  if (connection->tls == NULL || connection->unsent != NULL || connection->late) return;
  if (uv_is_closing(&connection->io.handle)) return;
  laju_buffer_clear(cipher);
  laju_tls_stream_take(connection->tls, cipher);
  if (cipher->failed) {
    laju_connection_count_and_close(connection, &connection->all->counters.starved);
  } else if (cipher->len > 0) {
    laju_connection_send_raw(connection, cipher->data, cipher->len);
  }
}

void laju_connection_decrypt(laju_connection *connection, const char *bytes, size_t len) {
  laju_connections *all = connection->all;
  ssize_t got = 0;
  if (!laju_tls_stream_receive(connection->tls, bytes, len)) {
    laju_connection_count_and_close(connection, &all->counters.starved);
    return;
  }
  while (!connection->ending && (got = laju_tls_stream_read(connection->tls, all->plain, LAJU_READ_SIZE)) > 0) {
    laju_connection_feed(connection, all->plain, (size_t)got);
    if (uv_is_closing(&connection->io.handle)) return;
  }
  if (got == LAJU_TLS_ENDED && connection->late) laju_connections_send_late(all); /* replies come before the end */
  if (uv_is_closing(&connection->io.handle)) return;
  laju_connection_speak_tls(connection);
  if (got == LAJU_TLS_BROKEN) laju_connection_count_and_close(connection, &all->counters.broken);
  if (got == LAJU_TLS_ENDED) connection->peer_done = true;
}

bool laju_connection_encrypt(laju_connection *connection, const char *bytes, size_t len) {
  laju_buffer *cipher = &connection->all->cipher;
  laju_buffer_clear(cipher);
  bool done = laju_tls_stream_write(connection->tls, bytes, len);
  laju_tls_stream_take(connection->tls, cipher);
  return done && !cipher->failed;
}

void laju_connection_end_tls(laju_connection *connection) {
  if (connection->tls == NULL) return;
  laju_tls_stream_end(connection->tls);
  laju_connection_speak_tls(connection);
}
