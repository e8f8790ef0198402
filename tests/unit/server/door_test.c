#include "server/door.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static const laju_codec codec = {.name = "test"};
static char why[LAJU_TEXT_SIZE];
static char folder[] = "/tmp/laju-door-XXXXXX";
static char path[64], at_path[80];

static int make_folder(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/socket", folder);
  snprintf(at_path, sizeof at_path, "unix:%s", path);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static void each_worker_has_its_own_socket_on_one_free_port(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, "127.0.0.1:0", 3, why), 0);
  char text[LAJU_ENDPOINT_TEXT_SIZE], expected[LAJU_ENDPOINT_TEXT_SIZE];
  laju_endpoint_format(&door.bound, expected);
  assert_string_not_equal(expected, "127.0.0.1:0");
  for (size_t worker = 0; worker < 3; worker++) {
    laju_endpoint bound = {.len = sizeof bound.address};
    assert_int_equal(getsockname(door.sockets[worker], (struct sockaddr *)&bound.address, &bound.len), 0);
    laju_endpoint_format(&bound, text);
    assert_string_equal(text, expected);
  }
  assert_true(door.local);
  laju_door_close(&door);
}

static void a_port_that_somebody_listens_on_is_refused(void **state) {
  (void)state;
  laju_door first, second;
  char text[LAJU_ENDPOINT_TEXT_SIZE];
  assert_int_equal(laju_door_open(&first, &codec, "127.0.0.1:0", 1, why), 0);
  laju_endpoint_format(&first.bound, text);
  assert_int_equal(laju_door_open(&second, &codec, text, 1, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, text));
  assert_non_null(strstr(why, "in use"));
  laju_door_close(&first);
  assert_int_equal(laju_door_open(&second, &codec, text, 1, why), 0);
  laju_door_close(&second);
}

typedef struct start {
  pthread_barrier_t *together;
  const char *address;
  laju_door door;
  char why[LAJU_TEXT_SIZE];
  int result;
} start;

static void *open_together(void *argument) {
  start *mine = argument;
  pthread_barrier_wait(mine->together);
  mine->result = laju_door_open(&mine->door, &codec, mine->address, 2, mine->why);
  return NULL;
}

static void of_two_that_start_at_the_same_moment_one_gets_the_port(void **state) {
  (void)state;
  laju_door door;
  char address[LAJU_ENDPOINT_TEXT_SIZE];
  assert_int_equal(laju_door_open(&door, &codec, "127.0.0.1:0", 1, why), 0);
  laju_endpoint_format(&door.bound, address);
  laju_door_close(&door);
  pthread_barrier_t together;
  pthread_barrier_init(&together, NULL, 2);
  for (int round = 0; round < 300; round++) {
    start starts[2] = {{.together = &together, .address = address}, {.together = &together, .address = address}};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, open_together, &starts[1]), 0);
    open_together(&starts[0]);
    pthread_join(other, NULL);
    assert_int_equal(starts[0].result + starts[1].result, LAJU_ERR_SYSTEM);
    assert_non_null(strstr(starts[starts[0].result == 0].why, "in use"));
    laju_door_close(&starts[starts[0].result != 0].door);
  }
  pthread_barrier_destroy(&together);
}

/* 64 connections of which none falls to one of two sockets: once in 2^63. */
static void connections_are_spread_over_the_sockets_of_a_port(void **state) {
  (void)state;
  enum { CLIENTS = 64 };
  laju_door door;
  int clients[CLIENTS], accepted[2] = {0, 0};
  assert_int_equal(laju_door_open(&door, &codec, "127.0.0.1:0", 2, why), 0);
  for (size_t i = 0; i < CLIENTS; i++) {
    clients[i] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(clients[i], (const struct sockaddr *)&door.bound.address, door.bound.len), 0);
  }
  for (size_t worker = 0; worker < 2; worker++) {
    for (int fd; (fd = accept(door.sockets[worker], NULL, NULL)) >= 0; close(fd)) accepted[worker]++;
  }
  assert_int_equal(accepted[0] + accepted[1], CLIENTS);
  assert_true(accepted[0] > 0 && accepted[1] > 0);
  for (size_t i = 0; i < CLIENTS; i++) close(clients[i]);
  laju_door_close(&door);
}

static void a_socket_taken_over_is_not_closed_with_the_door(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, "127.0.0.1:0", 1, why), 0);
  int fd = laju_door_take(&door, 0);
  laju_door_close(&door);
  assert_int_equal(close(fd), 0);
}

