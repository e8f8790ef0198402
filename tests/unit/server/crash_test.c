#include "server/crash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char report[65536];

/* Runs `fault` in a child that has the handlers. Returns the signal that ended it; `report` has its stderr. */
static int crash(void (*fault)(void)) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    laju_crash_stack stack = {0};
    if (laju_crash_init() < 0 || laju_crash_stack_init(&stack) < 0) _exit(1);
    fault();
    _exit(0);
  }
  close(ends[1]);
  size_t len = 0;
  ssize_t got;
  while (len < sizeof report - 1 && (got = read(ends[0], report + len, sizeof report - 1 - len)) > 0)
    len += (size_t)got;
  report[len] = 0;
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static size_t lines_of(const char *text) {
  size_t lines = 0;
  for (; *text != 0; text++) lines += *text == '\n';
  return lines;
}

__attribute__((no_sanitize("undefined"))) static void write_nowhere(void) {
  /* From the environment, so that no compiler sees what will happen. */
  volatile char *nowhere = getenv("LAJU_NO_SUCH_VARIABLE");
  *nowhere = 1;
}

static volatile size_t frames_left = SIZE_MAX;

__attribute__((noinline)) static int sink_into_the_stack(void) {
  volatile char frame[4096];
  frame[0] = 1;
  return frames_left-- > 0 ? sink_into_the_stack() + frame[0] : 0;
}

static void overflow_the_stack(void) {
  sink_into_the_stack();
}

static void a_wild_write_leaves_signal_address_and_stack(void **state) {
  (void)state;
  assert_int_equal(crash(write_nowhere), SIGSEGV);
  assert_non_null(strstr(report, " crashed: SIGSEGV at 0x0\n"));
  assert_non_null(strstr(report, "write_nowhere"));
  assert_true(lines_of(report) > 3);
}

static void an_abort_leaves_its_stack(void **state) {
  (void)state;
  assert_int_equal(crash(abort), SIGABRT);
  assert_non_null(strstr(report, " crashed: SIGABRT\n"));
  assert_true(lines_of(report) > 3);
}

static void a_stack_that_overflowed_is_told_of_too(void **state) {
  (void)state;
  assert_int_equal(crash(overflow_the_stack), SIGSEGV);
  assert_non_null(strstr(report, " crashed: SIGSEGV at 0x"));
  assert_true(lines_of(report) > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wild_write_leaves_signal_address_and_stack),
      cmocka_unit_test(an_abort_leaves_its_stack),
      cmocka_unit_test(a_stack_that_overflowed_is_told_of_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
