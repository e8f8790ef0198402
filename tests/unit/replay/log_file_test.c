#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "replay/access_log.h"
#include "replay/log_file.h"

static char path[] = "/tmp/laju-log-file-XXXXXX";

static int make_path(void **state) {
  (void)state;
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  return close(fd);
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

static void write_plain(const char *bytes, size_t len) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, len, file), len);
  assert_int_equal(fclose(file), 0);
}

static void write_gzip(const char *mode, const char *text) {
  gzFile file = gzopen(path, mode);
  assert_non_null(file);
  assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
  assert_int_equal(gzclose(file), Z_OK);
}

static laju_log_file *open_it(void) {
  laju_log_file *file;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_log_file_open(&file, path, why), 0);
  return file;
}

static void gives(laju_log_file *file, const char *text) {
  char *line;
  size_t len;
  assert_int_equal(laju_log_file_next(file, &line, &len), LAJU_LOG_LINE);
  assert_int_equal(len, strlen(text));
  assert_memory_equal(line, text, len);
}

static void ends(laju_log_file *file) {
  char *line;
  size_t len;
  assert_int_equal(laju_log_file_next(file, &line, &len), LAJU_LOG_END);
  assert_int_equal(laju_log_file_next(file, &line, &len), LAJU_LOG_END);
  laju_log_file_close(file);
}

static void lines_come_one_by_one_and_the_last_needs_no_newline(void **state) {
  (void)state;
  write_plain("one\n\ntwo\r\nlast", 14);
  laju_log_file *file = open_it();
  assert_int_equal(laju_log_file_size(file), 14);
  gives(file, "one");
  gives(file, "");
  gives(file, "two\r");
  gives(file, "last");
  assert_int_equal(laju_log_file_read(file), 14);
  ends(file);
  write_plain("", 0);
  ends(open_it());
}

static void gzip_is_told_by_its_bytes_and_may_have_several_members(void **state) {
  (void)state;
  write_gzip("wb", "one\ntw");
  write_gzip("ab", "o\nlast\n");
  laju_log_file *file = open_it();
  gives(file, "one");
  gives(file, "two");
  gives(file, "last");
  ends(file);
}

static void a_log_larger_than_the_buffer_comes_whole(void **state) {
  (void)state;
  char line[64], *text = malloc(3 * LAJU_LOG_FILE_BUFFER);
  size_t len = 0, count = 0;
  assert_non_null(text);
  for (; len < 2 * LAJU_LOG_FILE_BUFFER + 100; count++) len += (size_t)snprintf(text + len, 32, "line %zu\n", count);
  write_plain(text, len);
  free(text);
  laju_log_file *file = open_it();
  for (size_t i = 0; i < count; i++) {
    snprintf(line, sizeof line, "line %zu", i);
    gives(file, line);
  }
  ends(file);
}

static void a_line_that_is_too_long_is_passed_over(void **state) {
  (void)state;
  size_t longest = LAJU_ACCESS_LINE_MAX, huge = 3 * LAJU_LOG_FILE_BUFFER, len = 0;
  char *text = malloc(longest + 1 + huge + 16), *line;
  assert_non_null(text);
  memset(text, 'a', longest);
  text[longest] = '\n';
  memset(text + longest + 1, 'b', huge);
  memcpy(text + longest + 1 + huge, "\nnext\n", 6);
  write_plain(text, longest + 1 + huge + 6);
  free(text);
  laju_log_file *file = open_it();
  assert_int_equal(laju_log_file_next(file, &line, &len), LAJU_LOG_LINE);
  assert_int_equal(len, longest);
  assert_int_equal(laju_log_file_next(file, &line, &len), LAJU_LOG_LONG);
  assert_true(len > longest && line[0] == 'b');
  gives(file, "next");
  ends(file);
}

static void a_gzip_that_ends_early_gives_what_there_is_and_says_so(void **state) {
  (void)state;
  char *line;
  size_t len;
  write_gzip("wb", "one\ntwo\nthree\nfour\n");
  FILE *whole = fopen(path, "r");
  char bytes[256];
  size_t size = fread(bytes, 1, sizeof bytes, whole);
  fclose(whole);
  write_plain(bytes, size - 9);
  laju_log_file *file = open_it();
  laju_log_step step;
  while ((step = laju_log_file_next(file, &line, &len)) == LAJU_LOG_LINE) continue;
  assert_int_equal(step, LAJU_LOG_BROKEN);
  assert_string_equal(laju_log_file_error(file), "the gzip data ends too early");
  laju_log_file_close(file);
}

static void damaged_gzip_says_so(void **state) {
  (void)state;
  char *line, bytes[256];
  size_t len;
  write_gzip("wb", "one\ntwo\n");
  FILE *whole = fopen(path, "r");
  size_t size = fread(bytes, 1, sizeof bytes, whole);
  fclose(whole);
  bytes[size - 6] ^= 1; /* of the checksum */
  write_plain(bytes, size);
  laju_log_file *file = open_it();
  laju_log_step step;
  while ((step = laju_log_file_next(file, &line, &len)) == LAJU_LOG_LINE) continue;
  assert_int_equal(step, LAJU_LOG_BROKEN);
  assert_string_equal(laju_log_file_error(file), "the gzip data is damaged");
  laju_log_file_close(file);
}

static void what_cannot_be_opened_says_why(void **state) {
  (void)state;
  laju_log_file *file;
  char why[LAJU_TEXT_SIZE];
  assert_int_equal(laju_log_file_open(&file, "/nowhere/access.log", why), LAJU_ERR_SYSTEM);
  assert_string_equal(why, "/nowhere/access.log: No such file or directory");
  assert_int_equal(laju_log_file_open(&file, "/tmp", why), LAJU_ERR_SYSTEM);
  assert_string_equal(why, "/tmp: Is a directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_come_one_by_one_and_the_last_needs_no_newline),
      cmocka_unit_test(gzip_is_told_by_its_bytes_and_may_have_several_members),
      cmocka_unit_test(a_log_larger_than_the_buffer_comes_whole),
      cmocka_unit_test(a_line_that_is_too_long_is_passed_over),
      cmocka_unit_test(a_gzip_that_ends_early_gives_what_there_is_and_says_so),
      cmocka_unit_test(damaged_gzip_says_so),
      cmocka_unit_test(what_cannot_be_opened_says_why),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
