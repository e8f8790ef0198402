#include "server/connection.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/held.h"

/* Replies that the peer has not taken yet. While there are some, nothing is read. */
typedef struct pending {
  uv_write_t request;
  size_t len;
  size_t left; /* bytes that were left when it was last looked at: less since then is progress */
  char bytes[];
} pending;

struct laju_connection {
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } io;
  laju_connections *all;
  const laju_door *door;
  laju_connection *next, *prev;
  laju_deadline deadline;
  laju_buffer input; /* bytes not yet consumed; freed while there are none */
  pending *pending;
  laju_held_answer *held; /* while there is one, nothing is parsed */
  size_t kept;            /* its share of all->kept */
  size_t discarded;
  bool late; /* some of its replies are in the outbox */
  bool reading;
  bool more;      /* `input` has requests that wait for the output to drain */
  bool timed;     /* the request that has begun has its deadline */
  bool ending;    /* no more requests: goes when its replies are out */
  bool lingering; /* shut for writing; what comes is thrown away */
  bool peer_done; /* the peer's FIN has come */
  _Alignas(max_align_t) unsigned char codec[];
};

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer);
static void settle(laju_connection *connection);

static const laju_codec *codec_of(const laju_connection *connection) {
  return connection->door->codec;
}

/* ---- coming and going ---------------------------------------------------------------------------------------------- */

static void on_gone(uv_handle_t *handle) {
  laju_connection *connection = handle->data;
  laju_connections *all = connection->all;
  laju_buffer_deinit(&connection->input);
  free(connection->pending);
  free(connection);
  all->count--;
  all->on_closed(all);
}

static void drop_held(laju_connection *connection) {
  if (connection->held == NULL) return;
  laju_held_answer_free(connection->held);
  connection->held = NULL;
  connection->all->held_count--;
}

