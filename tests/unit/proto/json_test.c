#include "proto/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Reads a document to its end in memory of exactly its size; LAJU_JSON_END, or LAJU_JSON_ERROR with `why`. */
static laju_json_kind read_all(const char *text, size_t len, const char **why) {
  char *bytes = malloc(len + (len == 0));
  memcpy(bytes, text, len);
  laju_json json;
  laju_json_init(&json, bytes, len);
  laju_json_kind kind;
  do {
    kind = laju_json_next(&json);
  } while (kind != LAJU_JSON_END && kind != LAJU_JSON_ERROR);
  *why = json.error;
  if (kind == LAJU_JSON_ERROR) assert_int_equal(laju_json_next(&json), LAJU_JSON_ERROR); /* it stays refused */
  free(bytes);
  return kind;
}

static void takes(const char *text) {
  const char *why;
  if (read_all(text, strlen(text), &why) != LAJU_JSON_END) fail_msg("%s is refused: %s", text, why);
}

static void refuses(const char *text, const char *expected) {
  const char *why = "nothing";
  if (read_all(text, strlen(text), &why) != LAJU_JSON_ERROR) fail_msg("%s is taken", text);
  assert_string_equal(why, expected);
}

/* The one string in an array. */
static void unescapes(const char *text, const char *expected) {
  char bytes[256];
  size_t len = strlen(text);
  memcpy(bytes, text, len);
  laju_json json;
  laju_json_init(&json, bytes, len);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_ARRAY);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_STRING);
  assert_int_equal(json.text_len, strlen(expected));
  assert_memory_equal(json.text, expected, strlen(expected));
  assert_int_equal(laju_json_next(&json), LAJU_JSON_ARRAY_END);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_END);
}

static void tokens_come_in_order(void **state) {
  (void)state;
  char bytes[] = " { \"a\" : [ 1 , -2.5e1 , true , false , null ] , \"b\" : \"c\" } ";
  laju_json json;
  laju_json_init(&json, bytes, sizeof bytes - 1);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_OBJECT);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_NAME);
  assert_memory_equal(json.text, "a", 1);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_ARRAY);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_INTEGER);
  assert_int_equal(json.integer, 1);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_REAL);
  assert_int_equal(json.text_len, 6);
  assert_memory_equal(json.text, "-2.5e1", 6);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_TRUE);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_FALSE);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_NULL);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_ARRAY_END);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_NAME);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_STRING);
  assert_memory_equal(json.text, "c", 1);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_OBJECT_END);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_END);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_END);
}

static void structure_is_checked(void **state) {
  (void)state;
  takes("[]");
  takes("{}");
  takes("[{},[[]],{\"\":{}}]");
  refuses("", "the text ends too early");
  refuses("   ", "the text ends too early");
  refuses("1", "an object or an array is missing");
  refuses("\"a\"", "an object or an array is missing");
  refuses("[", "the text ends too early");
  refuses("[1", "the text ends too early");
  refuses("[1,", "the text ends too early");
  refuses("[1,]", "a value is missing");
  refuses("[,1]", "a value is missing");
  refuses("[1 2]", "a comma or the end is missing");
  refuses("[1}", "a comma or the end is missing");
  refuses("{\"a\":1]", "a comma or the end is missing");
  refuses("{\"a\" 1}", "a colon is missing");
  refuses("{\"a\"", "a colon is missing");
  refuses("{\"a\":}", "a value is missing");
  refuses("{a:1}", "a member's name is missing");
  refuses("{\"a\":1,}", "a member's name is missing");
  refuses("[] []", "something follows the document");
  refuses("\xef\xbb\xbf[]", "an object or an array is missing");
  refuses("[tru]", "a word that JSON does not have");
  refuses("[truex]", "a comma or the end is missing");
  refuses("[NaN]", "a value is missing");
  refuses("[1]\f", "something follows the document");
}

static void eight_deep_is_taken_and_nine_refused(void **state) {
  (void)state;
  takes("[[[[[[[[]]]]]]]]");
  refuses("[[[[[[[[[]]]]]]]]]", "nested deeper than 8");
  refuses("[[[[[[[[{}]]]]]]]]", "nested deeper than 8");
  takes("[[[[[[[[]]]]]]],[[[[[[[]]]]]]]]");
}

