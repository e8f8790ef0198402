#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[LAJU_LOG_LINE_MAX + 1];
static laju_log_format format;

static const char *line_of(const char *message, const char *name, const char *value) {
  size_t len = laju_log_line(text, format, INT64_C(1767225599123456), LAJU_LOG_WARN, message, &name, &value, 1);
  text[len] = 0;
  return text;
}

static void a_line_tells_time_level_message_and_pairs(void **state) {
  (void)state;
  assert_string_equal(line_of("listening", "http", "http://127.0.0.1:8080"),
                      "time=2025-12-31T23:59:59.123Z level=warn msg=listening http=http://127.0.0.1:8080\n");
}

static void what_is_not_plain_is_quoted(void **state) {
  (void)state;
  assert_non_null(
      strstr(line_of("cannot bind", "why", "say \"no\" = \\"), " msg=\"cannot bind\" why=\"say \\\"no\\\" = \\\\\"\n"));
  assert_non_null(strstr(line_of("m", "path", ""), " path=\"\"\n"));
}

static void a_newline_cannot_forge_a_line(void **state) {
  (void)state;
  const char *line = line_of("m", "path", "a\nlevel=error\x01\x7f");
  assert_non_null(strstr(line, " path=\"a\\nlevel=error\\x01\\x7f\"\n"));
  assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void a_long_line_is_cut_and_still_ends(void **state) {
  (void)state;
  static char value[2 * LAJU_LOG_LINE_MAX];
  memset(value, 'x', sizeof value - 1);
  const char *line = line_of("m", "v", value);
  size_t len = strlen(line);
  assert_in_range(len, LAJU_LOG_LINE_MAX - 16, LAJU_LOG_LINE_MAX);
  assert_int_equal(line[len - 1], '\n');
}

static void as_json_all_are_strings(void **state) {
  (void)state;
  format = LAJU_LOG_JSON;
  assert_string_equal(line_of("say \"no\"", "why", "a\n\x01\xc3\xa9\xff\\"),
                      "{\"time\":\"2025-12-31T23:59:59.123Z\",\"level\":\"warn\",\"msg\":\"say \\\"no\\\"\","
                      "\"why\":\"a\\n\\u0001\xc3\xa9\\ufffd\\\\\"}\n");
  format = LAJU_LOG_LOGFMT;
}

static void json_that_is_cut_is_json_all_the_same(void **state) {
  (void)state;
  static char value[2 * LAJU_LOG_LINE_MAX];
  format = LAJU_LOG_JSON;
  for (size_t i = 0; i + 4 < sizeof value; i += 4) memcpy(value + i, "\xc3\xa9\x01\"", 4);
  for (size_t skip = 0; skip < 4; skip++) {
    const char *line = line_of("m", "v", value + skip);
    size_t len = strlen(line);
    assert_in_range(len, LAJU_LOG_LINE_MAX - 24, LAJU_LOG_LINE_MAX);
    assert_string_equal(line + len - 3, "\"}\n");
    assert_int_not_equal(line[len - 4], '\\');
  }
  format = LAJU_LOG_LOGFMT;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_tells_time_level_message_and_pairs),
      cmocka_unit_test(what_is_not_plain_is_quoted),
      cmocka_unit_test(a_newline_cannot_forge_a_line),
      cmocka_unit_test(a_long_line_is_cut_and_still_ends),
      cmocka_unit_test(as_json_all_are_strings),
      cmocka_unit_test(json_that_is_cut_is_json_all_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