static void a_unix_socket_goes_with_its_door(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, at_path, 2, why), 0);
  assert_int_equal(access(path, F_OK), 0);
  assert_true(door.sockets[0] != door.sockets[1]);
  laju_door_close(&door);
  assert_int_equal(access(path, F_OK), -1);
}

static void a_unix_socket_that_answers_is_not_replaced(void **state) {
  (void)state;
  laju_door first, second;
  assert_int_equal(laju_door_open(&first, &codec, at_path, 1, why), 0);
  assert_int_equal(laju_door_open(&second, &codec, at_path, 1, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, "another process listens there"));
  assert_int_equal(access(path, F_OK), 0);
  laju_door_close(&first);
}

static void a_unix_socket_left_by_a_crash_is_replaced(void **state) {
  (void)state;
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un stale = {.sun_family = AF_UNIX};
  memcpy(stale.sun_path, path, strlen(path));
  assert_int_equal(bind(fd, (const struct sockaddr *)&stale, sizeof stale), 0);
  close(fd);
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, at_path, 1, why), 0);
  laju_door_close(&door);
}

static void a_file_that_is_no_socket_is_left_alone(void **state) {
  (void)state;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fclose(file);
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, at_path, 1, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, "not a socket"));
  assert_int_equal(unlink(path), 0);
}

static void another_process_s_new_socket_is_left_alone(void **state) {
  (void)state;
  laju_door first, second;
  assert_int_equal(laju_door_open(&first, &codec, at_path, 1, why), 0);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(laju_door_open(&second, &codec, at_path, 1, why), 0);
  laju_door_close(&first);
  assert_int_equal(access(path, F_OK), 0);
  laju_door_close(&second);
}

static void a_name_is_nowhere_to_listen(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, "localhost:0", 1, why), LAJU_ERR_TEXT);
  assert_non_null(strstr(why, "localhost:0"));
}

static int listening_at(const char *text) {
  laju_door door;
  assert_int_equal(laju_door_open(&door, &codec, text, 1, why), 0);
  int fd = dup(door.sockets[0]);
  door.file_inode = 0; /* whoever hands a socket over keeps its file */
  laju_door_close(&door);
  return fd;
}

static void a_socket_handed_over_is_shared_by_all_workers(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_adopt(&door, &codec, listening_at("127.0.0.1:0"), 3, why), 0);
  assert_true(door.local);
  assert_false(door.is_unix);
  assert_true(door.shared);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  assert_int_equal(connect(client, (struct sockaddr *)&door.bound.address, door.bound.len), 0);
  int served = accept(door.sockets[2], NULL, NULL);
  assert_true(served >= 0);
  close(served);
  close(client);
  laju_door_close(&door);
}

static void a_unix_socket_handed_over_keeps_its_file(void **state) {
  (void)state;
  laju_door door;
  assert_int_equal(laju_door_adopt(&door, &codec, listening_at(at_path), 1, why), 0);
  assert_true(door.is_unix);
  assert_true(door.local);
  laju_door_close(&door);
  assert_int_equal(unlink(path), 0);
}

static void what_does_not_listen_is_not_adopted(void **state) {
  (void)state;
  laju_door door;
  int unbound = socket(AF_INET, SOCK_STREAM, 0), datagrams = socket(AF_INET, SOCK_DGRAM, 0);
  assert_int_equal(laju_door_adopt(&door, &codec, unbound, 1, why), LAJU_ERR_SYSTEM);
  assert_non_null(strstr(why, "no listening stream socket"));
  assert_int_equal(close(unbound), -1); /* it was the door's, and is closed */
  assert_int_equal(laju_door_adopt(&door, &codec, datagrams, 1, why), LAJU_ERR_SYSTEM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_worker_has_its_own_socket_on_one_free_port),
      cmocka_unit_test(a_port_that_somebody_listens_on_is_refused),
      cmocka_unit_test(of_two_that_start_at_the_same_moment_one_gets_the_port),
      cmocka_unit_test(connections_are_spread_over_the_sockets_of_a_port),
      cmocka_unit_test(a_socket_taken_over_is_not_closed_with_the_door),
      cmocka_unit_test(a_unix_socket_goes_with_its_door),
      cmocka_unit_test(a_unix_socket_that_answers_is_not_replaced),
      cmocka_unit_test(a_unix_socket_left_by_a_crash_is_replaced),
      cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
      cmocka_unit_test(another_process_s_new_socket_is_left_alone),
      cmocka_unit_test(a_name_is_nowhere_to_listen),
      cmocka_unit_test(a_socket_handed_over_is_shared_by_all_workers),
      cmocka_unit_test(a_unix_socket_handed_over_keeps_its_file),
      cmocka_unit_test(what_does_not_listen_is_not_adopted),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
