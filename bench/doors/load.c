/* A load generator that costs as little as it can, so that on one core it keeps a server on another core busy.
 *
 *   bench_doors_load ADDRESS CONNECTIONS PIPELINE MILLISECONDS KEYS REPLY REQUEST
 *
 * ADDRESS is a port on 127.0.0.1, or a unix socket's path. REQUEST is sent as it is, but for `\r`, `\n` and `%` (a random key of
 * twelve digits below KEYS). REPLY tells how replies are counted: a number of lines (RESP), or `http` (by Content-Length).
 * Each connection sends PIPELINE requests at once and waits for all replies. Prints the requests answered and the seconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/bytes.h"

#define PIPELINES 512 /* different ones, each sent again and again */
#define CONNECTIONS_MAX 1000
#define READ_SIZE (256 * 1024)
#define HEAD_MAX 4096
#define PATIENCE_MS 10000

typedef struct peer {
  int fd;
  unsigned number;
  size_t awaited;  /* lines, or HTTP responses, still to come */
  size_t body;     /* HTTP: bytes of a body still to come */
  size_t head_len; /* HTTP: what has come of an unfinished head */
  char head[HEAD_MAX];
} peer;

typedef struct load {
  const char *address;
  unsigned connections, pipeline, keys;
  int64_t run_ns;
  size_t lines; /* of one reply; 0: HTTP */
  laju_buffer pipelines[PIPELINES];
  uint64_t replies;
  int epoll;
  peer peers[CONNECTIONS_MAX];
} load;

