#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <linux/sockios.h>

#include "server/connection_own.h"

static void on_written(uv_write_t *request, int status) {
  laju_connection *connection = request->handle->data;
  free(connection->unsent);
  connection->unsent = NULL;
  if (status < 0) {
    laju_connection_close(connection);
    return;
  }
  laju_connection_speak_tls(connection);
  laju_connection_settle(connection);
}

size_t laju_connection_left(const laju_connection *connection) {
  uv_os_fd_t fd;
  int in_kernel = 0;
  if (uv_fileno(&connection->io.handle, &fd) == 0 && ioctl(fd, SIOCOUTQ, &in_kernel) < 0) in_kernel = 0;
  return uv_stream_get_write_queue_size(&connection->io.stream) + (size_t)in_kernel;
}

static void keep_unsent(laju_connection *connection, const char *bytes, size_t len) {
  laju_unsent *rest = malloc(sizeof *rest + len);
  if (rest == NULL) {
    laju_connection_count_and_close(connection, &connection->all->counters.starved);
    return;
  }
  memcpy(rest->bytes, bytes, len);
  rest->len = len;
  uv_buf_t buffer = {.base = rest->bytes, .len = len};
  if (uv_write(&rest->request, &connection->io.stream, &buffer, 1, on_written) < 0) {
    free(rest);
    laju_connection_close(connection);
    return;
  }
  rest->left = laju_connection_left(connection);
  connection->unsent = rest;
}

void laju_connection_send_raw(laju_connection *connection, const char *bytes, size_t len) {
  uv_buf_t buffer = {.base = (char *)(uintptr_t)bytes, .len = len};
  int sent = uv_try_write(&connection->io.stream, &buffer, 1);
  if (sent == UV_EAGAIN) sent = 0;
  if (sent < 0) {
    laju_connection_close(connection);
  } else if ((size_t)sent < len) {
    keep_unsent(connection, bytes + sent, len - (size_t)sent);
  }
}

static void write_out(laju_connection *connection, const char *bytes, size_t len) {
  laju_connections *all = connection->all;
  if (connection->tls == NULL) {
    laju_connection_send_raw(connection, bytes, len);
  } else if (laju_connection_encrypt(connection, bytes, len)) {
    laju_connection_send_raw(connection, all->cipher.data, all->cipher.len);
  } else {
    laju_connection_count_and_close(connection, &all->counters.broken);
  }
}

void laju_connections_send_late(laju_connections *all) {
  laju_connection *connection;
  char *bytes;
  size_t len;
  while ((connection = laju_outbox_take(&all->outbox, &bytes, &len)) != NULL) {
    connection->late = false;
    write_out(connection, bytes, len);
    if (connection->unsent != NULL) laju_connection_settle(connection);
  }
}

void laju_connection_flush(laju_connection *connection) {
  laju_connections *all = connection->all;
  laju_buffer *out = &all->out;
  if (connection->late) laju_connections_send_late(all);
  if (out->failed) {
    laju_connection_count_and_close(connection, &all->counters.starved);
  } else if (out->len > 0 && connection->unsent == NULL && !uv_is_closing(&connection->io.handle)) {
    write_out(connection, out->data, out->len);
  }
  laju_buffer_clear(out);
}

void laju_connection_flush_late(laju_connection *connection) {
  laju_connections *all = connection->all;
  laju_buffer *out = &all->out;
  bool idles = !connection->more && !connection->ending && !connection->peer_done && connection->held == NULL;
  bool goes_on = all->turning && !all->draining && (idles || connection->parked != NULL);
  if (goes_on && out->len > 0 && !out->failed) {
    connection->late = laju_outbox_put(&all->outbox, connection, out->data, out->len);
    if (!connection->late) {
      laju_connections_send_late(all);
      connection->late = laju_outbox_put(&all->outbox, connection, out->data, out->len);
    }
  }
  if (connection->late) {
    laju_buffer_clear(out);
  } else {
    laju_connection_flush(connection);
  }
}
