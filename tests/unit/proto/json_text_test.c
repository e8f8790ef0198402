#include "proto/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TEXT(text) ((laju_slice){(text), sizeof(text) - 1})

static void is(laju_buffer *to, const char *expected) {
  assert_false(to->failed);
  assert_int_equal(to->len, strlen(expected));
  assert_memory_equal(to->data, expected, to->len);
  laju_buffer_deinit(to);
  *to = (laju_buffer){0};
}

static void texts_are_quoted_escaped_and_made_utf8(void **state) {
  (void)state;
  laju_buffer to = {0};
  laju_json_add_text(&to, TEXT("a\"\\\n\x7f\xff\xc3\xa9"));
  is(&to, "\"a\\\"\\\\\\u000a\\u007f\\ufffd\xc3\xa9\"");
}

static void commas_stand_between_members_and_between_elements(void **state) {
  (void)state;
  laju_buffer to = {0};
  laju_buffer_add_text(&to, "{");
  laju_json_add_count(&to, "a", 18446744073709551615u);
  laju_json_add_bool(&to, "b", false);
  laju_json_add_word(&to, "c", "x{");
  laju_json_add_name(&to, "d");
  laju_buffer_add_text(&to, "[");
  laju_json_add_element(&to, TEXT("y["));
  laju_json_add_element(&to, TEXT("z"));
  laju_json_begin_element(&to);
  laju_buffer_add_text(&to, "}]}");
  is(&to, "{\"a\":18446744073709551615,\"b\":false,\"c\":\"x{\",\"d\":[\"y[\",\"z\",{}]}");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_are_quoted_escaped_and_made_utf8),
      cmocka_unit_test(commas_stand_between_members_and_between_elements),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