static void close_now(laju_connection *connection) {
  if (uv_is_closing(&connection->io.handle)) return;
  laju_connections *all = connection->all;
  drop_held(connection);
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

static void count_and_close(laju_connection *connection, _Atomic uint64_t *counter) {
  laju_count(counter);
  close_now(connection);
}

/* Counts what is kept for it now. False: it has grown, and all keep too much. */
static bool count_kept(laju_connection *connection) {
  laju_connections *all = connection->all;
  size_t before = connection->kept, now = connection->input.cap;
  if (connection->pending != NULL) now += connection->pending->len;
  if (connection->held != NULL) now += connection->held->len;
  connection->kept = now > LAJU_KEPT_FREE ? now - LAJU_KEPT_FREE : 0;
  all->kept += connection->kept - before;
  return connection->kept <= before || all->kept <= LAJU_KEPT_MAX;
}

/* ---- deadlines ----------------------------------------------------------------------------------------------------- */

static void on_timer(uv_timer_t *timer) {
  laju_connections *all = timer->data;
  laju_connections_expire(all, uv_now(all->loop));
}

static void set_deadline(laju_connection *connection, uint64_t wait_ms) {
  laju_connections *all = connection->all;
  uint64_t now_ms = uv_now(all->loop);
  if (all->wheel.count == 0 && !uv_is_active((uv_handle_t *)&all->timer)) {
    laju_wheel_init(&all->wheel, now_ms); /* it stood still meanwhile */
    uv_timer_start(&all->timer, on_timer, LAJU_WHEEL_TICK_MS, LAJU_WHEEL_TICK_MS);
  }
  laju_wheel_set(&all->wheel, &connection->deadline, now_ms + wait_ms);
}

/* ---- output -------------------------------------------------------------------------------------------------------- */

static void on_written(uv_write_t *request, int status) {
  laju_connection *connection = request->handle->data;
  free(connection->pending);
  connection->pending = NULL;
  if (status < 0) {
    close_now(connection);
  } else {
    settle(connection);
  }
}

static void keep_pending(laju_connection *connection, const char *bytes, size_t len) {
  pending *rest = malloc(sizeof *rest + len);
  if (rest == NULL) {
    count_and_close(connection, &connection->all->counters.starved);
    return;
  }
  memcpy(rest->bytes, bytes, len);
  rest->len = rest->left = len;
  uv_buf_t buffer = {.base = rest->bytes, .len = len};
  if (uv_write(&rest->request, &connection->io.stream, &buffer, 1, on_written) < 0) {
    free(rest);
    close_now(connection);
    return;
  }
  connection->pending = rest;
}

static void write_out(laju_connection *connection, char *bytes, size_t len) {
  uv_buf_t buffer = {.base = bytes, .len = len};
  int sent = uv_try_write(&connection->io.stream, &buffer, 1);
  if (sent == UV_EAGAIN) sent = 0;
  if (sent < 0) {
    close_now(connection);
  } else if ((size_t)sent < len) {
    keep_pending(connection, bytes + sent, len - (size_t)sent);
  }
}

/* Sends all that is in the outbox. */
static void send_late(laju_connections *all) {
  laju_connection *connection;
  char *bytes;
  size_t len;
  while ((connection = laju_outbox_take(&all->outbox, &bytes, &len)) != NULL) {
    connection->late = false;
    write_out(connection, bytes, len);
    if (connection->pending != NULL) settle(connection);
  }
}

/* Writes what the worker's output buffer holds for this connection, after what it has in the outbox. Where that is stuck,
 * this is a last word that does not go out any more: nothing else is written for a connection that has something late. */
static void flush(laju_connection *connection) {
  laju_connections *all = connection->all;
  laju_buffer *out = &all->out;
  if (connection->late) send_late(all);
  if (out->failed) {
    count_and_close(connection, &all->counters.starved);
  } else if (out->len > 0 && connection->pending == NULL && !uv_is_closing(&connection->io.handle)) {
    write_out(connection, out->data, out->len);
  }
  laju_buffer_clear(out);
}

/* The same at the turn's end, for a connection that goes on afterwards. */
static void flush_late(laju_connection *connection) {
  laju_connections *all = connection->all;
  laju_buffer *out = &all->out;
  bool goes_on = all->turning && !all->draining && !connection->more && !connection->ending && connection->held == NULL;
  if (goes_on && out->len > 0 && !out->failed) {
    connection->late = laju_outbox_put(&all->outbox, connection, out->data, out->len);
    if (!connection->late) {
      send_late(all);
      connection->late = laju_outbox_put(&all->outbox, connection, out->data, out->len);
    }
  }
  if (connection->late) {
    laju_buffer_clear(out);
  } else {
    flush(connection);
  }
}

static bool can_answer(const laju_connection *connection) {
  return connection->pending == NULL && connection->held == NULL && !connection->ending &&
         !uv_is_closing(&connection->io.handle);
}

/* ---- answers that are held back ------------------------------------------------------------------------------------- */

static void on_hold_over(void *context) {
  laju_connection *connection = context;
  laju_buffer_add(&connection->all->out, connection->held->bytes, connection->held->len);
  drop_held(connection);
  connection->more = connection->input.len > 0;
  flush(connection);
  settle(connection);
}

/* Takes the output from `from` on back, until its time has come. Where that cannot be, it goes at once. */
static void hold(laju_connection *connection, size_t from, int64_t hold_us) {
  laju_connections *all = connection->all;
  int64_t hold_ms = (hold_us + 999) / 1000;
  if (hold_ms > LAJU_HOLD_MAX_MS) {
    laju_count(&all->counters.unheld);
    hold_ms = LAJU_HOLD_MAX_MS;
  }
  if (all->held_count < LAJU_HELD_MAX && !all->out.failed) {
    connection->held = laju_held_answer_new(all->loop, all->out.data + from, all->out.len - from, (uint64_t)hold_ms,
                                            on_hold_over, connection);
  }
  if (connection->held == NULL) {
    laju_count(&all->counters.unheld);
    return;
  }
  all->out.len = from;
  all->held_count++;
}

/* ---- requests ------------------------------------------------------------------------------------------------------ */

static int64_t now_us(laju_connections *all) {
  if (all->now_us < 0) all->now_us = laju_limiter_now_us(all->service->limiter);
  return all->now_us;
}

/* One batch: parse, decide, encode. Returns the bytes consumed. */
static size_t answer_batch(laju_connection *connection, char *bytes, size_t len) {
  laju_connections *all = connection->all;
  laju_batch *batch = all->batch;
  laju_batch_clear(batch);
  laju_parsed parsed = codec_of(connection)->parse(connection->codec, bytes, len, batch);
  connection->more = parsed.more;
  if (parsed.closed) connection->ending = true;
  if (batch->ask_count > 0) {
    connection->timed = false;
    laju_batch_decide(batch, all->way, now_us(all));
    size_t before = all->out.len;
    codec_of(connection)->encode(connection->codec, batch, &all->out);
    if (batch->hold_us > 0) hold(connection, before, batch->hold_us);
    if (batch->asks[batch->ask_count - 1].close) connection->ending = true;
  }
  return parsed.consumed;
}

/* Answers all that is complete in the bytes, as long as the peer takes the replies. Returns the bytes consumed. */
static size_t answer(laju_connection *connection, char *bytes, size_t len) {
  size_t used = 0;
  do {
    used += answer_batch(connection, bytes + used, len - used);
    if (connection->all->out.len >= LAJU_OUTPUT_FLUSH) flush(connection);
  } while (connection->more && can_answer(connection));
  flush_late(connection);
  return used;
}

/* Keeps the bytes of a request that is not complete. */
static void keep_input(laju_connection *connection, const char *bytes, size_t len) {
  laju_buffer_add(&connection->input, bytes, len);
  if (connection->input.failed) count_and_close(connection, &connection->all->counters.starved);
}

static void answer_input(laju_connection *connection) {
  laju_buffer *input = &connection->input;
  char none[1]; /* a codec may have more to say though all bytes are consumed */
  size_t used = answer(connection, input->data != NULL ? input->data : none, input->len);
  input->len -= used;
  if (input->len == 0) {
    laju_buffer_deinit(input);
  } else if (used > 0) {
    memmove(input->data, input->data + used, input->len);
  }
}

static void feed(laju_connection *connection, char *bytes, size_t len) {
  if (connection->input.len > 0 || connection->held != NULL || connection->pending != NULL) {
    keep_input(connection, bytes, len);
    if (connection->pending != NULL) connection->more = true;
    if (can_answer(connection)) answer_input(connection);
    return;
  }
  size_t used = answer(connection, bytes, len);
  if (used < len && !uv_is_closing(&connection->io.handle)) keep_input(connection, bytes + used, len - used);
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
    close_now(connection);
    return;
  }
  connection->reading = true;
}

