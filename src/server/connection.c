#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/connection_own.h"

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer);

/* ---- coming and going ---------------------------------------------------------------------------------------------- */

static void on_gone(uv_handle_t *handle) {
  laju_connection *connection = handle->data;
  laju_connections *all = connection->all;
  laju_buffer_deinit(&connection->input);
  laju_tls_stream_free(connection->tls);
  free(connection->unsent);
  free(connection);
  all->count--;
  all->on_closed(all);
}

void laju_connection_close(laju_connection *connection) {
  if (uv_is_closing(&connection->io.handle)) return;
  laju_connections *all = connection->all;
  laju_connection_stop_waiting(connection);
  if (laju_connection_codec(connection)->leave != NULL) laju_connection_codec(connection)->leave(connection->codec);
  all->kept -= connection->kept;
  connection->kept = 0;
  if (connection->late) laju_outbox_drop(&all->outbox, connection);
  laju_wheel_drop(&all->wheel, &connection->deadline);
  if (connection->prev != NULL) {
    connection->prev->next = connection->next;
  } else {
    all->first = connection->next;
  }
  if (connection->next != NULL) connection->next->prev = connection->prev;
  uv_close(&connection->io.handle, on_gone);
}

void laju_connection_count_and_close(laju_connection *connection, _Atomic uint64_t *counter) {
  laju_count(counter);
  laju_connection_close(connection);
}

/* Counts what is kept for it now. False: it has grown, and all keep too much. */
static bool count_kept(laju_connection *connection) {
  laju_connections *all = connection->all;
  size_t before = connection->kept, now = connection->input.cap;
  if (connection->unsent != NULL) now += connection->unsent->len;
  if (connection->held != NULL) now += connection->held->len;
  if (connection->parked != NULL) now += laju_parked_size(connection->parked);
  connection->kept = now > LAJU_KEPT_FREE ? now - LAJU_KEPT_FREE : 0;
  all->kept += connection->kept - before;
  return connection->kept <= before || all->kept <= LAJU_KEPT_MAX;
}

/* ---- deadlines ----------------------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer) {
  laju_connections *all = timer->data;
  laju_connections_expire(all, uv_now(all->loop));
}

static void set_deadline_from(laju_connection *connection, uint64_t now_ms, uint64_t wait_ms) {
  laju_connections *all = connection->all;
  if (all->wheel.count == 0 && !uv_is_active((uv_handle_t *)&all->timer)) {
    laju_wheel_init(&all->wheel, now_ms); /* it stood still meanwhile */
    uv_timer_start(&all->timer, on_timer, LAJU_WHEEL_TICK_MS, LAJU_WHEEL_TICK_MS);
  }
  laju_wheel_set(&all->wheel, &connection->deadline, now_ms + wait_ms);
}

static void set_deadline(laju_connection *connection, uint64_t wait_ms) {
  set_deadline_from(connection, uv_now(connection->all->loop), wait_ms);
}

/* ---- what comes next ----------------------------------------------------------------------------------------------- */

static void stop_reading(laju_connection *connection) {
  if (!connection->reading) return;
  uv_read_stop(&connection->io.stream);
  connection->reading = false;
}

static void offer_buffer(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  (void)suggested;
  const laju_connection *connection = handle->data;
  buffer->base = connection->all->read_buffer;
  buffer->len = LAJU_READ_SIZE;
}

static void start_reading(laju_connection *connection) {
  if (connection->reading) return;
  if (uv_read_start(&connection->io.stream, offer_buffer, on_read) < 0) {
    laju_connection_close(connection);
    return;
  }
  connection->reading = true;
}

static void linger(laju_connection *connection) {
  uv_os_fd_t fd;
  laju_connection_end_tls(connection);
  if (uv_is_closing(&connection->io.handle) || connection->unsent != NULL) return;
  laju_buffer_deinit(&connection->input);
  count_kept(connection);
  if (connection->peer_done || uv_fileno(&connection->io.handle, &fd) < 0 || shutdown(fd, SHUT_WR) < 0) {
    laju_connection_close(connection);
    return;
  }
  connection->lingering = true;
  set_deadline(connection, LAJU_LINGER_MS);
  start_reading(connection);
}

/* The codec's last word to a peer that we part from. */
static void give_up(laju_connection *connection) {
  laju_connection_codec(connection)->give_up(connection->codec, &connection->all->out);
  connection->ending = true;
  laju_connection_flush(connection);
}

static bool is_idle(const laju_connection *connection) {
  return connection->unsent == NULL && !laju_connection_waits(connection) && connection->input.len == 0 &&
         !laju_connection_unfinished(connection);
}

