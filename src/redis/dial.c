#include "redis/dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis/lookup.h"

#define KEEPALIVE_S 15

typedef struct address {
  struct sockaddr_storage bytes;
  socklen_t len;
} address;

struct laju_dial {
  uv_loop_t *loop;
  uv_timer_t timer;
  uv_poll_t poll;
  laju_lookup *lookup; /* NULL: none */
  const laju_dial_events *events;
  void *context;
  int64_t deadline_us;
  address addresses[LAJU_DIAL_ADDRESSES_MAX];
  size_t count, tried;
  unsigned turn;
  int fd;        /* being connected; -1 */
  unsigned open; /* handles, and a lookup's */
  bool polling;  /* `poll` is one of them */
  bool over;     /* `done` was called, or is not wanted */
  laju_store_place place;
  char why[LAJU_DIAL_WHY_SIZE];
};

static int64_t now_us(void) {
  return (int64_t)(uv_hrtime() / 1000);
}

/* ---- the end ---- */

static void close_one(laju_dial *dial) {
  if (--dial->open > 0) return;
  dial->events->gone(dial->context);
  free(dial);
}

static void on_timer_closed(uv_handle_t *handle) {
  close_one(handle->data);
}

static void try_next(laju_dial *dial);

/* The poll handle is used again for the next address. */
static void on_poll_closed(uv_handle_t *handle) {
  laju_dial *dial = handle->data;
  dial->polling = false;
  if (dial->over) {
    close_one(dial);
    return;
  }
  dial->open--;
  try_next(dial);
}

static void stop_polling(laju_dial *dial) {
  if (dial->polling && !uv_is_closing((uv_handle_t *)&dial->poll)) uv_close((uv_handle_t *)&dial->poll, on_poll_closed);
}

static void end(laju_dial *dial) {
  dial->over = true;
  if (dial->lookup != NULL) laju_lookup_cancel(dial->lookup);
  dial->lookup = NULL;
  stop_polling(dial);
  if (dial->fd >= 0) close(dial->fd);
  dial->fd = -1;
  uv_close((uv_handle_t *)&dial->timer, on_timer_closed);
}

static void succeed(laju_dial *dial) {
  int fd = dial->fd;
  dial->fd = -1;
  end(dial);
  dial->events->done(dial->context, fd, "");
}

static void fail(laju_dial *dial) {
  end(dial);
  dial->events->done(dial->context, -1, dial->why);
}

/* ---- one address ---- */

static void describe(laju_dial *dial, const address *to, const char *problem) {
  char name[128] = "", port[8] = "";
  if (to->bytes.ss_family == AF_UNIX) {
    snprintf(dial->why, sizeof dial->why, "connect to unix:%s: %s", ((const struct sockaddr_un *)&to->bytes)->sun_path,
             problem);
    return;
  }
  getnameinfo((const struct sockaddr *)&to->bytes, to->len, name, sizeof name, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  snprintf(dial->why, sizeof dial->why, "connect to %s port %s: %s", name, port, problem);
}

static const address *current(const laju_dial *dial) {
  return &dial->addresses[(dial->turn + dial->tried) % dial->count];
}

/* This address is of no use: the next, or the end. */
static void give_up_address(laju_dial *dial, const char *problem) {
  describe(dial, current(dial), problem);
  dial->tried++;
  uv_timer_stop(&dial->timer);
  stop_polling(dial); /* before its descriptor is closed; goes on when that is done */
  if (dial->fd >= 0) close(dial->fd);
  dial->fd = -1;
  if (!dial->polling) try_next(dial);
}

static void on_address_timeout(uv_timer_t *timer) {
  give_up_address(timer->data, "no answer in time");
}

static void on_poll(uv_poll_t *poll, int status, int events) {
  laju_dial *dial = poll->data;
  int error = 0;
  socklen_t len = sizeof error;
  (void)status; /* the socket knows better */
  (void)events;
  if (getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0) error = errno;
  if (error != 0) {
    give_up_address(dial, strerror(error));
  } else {
    succeed(dial);
  }
}

static int open_socket(const address *to) {
  int fd = socket(to->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || to->bytes.ss_family == AF_UNIX) return fd;
  int on = 1, keepalive_s = KEEPALIVE_S;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &keepalive_s, sizeof keepalive_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &keepalive_s, sizeof keepalive_s);
  return fd;
}

static void wait_for_address(laju_dial *dial) {
  int err = uv_poll_init(dial->loop, &dial->poll, dial->fd);
  if (err < 0) {
    give_up_address(dial, uv_strerror(err));
    return;
  }
  dial->poll.data = dial;
  dial->polling = true;
  dial->open++;
  uv_poll_start(&dial->poll, UV_WRITABLE, on_poll);
  int64_t left_us = dial->deadline_us - now_us(), share_us = left_us / (int64_t)(dial->count - dial->tried);
  uv_timer_start(&dial->timer, on_address_timeout, share_us > 0 ? (uint64_t)(share_us + 999) / 1000 : 0, 0);
}