static void fail(const char *what) {
  fprintf(stderr, "load: %s%s%s\n", what, errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static uint32_t random_number(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}

static void add_request(laju_buffer *to, const char *request, unsigned keys) {
  for (const char *at = request; *at != '\0'; at++) {
    if (*at == '%') {
      laju_buffer_add_format(to, "%012" PRIu32, random_number() % keys);
    } else if (*at == '\\' && (at[1] == 'r' || at[1] == 'n')) {
      laju_buffer_add(to, *++at == 'r' ? "\r" : "\n", 1);
    } else {
      laju_buffer_add(to, at, 1);
    }
  }
}

static int connect_to(const char *address) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_un un = {.sun_family = AF_UNIX};
  bool is_unix = strchr(address, '/') != NULL;
  in.sin_port = htons((uint16_t)strtoul(address, NULL, 10));
  snprintf(un.sun_path, sizeof un.sun_path, "%s", address);
  int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0), on = 1;
  if (fd < 0) fail("socket");
  int err = is_unix ? connect(fd, (struct sockaddr *)&un, sizeof un) : connect(fd, (struct sockaddr *)&in, sizeof in);
  if (err < 0) fail(address);
  if (!is_unix) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

/* The socket blocks, and its buffer has room: nothing is under way. */
static void send_on(load *on, peer *p) {
  const laju_buffer *bytes = &on->pipelines[(p->number * 31 + on->replies) % PIPELINES];
  ssize_t sent = send(p->fd, bytes->data, bytes->len, MSG_NOSIGNAL);
  if (sent != (ssize_t)bytes->len) fail("a pipeline did not go out in one piece");
  p->awaited = on->pipeline * (on->lines > 0 ? on->lines : 1);
}

static size_t count_lines(const char *bytes, size_t len) {
  size_t count = 0;
  size_t i = 0;
  for (; i + 8 <= len; i += 8) {
    uint64_t word = laju_load64(bytes + i) ^ UINT64_C(0x0a0a0a0a0a0a0a0a);
    /* A byte's top bit says that its low seven bits are not all zero; replies are ASCII. */
    uint64_t others = (word & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7f7f7f7f7f7f7f7f);
    count += 8 - (size_t)__builtin_popcountll((others | word) & UINT64_C(0x8080808080808080));
  }
  for (; i < len; i++) count += bytes[i] == '\n';
  return count;
}

static void take_lines(peer *p, const char *bytes, size_t len) {
  if (bytes[0] == '-') fail("the server answered with an error");
  size_t lines = count_lines(bytes, len);
  if (lines > p->awaited) fail("more replies than requests");
  p->awaited -= lines;
}

/* A head's end is looked for in what has come of it; its body's length stands in it. */
static void take_responses(peer *p, const char *bytes, size_t len) {
  while (len > 0) {
    if (p->body > 0) {
      size_t gone = len < p->body ? len : p->body;
      p->body -= gone;
      bytes += gone;
      len -= gone;
      if (p->body == 0) p->awaited--;
      continue;
    }
    size_t room = HEAD_MAX - p->head_len, part = len < room ? len : room, before = p->head_len;
    memcpy(p->head + before, bytes, part);
    p->head_len += part;
    const char *end = memmem(p->head, p->head_len, "\r\n\r\n", 4);
    if (end == NULL && p->head_len == HEAD_MAX) fail("a head without an end");
    if (end == NULL) return;
    size_t head = (size_t)(end + 4 - p->head);
    const char *length = memmem(p->head, head, "Content-Length: ", 16);
    if (memcmp(p->head, "HTTP/1.1 200", 12) != 0 || length == NULL) fail("the server did not answer 200 with a length");
    p->body = strtoul(length + 16, NULL, 10);
    p->head_len = 0;
    if (p->body == 0) p->awaited--;
    bytes += head - before;
    len -= head - before;
  }
}

static void receive(load *on, peer *p) {
  static char bytes[READ_SIZE];
  ssize_t got = recv(p->fd, bytes, sizeof bytes, 0);
  if (got <= 0) fail("the server ended the connection");
  if (on->lines > 0) {
    take_lines(p, bytes, (size_t)got);
  } else {
    take_responses(p, bytes, (size_t)got);
  }
  if (p->awaited > 0) return;
  on->replies += on->pipeline;
  send_on(on, p);
}

static void begin(load *on, char **arguments) {
  on->address = arguments[1];
  on->connections = (unsigned)strtoul(arguments[2], NULL, 10);
  on->pipeline = (unsigned)strtoul(arguments[3], NULL, 10);
  on->run_ns = strtol(arguments[4], NULL, 10) * 1000000;
  on->keys = (unsigned)strtoul(arguments[5], NULL, 10);
  on->lines = strtoul(arguments[6], NULL, 10);
  if (on->connections < 1 || on->connections > CONNECTIONS_MAX || on->pipeline < 1 || on->keys < 1)
    fail("bad arguments");
  for (size_t i = 0; i < PIPELINES; i++) {
    for (unsigned j = 0; j < on->pipeline; j++) add_request(&on->pipelines[i], arguments[7], on->keys);
    if (on->pipelines[i].failed) fail("memory");
  }
  on->epoll = epoll_create1(0);
  if (on->epoll < 0) fail("epoll");
  for (unsigned i = 0; i < on->connections; i++) {
    peer *p = &on->peers[i];
    p->number = i;
    p->fd = connect_to(on->address);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
    if (epoll_ctl(on->epoll, EPOLL_CTL_ADD, p->fd, &event) < 0) fail("epoll");
  }
}

int main(int argc, char **argv) {
  static load on;
  if (argc != 8) fail("ADDRESS CONNECTIONS PIPELINE MILLISECONDS KEYS REPLY REQUEST are needed");
  begin(&on, argv);
  int64_t start = now_ns(), now = start;
  for (unsigned i = 0; i < on.connections; i++) send_on(&on, &on.peers[i]);
  while (now - start < on.run_ns) {
    struct epoll_event events[CONNECTIONS_MAX];
    int count = epoll_wait(on.epoll, events, CONNECTIONS_MAX, PATIENCE_MS);
    if (count == 0) fail("the server does not answer");
    for (int i = 0; i < count; i++) receive(&on, events[i].data.ptr);
    now = now_ns();
  }
  printf("%" PRIu64 " %.6f\n", on.replies, (double)(now - start) / 1e9);
  return 0;
}