static void strings_are_unescaped(void **state) {
  (void)state;
  unescapes("[\"\"]", "");
  unescapes("[\"plain\"]", "plain");
  unescapes("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "\"\\/\b\f\n\r\t");
  unescapes("[\"a\\u0041b\\u00e9\\u20AC\\ud83d\\uDE00z\"]", "aAb\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
  unescapes("[\"\xc3\xa9\\n\xf0\x9f\x98\x80\"]", "\xc3\xa9\n\xf0\x9f\x98\x80");
}

static void strings_that_are_none_are_refused(void **state) {
  (void)state;
  refuses("[\"a", "a string that does not end");
  refuses("[\"a\\", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\x\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\u12g4\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\u0000\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\ud800\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\ud800\\u0041\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"\\udc00\"]", "an escape that JSON does not have, or half of a surrogate pair");
  refuses("[\"a\tb\"]", "a control character in a string");
  refuses("[\"\x80\"]", "bytes that are not UTF-8");
  refuses("[\"\xc0\x80\"]", "bytes that are not UTF-8");         /* longer than need be */
  refuses("[\"\xe0\x9f\xbf\"]", "bytes that are not UTF-8");     /* longer than need be */
  refuses("[\"\xed\xa0\x80\"]", "bytes that are not UTF-8");     /* a surrogate */
  refuses("[\"\xf4\x90\x80\x80\"]", "bytes that are not UTF-8"); /* above U+10FFFF */
  refuses("[\"\xe2\x82\"]", "bytes that are not UTF-8");
}

static void a_zero_byte_is_refused_but_where_jansson_takes_it(void **state) {
  (void)state;
  const char *why;
  assert_int_equal(read_all("[\"a\0b\"]", 7, &why), LAJU_JSON_ERROR);
  assert_int_equal(read_all("[\"\\\0\"]", 6, &why), LAJU_JSON_ERROR);
  assert_int_equal(read_all("[]\0", 3, &why), LAJU_JSON_ERROR);
  assert_int_equal(read_all("[1\0]", 4, &why), LAJU_JSON_END);
  assert_int_equal(read_all("[null\0,1.5\0]", 12, &why), LAJU_JSON_END);
  assert_int_equal(read_all("[1\0\0]", 5, &why), LAJU_JSON_ERROR);
  assert_int_equal(read_all("[\"a\"\0]", 6, &why), LAJU_JSON_ERROR);
}

static int64_t integer_of(const char *text) {
  char bytes[64];
  size_t len = strlen(text);
  memcpy(bytes, text, len);
  laju_json json;
  laju_json_init(&json, bytes, len);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_ARRAY);
  assert_int_equal(laju_json_next(&json), LAJU_JSON_INTEGER);
  return json.integer;
}

static void integers_reach_as_far_as_int64(void **state) {
  (void)state;
  assert_true(integer_of("[9223372036854775807]") == INT64_MAX);
  assert_true(integer_of("[-9223372036854775808]") == INT64_MIN);
  assert_true(integer_of("[-0]") == 0);
  refuses("[9223372036854775808]", "a whole number that is too large");
  refuses("[-9223372036854775809]", "a whole number that is too large");
  refuses("[18446744073709551617]", "a whole number that is too large");
  refuses("[99999999999999999999999999]", "a whole number that is too large");
  refuses("[01]", "a number that begins with 0");
  refuses("[-]", "a number without digits");
  refuses("[+1]", "a value is missing");
  refuses("[.5]", "a value is missing");
  refuses("[1.]", "a number without digits behind its point");
  refuses("[1e]", "a number without digits in its exponent");
  refuses("[1e+]", "a number without digits in its exponent");
}

static void reals_reach_as_far_as_a_double(void **state) {
  (void)state;
  takes("[1.7976931348623157e308, -1.7976931348623157e308, 0.0, -0e999999999999999999999, 1e-999999999]");
  takes("[1.797693134862315807e308]"); /* below halfway to the next: rounds down */
  takes("[0.00017976931348623157e312]");
  refuses("[1.797693134862315808e308]", "a number that is too large");
  refuses("[-1e309]", "a number that is too large");
  refuses("[17976931348623158079372897140530e278]", "a number that is too large");
  refuses("[1e99999999999999999999999999999]", "a number that is too large");
  refuses("[0.0000000001e319]", "a number that is too large");
  takes("[0.0000000001e318]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tokens_come_in_order),
      cmocka_unit_test(structure_is_checked),
      cmocka_unit_test(eight_deep_is_taken_and_nine_refused),
      cmocka_unit_test(strings_are_unescaped),
      cmocka_unit_test(strings_that_are_none_are_refused),
      cmocka_unit_test(a_zero_byte_is_refused_but_where_jansson_takes_it),
      cmocka_unit_test(integers_reach_as_far_as_int64),
      cmocka_unit_test(reals_reach_as_far_as_a_double),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
