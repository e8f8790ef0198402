#include "server/shared.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_NS UINT64_C(30000000000)

static uv_loop_t loop;
static uv_async_t news;
static laju_config config;
static laju_limiter *limiter;
static laju_service service;
static laju_sharing sharing;
static laju_shared shared;
static int told, turns;

static void on_news(uv_async_t *async) {
  (void)async;
  told++;
}

static void on_turn(void *context) {
  assert_ptr_equal(context, &turns);
  turns++;
}

static void given(const char *text, size_t workers) {
  char why[LAJU_WHY_SIZE] = "";
  laju_config_init(&config);
  laju_config_parse(&config, "laju.yaml", text, strlen(text), why);
  assert_string_equal(why, "");
  assert_int_equal(laju_sharing_init(&sharing, &config.store, &service, &news, workers), 0);
}

static int open_shared(char why[LAJU_TEXT_SIZE]) {
  return laju_shared_open(&shared, &sharing, &loop, (laju_duties){.registers = true, .overrides = true}, on_turn,
                          &turns, why);
}

static int setup(void **state) {
  (void)state;
  laju_limiter_options options = {.memory_bytes = 1 << 20};
  if (laju_limiter_new(&limiter, &options) < 0) return -1;
  service = (laju_service){.limiter = limiter};
  told = turns = 0;
  return uv_loop_init(&loop) < 0 || uv_async_init(&loop, &news, on_news) < 0 ? -1 : 0;
}

static int teardown(void **state) {
  (void)state;
  uv_close((uv_handle_t *)&news, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  laju_sharing_deinit(&sharing);
  laju_config_deinit(&config);
  laju_limiter_free(limiter);
  return uv_loop_close(&loop);
}

static void without_a_store_there_is_the_table_alone(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE];
  given("", 4);
  assert_int_equal(service.stores, 0);
  assert_int_equal(open_shared(why), 0);
  assert_ptr_equal(shared.way.limiter, limiter);
  assert_null(shared.way.store);
  laju_shared_close(&shared);
  laju_shared_deinit(&shared);
}

static void the_way_is_as_the_configuration_says(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE] = "";
  given("store: {redis: 'unix:/nonexistent/redis', prefix: p, nodes: 30, atomicity: transaction, deny_cache: false}",
        4);
  assert_int_equal(service.stores, 4);
  assert_int_equal(open_shared(why), 0);
  assert_int_equal(atomic_load(shared.way.nodes), 30);
  assert_true(shared.way.transaction && !shared.way.deny_cache);
  assert_int_equal(shared.way.keys.prefix_len, 1);
  assert_null(shared.nodes); /* they are not counted */
  laju_shared_close(&shared);
  laju_shared_deinit(&shared);
}

static void a_store_that_is_not_there_is_told_of_with_the_reason(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE] = "";
  given("store: {redis: 'unix:/nonexistent/redis'}", 1);
  assert_int_equal(open_shared(why), 0);
  assert_non_null(shared.nodes);
  assert_int_equal(atomic_load(shared.way.nodes), 1);
  for (uint64_t began = uv_hrtime(); told == 0 && uv_hrtime() - began < PATIENCE_NS;) uv_run(&loop, UV_RUN_ONCE);
  snprintf(why, sizeof why, "%s", sharing.why);
  laju_shared_close(&shared);
  laju_shared_deinit(&shared);
  assert_true(told > 0 && turns > 0);
  assert_int_equal(atomic_load(&service.stores_up), 0);
  assert_string_equal(why, "connect to unix:/nonexistent/redis: No such file or directory");
}

static void a_certificate_that_cannot_be_read_is_told_of_at_the_start(void **state) {
  (void)state;
  char why[LAJU_TEXT_SIZE] = "";
  given("store: {redis: 'rediss://127.0.0.1', tls_ca: /nonexistent/ca.pem}", 1);
  assert_int_equal(open_shared(why), -1);
  assert_non_null(strstr(why, "/nonexistent/ca.pem"));
}

/* ---- the log ---- */

/* How many lines telling at this time adds to the log. */
static int lines(uint64_t now_ms) {
  FILE *file = tmpfile();
  int kept = dup(STDERR_FILENO), count = 0;
  assert_non_null(file);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  laju_sharing_tell(&sharing, now_ms);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(file);
  for (int c; (c = getc(file)) != EOF;) count += c == '\n';
  fclose(file);
  return count;
}

static void changes_are_told_once_and_not_too_often(void **state) {
  (void)state;
  given("store: {redis: 'redis://:secret@127.0.0.1'}", 2);
  assert_int_equal(lines(0), 0); /* it is being connected to */
  snprintf(sharing.why, sizeof sharing.why, "connection refused");
  assert_int_equal(lines(5000), 1);
  assert_int_equal(lines(9000), 0);
  atomic_store(&service.stores_up, 1);
  assert_int_equal(lines(9000), 0); /* the other worker's is down */
  atomic_store(&service.stores_up, 2);
  assert_int_equal(lines(9000), 1);
  atomic_store(&service.stores_up, 0);
  assert_int_equal(lines(9000 + LAJU_SHARING_TELL_MS - 1), 0);
  assert_int_equal(lines(9000 + LAJU_SHARING_TELL_MS), 1);
}

static void another_reason_is_told_after_a_while(void **state) {
  (void)state;
  given("store: {redis: 'redis://127.0.0.1'}", 1);
  snprintf(sharing.why, sizeof sharing.why, "connection refused");
  assert_int_equal(lines(0), 1);
  snprintf(sharing.why, sizeof sharing.why, "WRONGPASS");
  assert_int_equal(lines(LAJU_SHARING_WHY_MS - 1), 0);
  assert_int_equal(lines(LAJU_SHARING_WHY_MS), 1);
  assert_int_equal(lines(2 * LAJU_SHARING_WHY_MS), 0);
}

static void errors_that_answer_checks_are_told_at_once_and_then_every_while(void **state) {
  (void)state;
  given("store: {redis: 'redis://127.0.0.1'}", 1);
  atomic_store(&service.stores_up, 1);
  assert_int_equal(lines(0), 1);
  assert_int_equal(lines(100), 0);
  sharing.refusals = 3;
  snprintf(sharing.refusal, sizeof sharing.refusal, "OOM command not allowed");
  assert_int_equal(lines(200), 1);
  assert_int_equal(lines(300), 0);
  sharing.refusals = 5;
  assert_int_equal(lines(200 + LAJU_SHARING_WHY_MS - 1), 0);
  assert_int_equal(lines(200 + LAJU_SHARING_WHY_MS), 1);
  assert_int_equal(lines(200 + 2 * LAJU_SHARING_WHY_MS), 0);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      CLAIM(without_a_store_there_is_the_table_alone),
      CLAIM(the_way_is_as_the_configuration_says),
      CLAIM(a_store_that_is_not_there_is_told_of_with_the_reason),
      CLAIM(a_certificate_that_cannot_be_read_is_told_of_at_the_start),
      CLAIM(changes_are_told_once_and_not_too_often),
      CLAIM(another_reason_is_told_after_a_while),
      CLAIM(errors_that_answer_checks_are_told_at_once_and_then_every_while),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