/* 0: connected; EINPROGRESS: soon; otherwise an error. */
static int begin_to_connect(laju_dial *dial, const address *to) {
  dial->fd = open_socket(to);
  if (dial->fd < 0) return errno;
  return connect(dial->fd, (const struct sockaddr *)&to->bytes, to->len) == 0 ? 0 : errno;
}

/* Called from the loop only, and through give_up_address once an address at most. */
static void try_next(laju_dial *dial) {
  if (dial->tried >= dial->count) {
    fail(dial);
    return;
  }
  int error = begin_to_connect(dial, current(dial));
  if (error == 0) {
    succeed(dial);
  } else if (error == EINPROGRESS) {
    wait_for_address(dial);
  } else {
    give_up_address(dial, strerror(error));
  }
}

/* ---- addresses ---- */

static void take_addresses(laju_dial *dial, const struct addrinfo *found) {
  for (; found != NULL && dial->count < LAJU_DIAL_ADDRESSES_MAX; found = found->ai_next) {
    if (found->ai_addrlen > sizeof dial->addresses[0].bytes) continue;
    address *to = &dial->addresses[dial->count++];
    memcpy(&to->bytes, found->ai_addr, found->ai_addrlen);
    to->len = found->ai_addrlen;
  }
}

static void no_address(laju_dial *dial, const char *problem) {
  snprintf(dial->why, sizeof dial->why, "%s: %s", dial->place.host, problem);
  fail(dial);
}

static void on_found(void *context, const struct addrinfo *found, const char *why) {
  laju_dial *dial = context;
  dial->lookup = NULL;
  take_addresses(dial, found);
  if (why != NULL || dial->count == 0) {
    no_address(dial, why != NULL ? why : "has no address");
  } else {
    try_next(dial);
  }
}

static void on_lookup_gone(void *context) {
  close_one(context);
}

static void on_lookup_timeout(uv_timer_t *timer) {
  laju_dial *dial = timer->data;
  no_address(dial, "its name was not looked up in time");
}

static void look_up(laju_dial *dial) {
  static const laju_lookup_events events = {.done = on_found, .gone = on_lookup_gone};
  char port[8];
  snprintf(port, sizeof port, "%u", (unsigned)dial->place.port);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found = NULL;
  if (getaddrinfo(dial->place.host, port, &hints, &found) == 0) { /* an address: no need for a thread */
    take_addresses(dial, found);
    freeaddrinfo(found);
    try_next(dial);
    return;
  }
  dial->lookup = laju_lookup_start(dial->loop, dial->place.host, dial->place.port, &events, dial);
  if (dial->lookup == NULL) {
    no_address(dial, "no memory");
    return;
  }
  dial->open++;
  int64_t left_us = dial->deadline_us - now_us();
  uv_timer_start(&dial->timer, on_lookup_timeout, left_us > 0 ? (uint64_t)(left_us + 999) / 1000 : 0, 0);
}

static void on_start(uv_timer_t *timer) {
  laju_dial *dial = timer->data;
  if (dial->count > 0) {
    try_next(dial);
  } else {
    look_up(dial);
  }
}

static void take_path(laju_dial *dial, const char *path) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  size_t len = strlen(path);
  if (len >= sizeof to.sun_path) len = sizeof to.sun_path - 1; /* which the URL's parser refuses */
  memcpy(to.sun_path, path, len);
  memcpy(&dial->addresses[0].bytes, &to, sizeof to);
  dial->addresses[0].len = sizeof to;
  dial->count = 1;
}

laju_dial *laju_dial_start(uv_loop_t *loop, const char *unix_path, const laju_store_place *place, unsigned turn,
                           int64_t timeout_us, const laju_dial_events *events, void *context) {
  laju_dial *dial = calloc(1, sizeof *dial);
  if (dial == NULL) return NULL;
  dial->loop = loop;
  dial->events = events;
  dial->context = context;
  dial->turn = turn;
  dial->fd = -1;
  dial->deadline_us = now_us() + timeout_us;
  dial->place = *place;
  if (unix_path != NULL && *unix_path != '\0') take_path(dial, unix_path);
  uv_timer_init(loop, &dial->timer);
  dial->timer.data = dial;
  dial->open = 1;
  uv_timer_start(&dial->timer, on_start, 0, 0);
  return dial;
}

void laju_dial_cancel(laju_dial *dial) {
  if (!dial->over) end(dial);
}
