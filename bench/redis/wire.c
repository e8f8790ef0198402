#include "wire.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REPLIES_SIZE (1 << 20)

static int sockets[WIRE_CONNECTIONS], control;
static char replies[REPLIES_SIZE];

static void die(const char *what) {
  perror(what);
  exit(1);
}

double wire_now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the wire ---- */

static int connect_to(int port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

static void send_all(int fd, const char *bytes, size_t len) {
  while (len > 0) {
    ssize_t sent = write(fd, bytes, len);
    if (sent < 0) die("write");
    bytes += sent;
    len -= (size_t)sent;
  }
}

/* Behind one whole reply, or NULL while bytes are missing. */
static const char *skip_reply(const char *at, const char *end) {
  const char *line = memchr(at, '\n', (size_t)(end - at));
  if (line == NULL) return NULL;
  long number = strtol(at + 1, NULL, 10);
  line++;
  switch (*at) {
    case '*':
      for (; number > 0 && line != NULL; number--) line = skip_reply(line, end);
      return line;
    case '$':
      if (number < 0) return line;
      return end - line < number + 2 ? NULL : line + number + 2;
    case '-': fprintf(stderr, "%.*s", (int)(line - at), at); exit(1);
    default: return line;
  }
}

static void read_replies(int fd, size_t count) {
  size_t len = 0;
  const char *at = replies;
  while (count > 0) {
    ssize_t got = read(fd, replies + len, sizeof replies - len);
    if (got <= 0) die("read");
    len += (size_t)got;
    for (const char *next; count > 0 && (next = skip_reply(at, replies + len)) != NULL; count--) at = next;
  }
}

const char *wire_command(const char *bytes, size_t len) {
  memset(replies, 0, 8192);
  send_all(control, bytes, len);
  read_replies(control, 1);
  return replies;
}

static double number_behind(const char *text) {
  const char *at = strstr(replies, text);
  return at != NULL ? strtod(at + strlen(text), NULL) : 0;
}

double wire_server_cpu_s(void) {
  wire_command("INFO cpu\r\n", 10);
  return number_behind("used_cpu_user_main_thread:") + number_behind("used_cpu_sys_main_thread:");
}

void wire_open(int port) {
  control = connect_to(port);
  for (size_t c = 0; c < WIRE_CONNECTIONS; c++) sockets[c] = connect_to(port);
  wire_command("FLUSHALL\r\n", 10);
}

void wire_run(const char *bytes, const size_t *ends, size_t pipelines, size_t replies_each) {
  for (size_t p = 0; p < pipelines; p += WIRE_CONNECTIONS) {
    size_t lanes = pipelines - p < WIRE_CONNECTIONS ? pipelines - p : WIRE_CONNECTIONS;
    for (size_t c = 0; c < lanes; c++) send_all(sockets[c], bytes + ends[p + c], ends[p + c + 1] - ends[p + c]);
    for (size_t c = 0; c < lanes; c++) read_replies(sockets[c], replies_each);
  }
}

uint64_t wire_random_below(uint64_t bound) {
  static uint64_t x = 88172645463325252;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x % bound;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double wire_median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_size);
  return values[count / 2];
}
