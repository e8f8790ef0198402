#include "load/client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"

static void on_event(uv_poll_t *poll, int status, int events);

int laju_load_client_init(laju_load_client *client, laju_load_clients *all, void *owner) {
  *client = (laju_load_client){.all = all, .owner = owner, .fd = -1};
  client->groups = calloc(all->pipeline, sizeof *client->groups);
  return client->groups != NULL ? 0 : UV_ENOMEM;
}

void laju_load_client_deinit(laju_load_client *client) {
  free(client->groups);
  laju_buffer_deinit(&client->unsent);
}

/* ---- coming and going ---------------------------------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
  laju_load_client *client = handle->data;
  client->state = LAJU_LOAD_CLOSED;
  laju_tls_stream_free(client->tls); /* not before: the connection may have been closed from within it */
  client->tls = NULL;
  client->all->on_gone(client);
}

void laju_load_client_close(laju_load_client *client) {
  if (client->state == LAJU_LOAD_CLOSED || client->state == LAJU_LOAD_CLOSING) return;
  client->state = LAJU_LOAD_CLOSING;
  uv_close((uv_handle_t *)&client->poll, on_closed);
  close(client->fd);
  client->fd = -1;
  laju_buffer_deinit(&client->unsent);
}

static void part(laju_load_client *client, int error) {
  client->all->on_lost(client, error);
  client->outstanding = client->group_count = 0;
  laju_load_client_close(client);
}

static void lose(laju_load_client *client, int error) {
  laju_load_clients *all = client->all;
  if (client->state == LAJU_LOAD_CLOSING) return;
  laju_count(&all->broken);
  laju_count_more(&all->lost, client->outstanding);
  part(client, error);
}

void laju_load_client_leave(laju_load_client *client) {
  if (client->outstanding > 0) {
    lose(client, 0);
  } else {
    part(client, 0);
  }
}

static void be_ready(laju_load_client *client) {
  laju_load_clients *all = client->all;
  client->state = LAJU_LOAD_READY;
  laju_load_reader_init(&client->reader, all->protocol, all->request->meaning, &all->tally);
  all->on_ready(client);
}

/* ---- out ----------------------------------------------------------------------------------------------------------- */

static void listen_for(laju_load_client *client, int events) {
  int error = uv_poll_start(&client->poll, events, on_event);
  if (error < 0) lose(client, -error);
}

