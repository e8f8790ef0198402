#include "redis/link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/count.h"
#include "redis/dial.h"
#include "redis/greeting.h"
#include "redis/pipeline.h"
#include "redis/replies.h"
#include "redis/store.h"
#include "tls/session.h"

#define RECORD_SIZE (16 << 10) /* bytes that TLS takes at once */
#define FEED_SIZE \
  (8 << 10) /* hiredis moves what is left of its buffer behind each KiB of replies: so it is kept small */

#define CLOSED_BY_SERVER "the server has closed the connection"

typedef enum state {
  WAITING, /* for the next try */
  DIALLING,
  SHAKING, /* TLS */
  GREETING,
  CONNECTED,
  CLOSING,
} state;

/* The socket of one connection. Its handle closes a moment after the connection, when the next one may be there. */
typedef struct wire {
  uv_poll_t poll;
  laju_link *link;
  int fd;
  int events; /* polled for */
} wire;

struct laju_link {
  laju_link_shared *shared;
  laju_link_options options;
  const laju_link_events *events;
  void *owner;
  state state;
  uv_timer_t timer;  /* WAITING: the next try. CONNECTED: silence. Otherwise: connect_timeout */
  uint64_t heard_ms; /* when bytes came last, or the first reply was due */
  uint64_t connect_by_ms;
  laju_dial *dial;
  wire *wire;
  laju_tls_session *tls;
  laju_replies replies;
  laju_greeting greeting;
  unsigned tries; /* in a row */

  laju_pipeline pipeline;
  bool stuck;                     /* the socket takes no more for now */
  bool broken;                    /* nor ever: it is lost in a moment */
  char error[LAJU_LINK_WHY_SIZE]; /* the first among the replies to the first command, so far; "": none */
  size_t retry;                   /* TLS: bytes that it has taken over and not written */

  unsigned open; /* handles, dials */
  void (*closed)(void *context);
  void *closed_context;
  char why[LAJU_LINK_WHY_SIZE];
};

static void on_wire(uv_poll_t *poll, int status, int events);

/* ---- handles ---- */

static void close_one(laju_link *link) {
  if (--link->open > 0) return;
  laju_pipeline_deinit(&link->pipeline);
  laju_replies_deinit(&link->replies);
  if (link->closed != NULL) link->closed(link->closed_context);
  free(link);
}

static void on_timer_closed(uv_handle_t *handle) {
  close_one(handle->data);
}

static void on_dial_gone(void *context) {
  close_one(context);
}

static void on_wire_closed(uv_handle_t *handle) {
  wire *w = handle->data;
  close_one(w->link);
  free(w);
}

static void poll_for(laju_link *link, int events) {
  if (link->wire->events == events) return;
  link->wire->events = events;
  uv_poll_start(&link->wire->poll, events, on_wire);
}

/* ---- the end of a connection ---- */

static void hang_up(laju_link *link) {
  if (link->dial != NULL) laju_dial_cancel(link->dial);
  link->dial = NULL;
  laju_tls_session_free(link->tls);
  link->tls = NULL;
  if (link->wire == NULL) return;
  uv_close((uv_handle_t *)&link->wire->poll, on_wire_closed);
  close(link->wire->fd);
  link->wire = NULL;
}

static void on_timer(uv_timer_t *timer);

static void start_timer(laju_link *link, uint64_t ms) {
  uv_timer_start(&link->timer, on_timer, ms, 0);
}

static uint64_t random_below(laju_link_shared *shared, uint64_t bound) {
  uint64_t x = shared->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  shared->random = x;
  return x % bound;
}

static uint64_t backoff_ms(laju_link *link) {
  uint64_t most = (uint64_t)LAJU_BACKOFF_MIN_MS << (link->tries < 5 ? link->tries : 5);
  if (most > LAJU_BACKOFF_MAX_MS) most = LAJU_BACKOFF_MAX_MS;
  return LAJU_BACKOFF_MIN_MS + random_below(link->shared, most - LAJU_BACKOFF_MIN_MS + 1);
}

/* Whatever there was, connected or not, is over; all under way is told so. */
static void cut(laju_link *link, state next) {
  link->state = next;
  hang_up(link);
  link->stuck = link->broken = false;
  link->retry = 0;
  link->error[0] = '\0';
  laju_pipeline_cut(&link->pipeline);
}

static void lose(laju_link *link, const char *why) {
  bool greeted = link->state == CONNECTED;
  snprintf(link->why, sizeof link->why, "%s", why);
  link->tries++;
  if (!greeted) laju_count(&link->shared->counters->connect_failures);
  start_timer(link, backoff_ms(link));
  cut(link, WAITING);
  if (link->state != CLOSING) link->events->on_lost(link->owner, link, greeted);
}

