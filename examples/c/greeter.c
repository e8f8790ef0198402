/* greeter: a small HTTP server that greets each client a few times, and answers 429 until there is more.
 *
 *     greeter [PORT [RULE]]     on 127.0.0.1; PORT 0 takes a free one (8000 by default); RULE as in
 *                               "greet=5/10s token-bucket burst 5"
 *
 * A client is known by its X-Api-Key, or else by its address. What is bounded: WORKERS clients are served at once, the next
 * wait in the kernel's queue; a request's head has HEAD_MAX bytes and must be there within PATIENCE_MS.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <laju/laju.h>

#define WORKERS 4
#define HEAD_MAX 4096
#define PATIENCE_MS 5000

/* Shared by all workers: a limiter is made for many threads, a rule is only read. */
typedef struct greeter {
  int listener;
  laju_rule rule;
  laju_limiter *limiter;
} greeter;

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads until the head's empty line. False where the client is too slow, says too much, or goes. */
static bool read_head(int client, char head[HEAD_MAX + 1]) {
  int64_t until = now_ms() + PATIENCE_MS;
  size_t len = 0;
  head[0] = '\0';
  while (strstr(head, "\r\n\r\n") == NULL) {
    int64_t left = until - now_ms();
    struct pollfd wait = {.fd = client, .events = POLLIN};
    if (left <= 0 || len == HEAD_MAX || poll(&wait, 1, (int)left) != 1) return false;
    ssize_t got = recv(client, head + len, HEAD_MAX - len, 0);
    if (got <= 0) return false;
    len += (size_t)got;
    head[len] = '\0';
  }
  return true;
}

/* The value of X-Api-Key: points into the head, `*len` bytes; NULL where there is none. */
static const char *api_key(const char *head, size_t *len) {
  const char *field = strcasestr(head, "\r\nx-api-key:");
  if (field == NULL) return NULL;
  const char *value = field + strlen("\r\nx-api-key:");
  value += strspn(value, " \t");
  *len = strcspn(value, " \t\r\n");
  return *len > 0 ? value : NULL;
}

static void reply(int client, const char *text) {
  size_t len = strlen(text);
  while (len > 0) {
    ssize_t sent = send(client, text, len, MSG_NOSIGNAL);
    if (sent <= 0) return;
    text += sent;
    len -= (size_t)sent;
  }
}

static void reply_decision(int client, const laju_decision *decision) {
  char text[512];
  if (decision->allowed) {
    snprintf(text, sizeof text,
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n"
             "X-RateLimit-Limit: %u\r\nX-RateLimit-Remaining: %u\r\n\r\nhello\n",
             decision->limit, decision->remaining);
  } else {
    /* Whole seconds, rounded up, so that a client that obeys is served. A cost of 1 never waits for ever here. */
    long long wait_s = (decision->retry_after_us + 999999) / 1000000;
    snprintf(text, sizeof text,
             "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nContent-Length: 9\r\nConnection: close\r\n"
             "X-RateLimit-Limit: %u\r\nX-RateLimit-Remaining: %u\r\nRetry-After: %lld\r\n\r\ntoo many\n",
             decision->limit, decision->remaining, wait_s);
  }
  reply(client, text);
}

static void serve(greeter *g, int client, const struct sockaddr_in *address) {
  char head[HEAD_MAX + 1], from[INET_ADDRSTRLEN];
  if (!read_head(client, head)) return;
  if (strncmp(head, "GET ", 4) != 0) {
    reply(client, "HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  size_t len;
  const char *key = api_key(head, &len);
  if (key == NULL) {
    key = inet_ntop(AF_INET, &address->sin_addr, from, sizeof from);
    len = strlen(from);
  }
  laju_check check = {.rule = &g->rule, .key = key, .key_len = (uint32_t)len, .cost = g->rule.cost};
  laju_decision decision;
  int answer = laju_limiter_check(g->limiter, &check, 1, &decision);
  if (answer < 0) { /* a key that is too long */
    reply(client, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    return;
  }
  reply_decision(client, &decision);
}

static void *work(void *argument) {
  greeter *g = argument;
  struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
  for (;;) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    int client = accept(g->listener, (struct sockaddr *)&address, &len);
    if (client < 0) return NULL; /* the listener was shut down */
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    serve(g, client, &address);
    close(client);
  }
}

static int listen_on(uint16_t port) {
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t len = sizeof address;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(listener, (struct sockaddr *)&address, len) < 0 || listen(listener, 128) < 0) return -1;
  if (getsockname(listener, (struct sockaddr *)&address, &len) < 0) return -1;
  printf("listening on 127.0.0.1:%u\n", ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

static int run(greeter *g) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, NULL); /* before the threads, which inherit it */
  pthread_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    if (pthread_create(&workers[i], NULL, work, g) != 0) return 1;
  }
  int which;
  sigwait(&ends, &which);
  shutdown(g->listener, SHUT_RDWR);
  for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
  return 0;
}

int main(int argc, char **argv) {
  greeter g;
  char why[LAJU_TEXT_SIZE];
  if (laju_rule_parse(&g.rule, argc > 2 ? argv[2] : "greet=5/10s token-bucket", why) < 0) {
    fprintf(stderr, "greeter: %s\n", why);
    return 2;
  }
  laju_limiter_options options = {.memory_bytes = 16 << 20};
  if (laju_limiter_new(&g.limiter, &options) < 0) {
    fprintf(stderr, "greeter: no memory for the limiter\n");
    return 1;
  }
  g.listener = listen_on(argc > 1 ? (uint16_t)strtoul(argv[1], NULL, 10) : 8000);
  if (g.listener < 0) {
    perror("greeter: cannot listen");
    return 1;
  }
  int status = run(&g);
  close(g.listener);
  laju_limiter_free(g.limiter);
  return status;
}
