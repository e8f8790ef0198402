#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/read_full.h"

static int pipe_with(const char *first, const char *second, int *writer) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], first, strlen(first)), strlen(first));
  assert_int_equal(write(ends[1], second, strlen(second)), strlen(second));
  *writer = ends[1];
  return ends[0];
}

static void all_is_read_up_to_the_end_and_the_file_closed(void **state) {
  (void)state;
  int writer, reader = pipe_with("one ", "two", &writer);
  close(writer);
  char text[16];
  assert_int_equal(laju_read_full(reader, text, sizeof text), 7);
  assert_memory_equal(text, "one two", 7);
  assert_int_equal(fcntl(reader, F_GETFD), -1);
}

static void no_more_is_read_than_there_is_room_for(void **state) {
  (void)state;
  int writer, reader = pipe_with("one ", "two", &writer);
  char text[6] = ".....";
  assert_int_equal(laju_read_full(reader, text, 5), 5);
  assert_string_equal(text, "one t");
  close(writer);
}

static void what_cannot_be_read_is_told_by_errno(void **state) {
  (void)state;
  char text[4];
  assert_int_equal(laju_read_full(open("/", O_RDONLY | O_CLOEXEC), text, sizeof text), -1);
  assert_int_equal(errno, EISDIR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_is_read_up_to_the_end_and_the_file_closed),
      cmocka_unit_test(no_more_is_read_than_there_is_room_for),
      cmocka_unit_test(what_cannot_be_read_is_told_by_errno),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