static void lose_for(laju_link *link, const char *what, int error) {
  char why[LAJU_LINK_WHY_SIZE];
  snprintf(why, sizeof why, "%s: %s", what, strerror(error));
  lose(link, why);
}

static const char *why_tls(const laju_link *link, ssize_t problem) {
  return problem == LAJU_TLS_CLOSED ? CLOSED_BY_SERVER : laju_tls_session_why(link->tls);
}

/* ---- sending ---- */

/* The socket is broken. What it still has to be read comes first, and no callback from within a send. */
static void break_later(laju_link *link, const char *why) {
  link->broken = true;
  snprintf(link->why, sizeof link->why, "%s", why);
  start_timer(link, 0);
}

/* Bytes written; 0: it takes none now. */
static size_t write_plain(laju_link *link, const char *bytes, size_t len) {
  ssize_t done = send(link->wire->fd, bytes, len, MSG_NOSIGNAL);
  if (done >= 0) return (size_t)done;
  if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) break_later(link, strerror(errno));
  return 0;
}

static size_t write_tls(laju_link *link, const char *bytes, size_t len) {
  if (len > RECORD_SIZE) len = RECORD_SIZE;
  if (link->retry > 0) len = link->retry; /* as it was begun */
  ssize_t done = laju_tls_session_write(link->tls, bytes, len);
  link->retry = done > 0 ? 0 : len;
  if (done > 0) return (size_t)done;
  laju_pipeline_commit(&link->pipeline, len);
  if (done != LAJU_TLS_WANTS_READ && done != LAJU_TLS_WANTS_WRITE) break_later(link, why_tls(link, done));
  return 0;
}

static void send_out(laju_link *link) {
  laju_pipeline *p = &link->pipeline;
  while (p->sent < p->out.len) {
    const char *bytes = p->out.data + p->sent;
    size_t len = p->out.len - p->sent;
    size_t done = link->tls != NULL ? write_tls(link, bytes, len) : write_plain(link, bytes, len);
    if (done == 0) {
      link->stuck = true;
      poll_for(link, link->broken ? UV_READABLE : UV_READABLE | UV_WRITABLE);
      return;
    }
    laju_count_more(&link->shared->counters->bytes_out, done);
    laju_pipeline_sent(p, done);
  }
  link->stuck = false;
  poll_for(link, UV_READABLE);
}

static void go_on_sending(laju_link *link) {
  if (link->state == CONNECTED) laju_pipeline_drop_late(&link->pipeline, (int64_t)(uv_hrtime() / 1000));
  if (link->wire == NULL) return; /* a command that was dropped closed it */
  send_out(link);
  if (link->stuck) return;
  if (link->state == CONNECTED) link->events->on_ready(link->owner, link);
}

void laju_link_flush(laju_link *link) {
  if (link->state == CONNECTED && !link->stuck) send_out(link);
}

laju_buffer *laju_link_out(laju_link *link) {
  return &link->pipeline.out;
}

static uint64_t silence_ms(const laju_link *link) {
  uint64_t timeout_ms = (uint64_t)(link->shared->timeout_us + 999) / 1000;
  return timeout_ms > LAJU_LINK_SILENCE_MS ? timeout_ms : LAJU_LINK_SILENCE_MS;
}

/* From now on a reply is due. */
static void listen_for_reply(laju_link *link) {
  link->heard_ms = uv_now(link->shared->loop);
  if (!uv_is_active((uv_handle_t *)&link->timer)) start_timer(link, silence_ms(link));
}

bool laju_link_add(laju_link *link, laju_link_command *command) {
  if (link->state != CONNECTED) {
    laju_pipeline_forget(&link->pipeline);
    return false;
  }
  bool is_first = link->pipeline.first == NULL;
  if (!laju_pipeline_add(&link->pipeline, command)) return false;
  if (is_first && command != NULL) listen_for_reply(link);
  return true;
}

/* ---- receiving ---- */

static void become_connected(laju_link *link) {
  link->state = CONNECTED;
  link->tries = 0;
  uv_timer_stop(&link->timer);
  laju_count(&link->shared->counters->connects);
  link->events->on_ready(link->owner, link);
}

static void take_greeting(laju_link *link, const redisReply *reply) {
  char why[LAJU_LINK_WHY_SIZE];
  switch (laju_greeting_take(&link->greeting, reply, why)) {
    case LAJU_GREETING_GOES_ON: break;
    case LAJU_GREETING_DONE: become_connected(link); break;
    case LAJU_GREETING_REFUSED: lose(link, why); break;
  }
}

