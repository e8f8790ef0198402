#include "redis/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PATIENCE_NS (10 * UINT64_C(1000000000))
#define SLOW "a-name-whose-server-is-away"

/* ---- a name server that is away: in place of the C library's, for one name ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool away;
static int asking;

int getaddrinfo(const char *restrict host, const char *restrict port, const struct addrinfo *restrict hints,
                struct addrinfo **restrict found) {
  if (strcmp(host, "localhost") == 0) {
    struct addrinfo *one = calloc(1, sizeof *one);
    one->ai_socktype = hints->ai_socktype;
    one->ai_canonname = strdup(port);
    *found = one;
    return 0;
  }
  if (strcmp(host, "broken") == 0) {
    errno = EMFILE;
    return EAI_SYSTEM;
  }
  pthread_mutex_lock(&lock);
  asking++;
  while (away && strcmp(host, SLOW) == 0) pthread_cond_wait(&changed, &lock);
  asking--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return EAI_NONAME;
}

void freeaddrinfo(struct addrinfo *found) {
  free(found->ai_canonname);
  free(found);
}

static void set_away(bool is) {
  pthread_mutex_lock(&lock);
  away = is;
  pthread_cond_broadcast(&changed);
  while (!is && asking > 0) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

/* ---- lookups ---- */

typedef struct seen {
  int done, gone;
  bool found;
  char port[8];
  char why[64];
} seen;

static uv_loop_t loop;

static void on_done(void *context, const struct addrinfo *found, const char *why) {
  seen *s = context;
  assert_int_equal(s->gone, 0);
  s->done++;
  s->found = found != NULL;
  if (found != NULL) snprintf(s->port, sizeof s->port, "%s", found->ai_canonname);
  snprintf(s->why, sizeof s->why, "%s", why != NULL ? why : "");
}

static void on_gone(void *context) {
  ((seen *)context)->gone++;
}

static laju_lookup *start(const char *host, seen *s) {
  static const laju_lookup_events events = {.done = on_done, .gone = on_gone};
  *s = (seen){.done = 0};
  return laju_lookup_start(&loop, host, 6379, &events, s);
}

static void run_until_gone(const seen *s) {
  for (uint64_t began = uv_hrtime(); s->gone == 0 && uv_hrtime() - began < PATIENCE_NS;) uv_run(&loop, UV_RUN_ONCE);
  assert_int_equal(s->gone, 1);
}

static int setup(void **state) {
  (void)state;
  return uv_loop_init(&loop);
}

static int teardown(void **state) {
  (void)state;
  set_away(false);
  return uv_loop_close(&loop);
}

static void addresses_are_told_once_and_then_it_is_gone(void **state) {
  (void)state;
  seen s;
  assert_non_null(start("localhost", &s));
  run_until_gone(&s);
  assert_int_equal(s.done, 1);
  assert_true(s.found);
  assert_string_equal(s.port, "6379");
  assert_string_equal(s.why, "");
}

static void a_name_that_is_none_is_told_in_words(void **state) {
  (void)state;
  seen s;
  assert_non_null(start("nobody", &s));
  run_until_gone(&s);
  assert_int_equal(s.done, 1);
  assert_false(s.found);
  assert_string_equal(s.why, gai_strerror(EAI_NONAME));
  assert_non_null(start("broken", &s));
  run_until_gone(&s);
  assert_string_equal(s.why, strerror(EMFILE));
}

/* The loop has nothing left to wait for, though the thread still asks. */
static void one_that_takes_long_can_be_left(void **state) {
  (void)state;
  seen s;
  set_away(true);
  laju_lookup *lookup = start(SLOW, &s);
  assert_non_null(lookup);
  assert_int_equal(uv_run(&loop, UV_RUN_NOWAIT), 1);
  laju_lookup_cancel(lookup);
  assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(s.done, 0);
  assert_int_equal(s.gone, 1);
}

static void others_are_not_behind_it_but_no_more_than_the_limit(void **state) {
  (void)state;
  static seen slow[LAJU_LOOKUPS_MAX + 1], s;
  static laju_lookup *lookups[LAJU_LOOKUPS_MAX + 1];
  int count = 0;
  set_away(true);
  for (; count < LAJU_LOOKUPS_MAX / 2; count++) assert_non_null(lookups[count] = start(SLOW, &slow[count]));
  assert_non_null(start("localhost", &s));
  run_until_gone(&s);
  assert_true(s.found);

  for (; count <= LAJU_LOOKUPS_MAX; count++) {
    assert_non_null(lookups[count] = start(SLOW, &slow[count]));
    for (int i = 0; i < 3; i++) uv_run(&loop, UV_RUN_NOWAIT);
    if (slow[count].done > 0) break;
  }
  assert_in_range(count, LAJU_LOOKUPS_MAX - 4, LAJU_LOOKUPS_MAX); /* the threads of those before end a moment later */
  assert_string_equal(slow[count].why, "too many names are being looked up");
  while (count-- > 0) laju_lookup_cancel(lookups[count]);
  assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      CLAIM(addresses_are_told_once_and_then_it_is_gone),
      CLAIM(a_name_that_is_none_is_told_in_words),
      CLAIM(one_that_takes_long_can_be_left),
      CLAIM(others_are_not_behind_it_but_no_more_than_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
