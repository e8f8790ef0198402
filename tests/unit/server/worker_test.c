/* Real workers behind a real door, spoken to over loopback. Replies are waited for, never slept for. */
#include "server/worker.h"
#include "server/terms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_S 30

static uv_loop_t loop;
static uv_async_t ended;
static laju_limiter *limiter;
static laju_config config;
static laju_terms *terms;
static laju_service service;
static laju_sharing sharing;
static laju_door door;
static laju_crew crew;
static laju_worker *workers[2];

static void on_ended(uv_async_t *async) {
  (void)async;
}

static int start_with(uint64_t connections_max) {
  char why[LAJU_TEXT_SIZE];
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  laju_config_init(&config);
  if (laju_limiter_new(&limiter, &options) < 0 || laju_terms_new(&terms, &config) < 0) return -1;
  service = (laju_service){.limiter = limiter, .terms = terms, .stage = LAJU_SERVING};
  if (uv_loop_init(&loop) < 0 || uv_async_init(&loop, &ended, on_ended) < 0) return -1;
  if (laju_door_open(&door, &laju_resp_codec, "127.0.0.1:0", 2, why) < 0) return -1;
  if (laju_sharing_init(&sharing, &config.store, &service, &ended, 2) < 0) return -1;
  crew = (laju_crew){.service = &service, .sharing = &sharing, .doors = &door, .door_count = 1, .news = &ended};
  crew.connections_max = connections_max;
  for (size_t i = 0; i < 2; i++) {
    if (laju_worker_new(&workers[i], &crew, i, why) < 0) return -1;
  }
  return 0;
}

static int setup(void **state) {
  (void)state;
  return start_with(100);
}

static int setup_for_one(void **state) {
  (void)state;
  return start_with(1);
}

static int teardown(void **state) {
  (void)state;
  for (size_t i = 0; i < 2; i++) laju_worker_cut(workers[i]);
  for (size_t i = 0; i < 2; i++) laju_worker_free(workers[i]);
  laju_door_close(&door);
  uv_close((uv_handle_t *)&ended, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  int err = uv_loop_close(&loop);
  laju_sharing_deinit(&sharing);
  laju_terms_free(terms);
  laju_config_deinit(&config);
  laju_limiter_free(limiter);
  return err;
}

static int dial(void) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval patience = {.tv_sec = PATIENCE_S};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  assert_int_equal(connect(fd, (const struct sockaddr *)&door.bound.address, door.bound.len), 0);
  return fd;
}

static char heard[256];

/* Sends, and waits for as many bytes as `expected` has. */
static void talk(int fd, const char *text, const char *expected) {
  assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
  size_t len = 0;
  while (len < strlen(expected)) {
    ssize_t got = recv(fd, heard + len, sizeof heard - 1 - len, 0);
    if (got <= 0) break;
    len += (size_t)got;
  }
  heard[len] = 0;
  assert_string_equal(heard, expected);
}

static bool hung_up(int fd) {
  return recv(fd, heard, 1, 0) == 0;
}

static uint64_t counted(size_t offset) {
  laju_counters sum = {0};
  for (size_t i = 0; i < 2; i++) laju_worker_counters_add(workers[i], &sum);
  return atomic_load((_Atomic uint64_t *)(void *)((char *)&sum + offset));
}

static void connections_are_served_by_either_worker(void **state) {
  (void)state;
  int fds[20];
  for (size_t i = 0; i < 20; i++) fds[i] = dial();
  for (size_t i = 0; i < 20; i++) talk(fds[i], "PING\r\n", "+PONG\r\n");
  assert_int_equal(counted(offsetof(laju_counters, accepted)), 20);
  for (size_t i = 0; i < 20; i++) close(fds[i]);
}

static void one_too_many_is_told_so_and_closed(void **state) {
  (void)state;
  int first = dial();
  talk(first, "PING\r\n", "+PONG\r\n");
  int second = dial();
  talk(second, "", "-ERR max number of clients reached\r\n");
  assert_true(hung_up(second));
  assert_int_equal(counted(offsetof(laju_counters, refused)), 1);
  close(second);
  talk(first, "PING\r\n", "+PONG\r\n");
  close(first);
}

static void draining_answers_what_has_begun_and_ends(void **state) {
  (void)state;
  int fd = dial();
  talk(fd, "PING\r\n*1\r\n$4\r\n", "+PONG\r\n");
  for (size_t i = 0; i < 2; i++) laju_worker_drain(workers[i]);
  while (!laju_worker_has_ended(workers[0]) && !laju_worker_has_ended(workers[1])) uv_run(&loop, UV_RUN_ONCE);
  talk(fd, "PING\r\n", "+PONG\r\n");
  assert_true(hung_up(fd));
  close(fd);
  while (!laju_worker_has_ended(workers[0]) || !laju_worker_has_ended(workers[1])) uv_run(&loop, UV_RUN_ONCE);
  assert_int_equal(counted(offsetof(laju_counters, cut)), 0);
  assert_int_equal(atomic_load(&crew.connections), 0);
}

static void cutting_waits_for_nobody(void **state) {
  (void)state;
  int fd = dial();
  talk(fd, "PING\r\n*1\r\n$4\r\n", "+PONG\r\n");
  for (size_t i = 0; i < 2; i++) laju_worker_drain(workers[i]);
  for (size_t i = 0; i < 2; i++) laju_worker_cut(workers[i]);
  while (!laju_worker_has_ended(workers[0]) || !laju_worker_has_ended(workers[1])) uv_run(&loop, UV_RUN_ONCE);
  assert_int_equal(counted(offsetof(laju_counters, cut)), 1);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(connections_are_served_by_either_worker, setup, teardown),
      cmocka_unit_test_setup_teardown(one_too_many_is_told_so_and_closed, setup_for_one, teardown),
      cmocka_unit_test_setup_teardown(draining_answers_what_has_begun_and_ends, setup, teardown),
      cmocka_unit_test_setup_teardown(cutting_waits_for_nobody, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