/* What the socket took; below 0 where it is broken. */
static ssize_t send_bytes(laju_load_client *client, const char *bytes, size_t len) {
  ssize_t sent = send(client->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : sent;
}

static void put_on_wire(laju_load_client *client, const char *bytes, size_t len) {
  bool behind = client->unsent.len > 0;
  ssize_t sent = behind ? 0 : send_bytes(client, bytes, len);
  /* The reason is an alert that is there to be read; that it is the end is seen behind it. */
  if (sent < 0 && client->tls != NULL && (errno == EPIPE || errno == ECONNRESET)) return;
  if (sent >= 0 && (size_t)sent < len) {
    laju_buffer_add(&client->unsent, bytes + sent, len - (size_t)sent);
    if (!behind) listen_for(client, UV_READABLE | UV_WRITABLE);
  }
  if (sent < 0 || client->unsent.failed) lose(client, sent < 0 ? errno : ENOMEM);
}

/* What TLS has to say by now, in one write. */
static void put_out_cipher(laju_load_client *client) {
  laju_buffer *cipher = &client->all->cipher;
  laju_buffer_clear(cipher);
  laju_tls_stream_take(client->tls, cipher);
  if (cipher->failed) {
    lose(client, ENOMEM);
  } else if (cipher->len > 0) {
    put_on_wire(client, cipher->data, cipher->len);
  }
}

static void put_out(laju_load_client *client, const char *bytes, size_t len) {
  if (client->tls == NULL) {
    put_on_wire(client, bytes, len);
  } else if (laju_tls_stream_write(client->tls, bytes, len)) {
    put_out_cipher(client);
  } else {
    lose(client, EPROTO);
  }
}

static void put_out_unsent(laju_load_client *client) {
  laju_buffer *unsent = &client->unsent;
  ssize_t sent = send_bytes(client, unsent->data, unsent->len);
  if (sent < 0) {
    lose(client, errno);
    return;
  }
  unsent->len -= (size_t)sent;
  memmove(unsent->data, unsent->data + sent, unsent->len);
  if (unsent->len == 0) listen_for(client, UV_READABLE);
}

void laju_load_client_send(laju_load_client *client, unsigned count) {
  laju_load_clients *all = client->all;
  const laju_load_request *request = all->request;
  for (unsigned i = 0; i < count && request->place_count > 0; i++) {
    char *one = all->sending + i * request->bytes.len;
    for (size_t k = 0; k < request->place_count; k++) {
      laju_load_key_write(one + request->places[k], laju_load_keys_next(&all->keys), all->keys.digits);
    }
  }
  put_out(client, all->sending, count * request->bytes.len);
}

void laju_load_client_expect(laju_load_client *client, uint64_t due_ns, unsigned count) {
  unsigned at = (client->first_group + client->group_count) % client->all->pipeline;
  client->groups[at] = (laju_load_group){due_ns, count};
  client->group_count++;
  client->outstanding += count;
}

/* The first words on a connection that stands. */
static void begin_greeting(laju_load_client *client) {
  laju_load_clients *all = client->all;
  if (all->greeting->len == 0) {
    be_ready(client);
    return;
  }
  client->state = LAJU_LOAD_GREETING;
  client->greeted = (laju_load_tally){.allowed = 0};
  laju_load_reader_init(&client->reader, all->protocol, LAJU_LOAD_ANY, &client->greeted);
  put_out(client, all->greeting->data, all->greeting->len);
}

/* ---- in ------------------------------------------------------------------------------------------------------------ */

static void note_times(laju_load_client *client, unsigned count) {
  laju_load_clients *all = client->all;
  uint64_t now_ns = uv_hrtime();
  client->outstanding -= count;
  while (count > 0) {
    laju_load_group *group = &client->groups[client->first_group];
    unsigned part = count < group->count ? count : group->count;
    laju_histogram_add_times(&all->latency, (int64_t)(now_ns - group->due_ns) / 1000, part);
    group->count -= part;
    count -= part;
    if (group->count > 0) continue;
    client->first_group = (client->first_group + 1) % all->pipeline;
    client->group_count--;
  }
}

static void take_replies(laju_load_client *client, int64_t count) {
  laju_load_clients *all = client->all;
  if (count < 0) {
    all->on_unfit(client, all->protocol == LAJU_LOAD_HTTP ? "does not speak HTTP; is it the address for Redis clients?"
                                                          : "does not speak RESP; is it the address for HTTP?");
    return;
  }
  if (client->state == LAJU_LOAD_GREETING && count == 1) {
    if (atomic_load(&client->greeted.errors) > 0) {
      all->on_unfit(client, client->greeted.error);
    } else {
      be_ready(client);
    }
    return;
  }
  if (count > client->outstanding) {
    all->on_unfit(client, "sends more replies than it got requests");
    return;
  }
  if (count == 0) return;
  client->answered += (uint64_t)count;
  note_times(client, (unsigned)count);
  all->on_replies(client, (unsigned)count);
}

static void end_by_server(laju_load_client *client) {
  if (client->state != LAJU_LOAD_SHAKING) take_replies(client, (int64_t)laju_load_reader_finish(&client->reader));
  lose(client, 0);
}

/* A certificate that is not believed, or ours that is not, is so each time. */
static void end_tls(laju_load_client *client, ssize_t problem) {
  char text[LAJU_TEXT_SIZE];
  if (client->state == LAJU_LOAD_CLOSING) return;
  if (problem == LAJU_TLS_ENDED) {
    end_by_server(client);
  } else if (client->answered > 0) {
    lose(client, EPROTO);
  } else {
    snprintf(text, sizeof text, "cannot be spoken to by TLS: %.200s", laju_tls_stream_why(client->tls));
    client->all->on_unfit(client, text);
  }
}

/* Bytes that TLS has opened, as many records as are there at once; below 0 as of laju_tls_stream_read. */
static ssize_t open_records(laju_load_client *client, size_t *len) {
  ssize_t got;
  *len = 0;
  do {
    got = laju_tls_stream_read(client->tls, client->all->plain + *len, LAJU_LOAD_READ_SIZE - *len);
    if (got > 0) *len += (size_t)got;
  } while (got > 0 && *len < LAJU_LOAD_READ_SIZE);
  return got;
}

static void decrypt(laju_load_client *client, const char *bytes, size_t len) {
  ssize_t got = 1;
  if (!laju_tls_stream_receive(client->tls, bytes, len)) {
    lose(client, ENOMEM);
    return;
  }
  while (got > 0 && client->state != LAJU_LOAD_CLOSING) {
    size_t opened;
    got = open_records(client, &opened);
    put_out_cipher(client);
    if (client->state == LAJU_LOAD_SHAKING && laju_tls_stream_is_greeted(client->tls)) begin_greeting(client);
    if (client->state == LAJU_LOAD_CLOSING || opened == 0) continue;
    take_replies(client, laju_load_reader_feed(&client->reader, client->all->plain, opened));
  }
  if (got < 0) end_tls(client, got);
}

static void receive(laju_load_client *client) {
  char *bytes = client->all->read_buffer;
  ssize_t got = recv(client->fd, bytes, LAJU_LOAD_READ_SIZE, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (got < 0) {
    lose(client, errno);
  } else if (got == 0) {
    end_by_server(client);
  } else if (client->tls != NULL) {
    decrypt(client, bytes, (size_t)got);
  } else {
    take_replies(client, laju_load_reader_feed(&client->reader, bytes, (size_t)got));
  }
}

/* ---- connecting ---------------------------------------------------------------------------------------------------- */

static void shake(laju_load_client *client) {
  laju_load_clients *all = client->all;
  client->tls = laju_tls_stream_of(laju_tls_client_ssl(all->tls, all->host));
  if (client->tls == NULL) {
    lose(client, ENOMEM);
    return;
  }
  client->state = LAJU_LOAD_SHAKING;
  (void)laju_tls_stream_read(client->tls, all->plain, LAJU_LOAD_READ_SIZE); /* makes it begin */
  put_out_cipher(client);
}

static void greet(laju_load_client *client) {
  laju_load_clients *all = client->all;
  int error = 0;
  socklen_t len = sizeof error;
  if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error != 0) {
    lose(client, error);
    return;
  }
  listen_for(client, UV_READABLE);
  if (all->tls != NULL) {
    shake(client);
  } else {
    begin_greeting(client);
  }
}

static void on_event(uv_poll_t *poll, int status, int events) {
  laju_load_client *client = poll->data;
  if (client->state == LAJU_LOAD_CONNECTING) {
    greet(client);
    return;
  }
  if (status < 0) {
    receive(client); /* what was said before that */
    lose(client, -status);
    return;
  }
  if ((events & UV_WRITABLE) != 0 && client->unsent.len > 0) put_out_unsent(client);
  if ((events & UV_READABLE) != 0 && client->state != LAJU_LOAD_CLOSING) receive(client);
}

static int open_socket(const laju_load_clients *all) {
  int on = 1, family = all->address->sa_family;
  int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  if (family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(fd, all->address, all->address_len) == 0 || errno == EINPROGRESS) return fd;
  int error = -errno;
  close(fd);
  return error;
}

int laju_load_client_connect(laju_load_client *client) {
  int fd = open_socket(client->all);
  if (fd < 0) return fd;
  int error = uv_poll_init(client->all->loop, &client->poll, fd);
  if (error < 0) {
    close(fd);
    return error;
  }
  client->poll.data = client;
  client->fd = fd;
  client->state = LAJU_LOAD_CONNECTING;
  client->outstanding = client->first_group = client->group_count = 0;
  client->answered = 0;
  /* also where it is connected at once, so that nobody is called back from here */
  listen_for(client, UV_WRITABLE);
  return 0;
}