/* Of several replies the first error is the cause of what follows: EXEC tells only that there was one. */
static void take_answer(laju_link *link, const redisReply *reply) {
  laju_link_command *command = laju_pipeline_take(&link->pipeline);
  if (link->error[0] != '\0' && command != NULL) {
    char text[LAJU_LINK_WHY_SIZE];
    memcpy(text, link->error, sizeof text);
    link->error[0] = '\0';
    command->done(command, LAJU_LINK_REPLIED,
                  &(redisReply){.type = REDIS_REPLY_ERROR, .str = text, .len = strlen(text)});
  } else if (command != NULL) {
    command->done(command, LAJU_LINK_REPLIED, reply);
  } else if (reply->type == REDIS_REPLY_ERROR && link->error[0] == '\0') {
    snprintf(link->error, sizeof link->error, "%s", reply->str);
  }
}

static void take_reply(laju_link *link, const redisReply *reply) {
  if (link->state == GREETING) {
    take_greeting(link, reply);
  } else if (link->pipeline.first != NULL) {
    take_answer(link, reply);
  } else if (link->events->on_push != NULL) {
    link->events->on_push(link->owner, link, reply);
  } else {
    lose(link, reply->type == REDIS_REPLY_ERROR ? reply->str : "a reply that nothing was asked for");
  }
}

/* The callbacks may have cut this connection, and even made the next: `wire` is the one that the bytes came from. */
static void take_bytes(laju_link *link, const wire *from, const char *bytes, size_t len) {
  for (size_t taken = 0, part; taken < len; taken += part) {
    part = len - taken < FEED_SIZE ? len - taken : FEED_SIZE;
    const redisReply *reply;
    int got = laju_replies_feed(&link->replies, bytes + taken, part) ? 1 : -1;
    while (got > 0) {
      got = laju_replies_next(&link->replies, &reply);
      if (got > 0) take_reply(link, reply);
      if (link->wire != from) return;
    }
    if (got < 0) {
      lose(link, laju_replies_why(&link->replies));
      return;
    }
  }
}

/* Bytes; 0: none now; -1: lost. */
static ssize_t read_some(laju_link *link) {
  char *to = link->shared->read_buffer;
  ssize_t got = link->tls != NULL ? laju_tls_session_read(link->tls, to, LAJU_LINK_READ_SIZE)
                                  : recv(link->wire->fd, to, LAJU_LINK_READ_SIZE, 0);
  if (got > 0) return got;
  if (link->tls != NULL) {
    if (got == LAJU_TLS_WANTS_READ || got == LAJU_TLS_WANTS_WRITE) return 0;
    lose(link, why_tls(link, got));
  } else if (got == 0) {
    lose(link, CLOSED_BY_SERVER);
  } else {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
    lose_for(link, "read", errno);
  }
  return -1;
}

static void read_all(laju_link *link) {
  const wire *from = link->wire;
  ssize_t got;
  do {
    got = read_some(link);
    if (got <= 0) return;
    link->heard_ms = uv_now(link->shared->loop);
    laju_count_more(&link->shared->counters->bytes_in, (uint64_t)got);
    take_bytes(link, from, link->shared->read_buffer, (size_t)got);
  } while (link->wire == from && (link->tls != NULL || got == LAJU_LINK_READ_SIZE));
}

/* ---- coming up ---- */

static void greet(laju_link *link) {
  link->state = GREETING;
  laju_greeting_begin(&link->greeting, &link->options, &link->pipeline.out);
  if (laju_pipeline_add(&link->pipeline, NULL)) {
    send_out(link);
  } else {
    lose(link, "no memory");
  }
}

static void shake(laju_link *link) {
  int problem = laju_tls_session_shake(link->tls);
  if (problem == 0) {
    greet(link);
  } else if (problem == LAJU_TLS_WANTS_READ) {
    poll_for(link, UV_READABLE);
  } else if (problem == LAJU_TLS_WANTS_WRITE) {
    poll_for(link, UV_READABLE | UV_WRITABLE);
  } else {
    lose(link, why_tls(link, problem));
  }
}

static void on_wire(uv_poll_t *poll, int status, int events) {
  wire *from = poll->data;
  laju_link *link = from->link;
  if (status < 0) { /* libuv has stopped polling: what is there to be read says more than the error */
    read_all(link);
    if (link->wire == from) lose(link, "the connection was reset");
    return;
  }
  if (link->state == SHAKING) {
    shake(link);
    return;
  }
  if (events & UV_WRITABLE) go_on_sending(link);
  if (link->wire == from && (events & UV_READABLE)) read_all(link);
}

static bool add_wire(laju_link *link, int fd) {
  wire *w = calloc(1, sizeof *w);
  if (w == NULL || uv_poll_init(link->shared->loop, &w->poll, fd) < 0) {
    free(w);
    close(fd);
    return false;
  }
  w->poll.data = w;
  w->link = link;
  w->fd = fd;
  link->wire = w;
  link->open++;
  poll_for(link, UV_READABLE);
  return true;
}