static void await_request(laju_connection *connection) {
  laju_connections *all = connection->all;
  if (connection->input.len > laju_connection_codec(connection)->input_max) {
    laju_count(&all->counters.oversized);
    give_up(connection);
    laju_connection_settle(connection);
    return;
  }
  start_reading(connection);
  if (laju_connection_unfinished(connection)) {
    /* Its time runs from its first byte, however the others drip in. */
    if (!connection->timed) set_deadline(connection, LAJU_REQUEST_MS);
    connection->timed = true;
    return;
  }
  connection->timed = false; /* also where what had begun came to no request: blank lines, a greeting */
  if (connection->door->idle_ms > 0) {
    set_deadline(connection, connection->door->idle_ms);
  } else {
    laju_wheel_drop(&all->wheel, &connection->deadline);
  }
}

/* While an answer waits, the peer is only listened to for its going away; what it sends is kept, up to a read's size. */
static void await_answer(laju_connection *connection) {
  laju_wheel_drop(&connection->all->wheel, &connection->deadline);
  if (connection->peer_done || connection->input.len > LAJU_READ_SIZE) {
    stop_reading(connection);
  } else {
    start_reading(connection);
  }
}

/* What it has not sent must be taken, bit by bit. */
static void await_taking(laju_connection *connection, uint64_t now_ms) {
  set_deadline_from(connection, now_ms, connection->all->draining ? LAJU_DRAIN_STUCK_MS : LAJU_STUCK_MS);
}

/* After anything that happened: what this connection waits for now. */
void laju_connection_settle(laju_connection *connection) {
  if (connection->due && connection->unsent == NULL) laju_connection_release(connection);
  laju_connection_push(connection);
  while (connection->more && laju_connection_can_answer(connection)) laju_connection_answer_input(connection);
  if (uv_is_closing(&connection->io.handle) || connection->lingering) return;
  if (!count_kept(connection)) {
    laju_connection_count_and_close(connection, &connection->all->counters.starved);
  } else if (connection->unsent != NULL) {
    stop_reading(connection);
    await_taking(connection, uv_now(connection->all->loop));
  } else if (laju_connection_waits(connection)) {
    await_answer(connection);
  } else if (connection->ending || connection->peer_done || (connection->all->draining && is_idle(connection))) {
    linger(connection);
  } else {
    await_request(connection);
  }
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer) {
  laju_connection *connection = stream->data;
  if (got == 0) return;
  if (connection->late)
    laju_connections_send_late(connection->all); /* replies keep their order, and come before the end */
  if (uv_is_closing(&connection->io.handle)) return;
  if (got == UV_EOF) {
    connection->peer_done = true;
    connection->reading = false; /* libuv stops by itself */
    if (connection->lingering || connection->held != NULL) {
      laju_connection_close(connection);
    } else {
      laju_connection_settle(connection);
    }
  } else if (got < 0) {
    laju_connection_close(connection);
  } else if (connection->lingering) {
    connection->discarded += (size_t)got;
    if (connection->discarded > LAJU_LINGER_BYTES) laju_connection_close(connection);
  } else {
    if (connection->tls != NULL) {
      laju_connection_decrypt(connection, buffer->base, (size_t)got);
    } else {
      laju_connection_feed(connection, buffer->base, (size_t)got);
    }
    laju_connection_settle(connection);
  }
}

/* Some replies were taken since the last look: patience starts anew. */
static bool has_progressed(laju_connection *connection) {
  size_t left = laju_connection_left(connection);
  bool progressed = left < connection->unsent->left;
  connection->unsent->left = left;
  return progressed;
}

static void on_deadline(laju_connection *connection, uint64_t now_ms) {
  laju_counters *counters = &connection->all->counters;
  if (connection->lingering) {
    laju_connection_close(connection);
  } else if (connection->unsent != NULL) {
    if (has_progressed(connection)) {
      await_taking(connection, now_ms);
    } else {
      laju_connection_count_and_close(connection, &counters->stuck);
    }
  } else if (connection->tls != NULL && !laju_tls_stream_is_greeted(connection->tls)) {
    laju_connection_count_and_close(connection, &counters->slow); /* it would not understand a last word */
  } else if (laju_connection_unfinished(connection)) {
    laju_count(&counters->slow);
    give_up(connection);
    laju_connection_settle(connection);
  } else {
    laju_connection_count_and_close(connection, &counters->idle);
  }
}

void laju_connections_expire(laju_connections *all, uint64_t now_ms) {
  laju_deadline *due;
  while ((due = laju_wheel_due(&all->wheel, now_ms)) != NULL) {
    on_deadline((laju_connection *)((char *)due - offsetof(laju_connection, deadline)), now_ms);
  }
  if (all->wheel.count == 0) uv_timer_stop(&all->timer);
}

/* ---- all connections ----------------------------------------------------------------------------------------------- */

static void on_turn(uv_prepare_t *prepare) {
  laju_connections *all = prepare->data;
  all->now_us = -1;
  all->turning = true;
}

static void on_turned(uv_check_t *check) {
  laju_connections *all = check->data;
  all->turning = false;
  laju_connections_send_late(all);
}

