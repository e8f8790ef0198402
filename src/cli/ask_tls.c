#include "cli/ask_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#define READ_SIZE 4096 /* an answer has some hundred bytes */

int64_t laju_ask_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static int fail(redisContext *link, int error, const char *text) {
  link->err = error;
  snprintf(link->errstr, sizeof link->errstr, "%s", text);
  return -1;
}

/* After a step that could not be done: 0 where it may be tried again. */
static int wait_for(laju_ask_tls *tls, redisContext *link, ssize_t problem, int64_t until_us) {
  if (problem == LAJU_TLS_CLOSED) return fail(link, REDIS_ERR_EOF, "Server closed the connection");
  if (problem == LAJU_TLS_FAILED) return fail(link, REDIS_ERR_OTHER, laju_tls_session_why(tls->session));
  struct pollfd socket = {.fd = link->fd, .events = problem == LAJU_TLS_WANTS_READ ? POLLIN : POLLOUT};
  int64_t left_ms = (until_us - laju_ask_now_us() + 999) / 1000;
  int ready = left_ms <= 0 ? 0 : poll(&socket, 1, left_ms < INT_MAX ? (int)left_ms : INT_MAX);
  if (ready > 0 || (ready < 0 && errno == EINTR)) return 0;
  if (ready == 0) errno = EAGAIN;
  return fail(link, REDIS_ERR_IO, "no answer in time");
}

int laju_ask_tls_open(laju_ask_tls *tls, redisContext *link, const laju_tls_client_options *options, const char *host,
                      int64_t until_us) {
  char why[LAJU_TEXT_SIZE];
  int flags = fcntl(link->fd, F_GETFL), problem;
  int error = laju_tls_client_new(&tls->client, options, why);
  if (error == LAJU_ERR_SYSTEM) {
    char text[LAJU_TEXT_SIZE + 8];
    snprintf(text, sizeof text, "TLS: %s", why);
    return fail(link, REDIS_ERR_OTHER, text);
  }
  if (error == 0) tls->session = laju_tls_session_new(tls->client, link->fd, host);
  if (tls->session == NULL) return fail(link, REDIS_ERR_OOM, "memory ran out");
  if (flags < 0 || fcntl(link->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return fail(link, REDIS_ERR_OTHER, "its socket cannot be used");
  }
  while ((problem = laju_tls_session_shake(tls->session)) < 0) {
    if (wait_for(tls, link, problem, until_us) < 0) return -1;
  }
  return 0;
}

int laju_ask_tls_send(laju_ask_tls *tls, redisContext *link, const char *bytes, size_t len, int64_t until_us) {
  while (len > 0) {
    ssize_t sent = laju_tls_session_write(tls->session, bytes, len);
    if (sent > 0) {
      bytes += sent;
      len -= (size_t)sent;
    } else if (wait_for(tls, link, sent, until_us) < 0) {
      return -1;
    }
  }
  return 0;
}

int laju_ask_tls_read(laju_ask_tls *tls, redisContext *link, int64_t until_us) {
  char bytes[READ_SIZE];
  ssize_t got;
  while ((got = laju_tls_session_read(tls->session, bytes, sizeof bytes)) <= 0) {
    if (wait_for(tls, link, got, until_us) < 0) return -1;
  }
  if (redisReaderFeed(link->reader, bytes, (size_t)got) == REDIS_OK) return 0;
  return fail(link, link->reader->err, link->reader->errstr);
}

void laju_ask_tls_close(laju_ask_tls *tls) {
  laju_tls_session_free(tls->session);
  laju_tls_client_free(tls->client);
}