static void on_dialled(void *context, int fd, const char *why) {
  laju_link *link = context;
  link->dial = NULL;
  if (fd < 0) {
    lose(link, why);
    return;
  }
  uint64_t now_ms = uv_now(link->shared->loop);
  start_timer(link, link->connect_by_ms > now_ms ? link->connect_by_ms - now_ms : 0);
  laju_replies_deinit(&link->replies); /* only now: the last reply of the connection before was its callback's */
  if (!add_wire(link, fd) || laju_replies_init(&link->replies) < 0) {
    lose(link, "no memory");
  } else if (!link->options.tls) {
    greet(link);
  } else {
    link->state = SHAKING;
    link->tls = laju_tls_session_new(link->shared->tls, fd, link->options.place.host);
    if (link->tls == NULL) {
      lose(link, "TLS: no memory, or a host's name that no certificate can have");
    } else {
      shake(link);
    }
  }
}

static void try_again(laju_link *link) {
  static const laju_dial_events events = {.done = on_dialled, .gone = on_dial_gone};
  int64_t timeout_us = link->shared->connect_timeout_us;
  link->state = DIALLING;
  link->connect_by_ms = uv_now(link->shared->loop) + (uint64_t)(timeout_us + 999) / 1000;
  link->dial = laju_dial_start(link->shared->loop, link->options.unix_path, &link->options.place, link->tries,
                               timeout_us, &events, link);
  if (link->dial == NULL) {
    lose(link, "no memory");
  } else {
    link->open++;
  }
}

static void look_for_silence(laju_link *link) {
  const wire *from = link->wire;
  uint64_t most_ms = silence_ms(link), now_ms = uv_now(link->shared->loop);
  if (link->pipeline.first == NULL) return;               /* armed again with the next command */
  if (now_ms - link->heard_ms >= most_ms) read_all(link); /* it may be this process that stood still */
  if (link->wire != from || link->pipeline.first == NULL) return;
  if (now_ms - link->heard_ms >= most_ms) {
    lose(link, "no answer for too long");
  } else {
    start_timer(link, most_ms - (now_ms - link->heard_ms));
  }
}

static void end_broken(laju_link *link) {
  const wire *from = link->wire;
  char why[LAJU_LINK_WHY_SIZE];
  snprintf(why, sizeof why, "%s", link->why);
  read_all(link);
  if (link->wire == from) lose(link, why);
}

static void on_timer(uv_timer_t *timer) {
  laju_link *link = timer->data;
  if (link->broken) {
    end_broken(link);
    return;
  }
  switch (link->state) {
    case WAITING: try_again(link); break;
    case SHAKING: lose(link, "TLS: no answer in time"); break;
    case GREETING: lose(link, "greeting: no answer in time"); break;
    case CONNECTED: look_for_silence(link); break;
    default: break;
  }
}

/* ---- the owner's calls ---- */

int laju_link_new(laju_link **out, laju_link_shared *shared, const laju_link_options *options,
                  const laju_link_events *events, void *owner) {
  laju_link *link = calloc(1, sizeof *link);
  if (link == NULL) return LAJU_ERR_MEMORY;
  link->shared = shared;
  link->options = *options;
  link->events = events;
  link->owner = owner;
  uv_timer_init(shared->loop, &link->timer);
  link->timer.data = link;
  link->open = 1;
  start_timer(link, 0);
  *out = link;
  return 0;
}

void laju_link_close(laju_link *link, void (*closed)(void *context), void *context) {
  link->closed = closed;
  link->closed_context = context;
  cut(link, CLOSING);
  uv_close((uv_handle_t *)&link->timer, on_timer_closed);
}

bool laju_link_is_connected(const laju_link *link) {
  return link->state == CONNECTED;
}

bool laju_link_is_ready(const laju_link *link) {
  return link->state == CONNECTED && !link->stuck && link->pipeline.count < link->options.commands_max;
}

void laju_link_read(laju_link *link) {
  if (link->state == CONNECTED) read_all(link);
}

void laju_link_drop(laju_link *link, const char *why) {
  if (link->state != CONNECTED) return;
  lose(link, why);
}

void laju_link_move(laju_link *link, const laju_store_place *place) {
  link->options.place = *place;
  link->tries = 0;
  if (link->state == CONNECTED) lose(link, "the server is at another address now");
  if (link->state == CLOSING) return;
  cut(link, WAITING);
  start_timer(link, 0);
}

const char *laju_link_why(const laju_link *link) {
  return link->why;
}