static void linger(laju_connection *connection) {
  uv_os_fd_t fd;
  laju_buffer_deinit(&connection->input);
  count_kept(connection);
  if (connection->peer_done || uv_fileno(&connection->io.handle, &fd) < 0 || shutdown(fd, SHUT_WR) < 0) {
    close_now(connection);
    return;
  }
  connection->lingering = true;
  set_deadline(connection, LAJU_LINGER_MS);
  start_reading(connection);
}

/* The codec's last word to a peer that we part from. */
static void give_up(laju_connection *connection) {
  codec_of(connection)->give_up(connection->codec, &connection->all->out);
  connection->ending = true;
  flush(connection);
}

static bool is_idle(const laju_connection *connection) {
  return connection->pending == NULL && connection->held == NULL && connection->input.len == 0 &&
         !codec_of(connection)->unfinished(connection->codec);
}

static void await_request(laju_connection *connection) {
  laju_connections *all = connection->all;
  if (connection->input.len > codec_of(connection)->input_max) {
    laju_count(&all->counters.oversized);
    give_up(connection);
    settle(connection);
    return;
  }
  start_reading(connection);
  if (codec_of(connection)->unfinished(connection->codec)) {
    /* Its time runs from its first byte, however the others drip in. */
    if (!connection->timed) set_deadline(connection, LAJU_REQUEST_MS);
    connection->timed = true;
  } else if (connection->door->idle_ms > 0) {
    set_deadline(connection, connection->door->idle_ms);
  } else {
    laju_wheel_drop(&all->wheel, &connection->deadline);
  }
}

/* While an answer is held, the peer is only listened to for its going away; what it sends is kept, up to a read's size. */
static void await_hold(laju_connection *connection) {
  laju_wheel_drop(&connection->all->wheel, &connection->deadline);
  if (connection->input.len > LAJU_READ_SIZE) {
    stop_reading(connection);
  } else {
    start_reading(connection);
  }
}