int laju_connections_init(laju_connections *all, uv_loop_t *loop, laju_service *service, laju_way *way,
                          void (*on_closed)(laju_connections *connections)) {
  *all = (laju_connections){
      .loop = loop, .service = service, .way = way, .now_us = -1, .random = uv_hrtime() | 1, .on_closed = on_closed};
  all->batch = laju_batch_new();
  all->read_buffer = malloc(LAJU_READ_SIZE);
  all->plain = malloc(LAJU_READ_SIZE);
  if (all->batch == NULL || all->read_buffer == NULL || all->plain == NULL) {
    laju_connections_deinit(all);
    return UV_ENOMEM;
  }
  laju_wheel_init(&all->wheel, uv_now(loop));
  uv_timer_init(loop, &all->timer);
  uv_prepare_init(loop, &all->turn);
  uv_check_init(loop, &all->turned);
  all->timer.data = all->turn.data = all->turned.data = all;
  uv_prepare_start(&all->turn, on_turn);
  uv_check_start(&all->turned, on_turned);
  return 0;
}

void laju_connections_stop(laju_connections *all) {
  uv_close((uv_handle_t *)&all->timer, NULL);
  uv_close((uv_handle_t *)&all->turn, NULL);
  uv_close((uv_handle_t *)&all->turned, NULL);
}

void laju_connections_deinit(laju_connections *all) {
  laju_batch_free(all->batch);
  free(all->read_buffer);
  free(all->plain);
  laju_buffer_deinit(&all->cipher);
  laju_buffer_deinit(&all->out);
  laju_outbox_deinit(&all->outbox);
  laju_lot_deinit(&all->lot);
}

static int take_over(laju_connection *connection, int fd) {
  laju_connections *all = connection->all;
  int err;
  if (connection->door->is_unix) {
    uv_pipe_init(all->loop, &connection->io.pipe, 0);
    err = uv_pipe_open(&connection->io.pipe, fd);
  } else {
    uv_tcp_init(all->loop, &connection->io.tcp);
    err = uv_tcp_open(&connection->io.tcp, fd);
  }
  connection->io.handle.data = connection;
  return err;
}

void laju_connections_open(laju_connections *all, const laju_door *door, int fd) {
  laju_connection *connection = calloc(1, sizeof *connection + door->codec->connection_size);
  if (connection == NULL) {
    laju_count(&all->counters.starved);
    close(fd);
    all->on_closed(all);
    return;
  }
  connection->all = all;
  connection->door = door;
  connection->next = all->first;
  if (all->first != NULL) all->first->prev = connection;
  all->first = connection;
  all->count++;
  laju_peer peer = laju_door_peer(door, fd);
  door->codec->init(connection->codec, all->service, &peer);
  if (take_over(connection, fd) < 0) {
    close(fd);
    laju_connection_close(connection);
    return;
  }
  if (!laju_connection_open_tls(connection)) {
    laju_connection_count_and_close(connection, &all->counters.starved);
    return;
  }
  laju_connection_settle(connection);
}

void laju_connections_refuse(laju_connections *all, const laju_door *door, int fd) {
  void *codec = door->tls == NULL ? calloc(1, door->codec->connection_size) : NULL; /* a greeting would take its time */
  if (codec != NULL) {
    laju_peer peer = laju_door_peer(door, fd);
    door->codec->init(codec, all->service, &peer);
    door->codec->give_up(codec, &all->out);
    if (all->out.len > 0 && !all->out.failed) {
      ssize_t sent = send(fd, all->out.data, all->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
      (void)sent; /* a courtesy */
    }
    laju_buffer_clear(&all->out);
    free(codec);
  }
  close(fd);
}

void laju_connections_drain(laju_connections *all) {
  all->draining = true;
  laju_connections_send_late(all);
  laju_connection *next;
  for (laju_connection *connection = all->first; connection != NULL; connection = next) {
    next = connection->next;
    if (connection->unsent != NULL) {
      connection->unsent->left = laju_connection_left(connection);
      await_taking(connection, uv_now(all->loop));
    } else if (!connection->lingering && is_idle(connection)) {
      laju_connection_close(connection); /* no reply is on its way to these, so there is nothing to linger for */
    }
  }
}

void laju_connections_push(laju_connections *all) {
  laju_connection *next;
  for (laju_connection *connection = all->first; connection != NULL; connection = next) {
    next = connection->next;
    /* Who gets nothing has done nothing, and his time runs on. */
    if (laju_connection_push(connection)) laju_connection_settle(connection);
  }
  laju_connections_send_late(all);
}

void laju_connections_cut(laju_connections *all) {
  laju_connections_send_late(all);
  while (all->first != NULL) {
    if (all->first->lingering || is_idle(all->first)) {
      laju_connection_close(all->first);
    } else {
      laju_connection_count_and_close(all->first, &all->counters.cut);
    }
  }
}