/* After anything that happened: what this connection waits for now. */
static void settle(laju_connection *connection) {
  while (connection->more && can_answer(connection)) answer_input(connection);
  if (uv_is_closing(&connection->io.handle) || connection->lingering) return;
  if (!count_kept(connection)) {
    count_and_close(connection, &connection->all->counters.starved);
  } else if (connection->pending != NULL) {
    stop_reading(connection);
    set_deadline(connection, LAJU_STUCK_MS);
  } else if (connection->held != NULL) {
    await_hold(connection);
  } else if (connection->ending || connection->peer_done || (connection->all->draining && is_idle(connection))) {
    linger(connection);
  } else {
    await_request(connection);
  }
}

static void on_read(uv_stream_t *stream, ssize_t got, const uv_buf_t *buffer) {
  laju_connection *connection = stream->data;
  if (got == 0) return;
  if (connection->late) send_late(connection->all); /* replies keep their order, and come before the end */
  if (uv_is_closing(&connection->io.handle)) return;
  if (got == UV_EOF) {
    connection->peer_done = true;
    connection->reading = false; /* libuv stops by itself */
    if (connection->lingering || connection->held != NULL) {
      close_now(connection);
    } else {
      settle(connection);
    }
  } else if (got < 0) {
    close_now(connection);
  } else if (connection->lingering) {
    connection->discarded += (size_t)got;
    if (connection->discarded > LAJU_LINGER_BYTES) close_now(connection);
  } else {
    feed(connection, buffer->base, (size_t)got);
    settle(connection);
  }
}

/* Some replies were taken since the last look: patience starts anew. */
static bool has_progressed(laju_connection *connection) {
  size_t left = uv_stream_get_write_queue_size(&connection->io.stream);
  bool progressed = left < connection->pending->left;
  connection->pending->left = left;
  return progressed;
}

static void on_deadline(laju_connection *connection) {
  laju_counters *counters = &connection->all->counters;
  if (connection->lingering) {
    close_now(connection);
  } else if (connection->pending != NULL) {
    if (has_progressed(connection)) {
      set_deadline(connection, LAJU_STUCK_MS);
    } else {
      count_and_close(connection, &counters->stuck);
    }
  } else if (codec_of(connection)->unfinished(connection->codec)) {
    laju_count(&counters->slow);
    give_up(connection);
    settle(connection);
  } else {
    count_and_close(connection, &counters->idle);
  }
}

void laju_connections_expire(laju_connections *all, uint64_t now_ms) {
  laju_deadline *due;
  while ((due = laju_wheel_due(&all->wheel, now_ms)) != NULL) {
    on_deadline((laju_connection *)((char *)due - offsetof(laju_connection, deadline)));
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
  send_late(all);
}

int laju_connections_init(laju_connections *all, uv_loop_t *loop, laju_service *service, laju_way *way,
                          void (*on_closed)(laju_connections *connections)) {
  *all = (laju_connections){.loop = loop, .service = service, .way = way, .now_us = -1, .on_closed = on_closed};
  all->batch = laju_batch_new();
  all->read_buffer = malloc(LAJU_READ_SIZE);
  if (all->batch == NULL || all->read_buffer == NULL) {
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
  laju_buffer_deinit(&all->out);
  laju_outbox_deinit(&all->outbox);
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
    close_now(connection);
    return;
  }
  settle(connection);
}

void laju_connections_refuse(laju_connections *all, const laju_door *door, int fd) {
  void *codec = calloc(1, door->codec->connection_size);
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
  send_late(all);
  laju_connection *next;
  for (laju_connection *connection = all->first; connection != NULL; connection = next) {
    next = connection->next;
    /* No reply is on its way to these, so there is nothing to linger for. */
    if (!connection->lingering && is_idle(connection)) close_now(connection);
  }
}

void laju_connections_cut(laju_connections *all) {
  send_late(all);
  while (all->first != NULL) {
    if (all->first->lingering || is_idle(all->first)) {
      close_now(all->first);
    } else {
      count_and_close(all->first, &all->counters.cut);
    }
  }
}
