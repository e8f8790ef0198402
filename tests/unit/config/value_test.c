#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/value.h"

static char why[LAJU_TEXT_SIZE];

static int64_t count(const char *text, uint64_t max) {
  uint64_t value = 77;
  int error = laju_value_count(text, strlen(text), max, "this", &value, why);
  if (error < 0) assert_int_equal(value, 77);
  return error < 0 ? -1 : (int64_t)value;
}

static void counts_are_digits_within_their_range(void **state) {
  (void)state;
  assert_int_equal(count("0", 9), 0);
  assert_int_equal(count("9", 9), 9);
  assert_int_equal(count("4294967295", UINT32_MAX), UINT32_MAX);
  assert_int_equal(count("10", 9), -1);
  assert_string_equal(why, "\"10\" is out of range; allowed: this");
  assert_int_equal(count("18446744073709551616", UINT32_MAX), -1);
  assert_string_equal(why, "\"18446744073709551616\" is out of range; allowed: this");
  assert_int_equal(count("", 9), -1);
  assert_int_equal(count("+1", 9), -1);
  assert_int_equal(count("-1", 9), -1);
  assert_int_equal(count("1 ", 9), -1);
  assert_int_equal(count("0x1", 9), -1);
  assert_string_equal(why, "\"0x1\" is not a whole number; allowed: this");
  assert_int_equal(count("01", 9), -1);
  assert_string_equal(why, "\"01\" has a leading zero; allowed: this");
}

/* The guess in a refusal, or "" where it makes none. */
static const char *guess(void) {
  static char text[LAJU_TEXT_SIZE];
  const char *start = strstr(why, "did you mean \"");
  if (start == NULL) return "";
  strncpy(text, start + strlen("did you mean \""), sizeof text - 1);
  *strchr(text, '"') = '\0';
  return text;
}

static const char *duration_guess(const char *text) {
  int64_t us;
  assert_int_equal(laju_value_duration(text, strlen(text), 0, INT64_MAX, "any", &us, why), -1);
  return guess();
}

static const char *size_guess(const char *text) {
  uint64_t bytes;
  assert_int_equal(laju_value_size(text, strlen(text), 0, UINT64_MAX, "any", &bytes, why), -1);
  return guess();
}

static void a_mistyped_duration_is_guessed(void **state) {
  (void)state;
  assert_string_equal(duration_guess("60"), "60s");
  assert_string_equal(duration_guess("1min"), "1m");
  assert_string_equal(duration_guess("1minute"), "1m");
  assert_string_equal(duration_guess("15minutes"), "15m");
  assert_string_equal(duration_guess("2 hours"), "2h");
  assert_string_equal(duration_guess("5sec"), "5s");
  assert_string_equal(duration_guess("5S"), "5s");
  assert_string_equal(duration_guess("3 d"), "3d");
  assert_string_equal(duration_guess("100 ms"), "100ms");
  assert_string_equal(duration_guess("m"), "1m");
  assert_string_equal(duration_guess("ms"), "1ms");
}

static void what_nobody_can_guess_is_not_guessed(void **state) {
  (void)state;
  assert_string_equal(duration_guess(""), "");
  assert_string_equal(duration_guess("soon"), "");
  assert_string_equal(duration_guess("-5s"), "");
  assert_string_equal(duration_guess("1month"), "");
  assert_string_equal(duration_guess("1h30m"), "90m");
  assert_string_equal(duration_guess("1h30"), "");
  assert_string_equal(duration_guess("9999999999999999999"), "");
  assert_string_equal(size_guess("much"), "");
  assert_string_equal(size_guess(""), "");
  assert_string_equal(size_guess("1.5GiB"), "");
}

static void a_mistyped_size_is_guessed(void **state) {
  (void)state;
  assert_string_equal(size_guess("256"), "256MiB");
  assert_string_equal(size_guess("268435456"), "268435456B");
  assert_string_equal(size_guess("256MB"), "256MiB");
  assert_string_equal(size_guess("256m"), "256MiB");
  assert_string_equal(size_guess("1g"), "1GiB");
  assert_string_equal(size_guess("1Gi"), "1GiB");
  assert_string_equal(size_guess("64k"), "64KiB");
}

static void ranges_have_both_ends(void **state) {
  (void)state;
  int64_t us;
  assert_int_equal(laju_value_duration("1ms", 3, 1000, 2000, "x", &us, why), 0);
  assert_int_equal(us, 1000);
  assert_int_equal(laju_value_duration("2ms", 3, 1000, 2000, "x", &us, why), 0);
  assert_int_equal(laju_value_duration("999us", 5, 1000, 2000, "x", &us, why), -1);
  assert_int_equal(laju_value_duration("2001us", 6, 1000, 2000, "x", &us, why), -1);
  assert_string_equal(why, "\"2001us\" is out of range; allowed: x");
}

static void only_true_and_false_are_truth(void **state) {
  (void)state;
  bool value = false;
  assert_int_equal(laju_value_bool("true", 4, &value, why), 0);
  assert_true(value);
  assert_int_equal(laju_value_bool("false", 5, &value, why), 0);
  assert_false(value);
  assert_int_equal(laju_value_bool("True", 4, &value, why), -1);
  assert_string_equal(guess(), "true");
  assert_int_equal(laju_value_bool("off", 3, &value, why), -1);
  assert_string_equal(guess(), "false");
  assert_int_equal(laju_value_bool("maybe", 5, &value, why), -1);
  assert_string_equal(why, "\"maybe\" is neither; allowed: true or false");
}

static void text_is_bounded_and_printable(void **state) {
  (void)state;
  char to[5] = "";
  assert_int_equal(laju_value_text("four", 4, 1, 4, to, why), 0);
  assert_string_equal(to, "four");
  assert_int_equal(laju_value_text("fives", 5, 1, 4, to, why), -1);
  assert_string_equal(why, "is too long; allowed: 1 to 4 bytes, no control characters");
  assert_int_equal(laju_value_text("", 0, 1, 4, to, why), -1);
  assert_int_equal(laju_value_text("a\0b", 3, 1, 4, to, why), -1);
  assert_int_equal(laju_value_text("a\x7f", 2, 1, 4, to, why), -1);
  assert_int_equal(laju_value_text("\xc3\xa9", 2, 1, 4, to, why), 0);
}

static void a_complaint_always_fits(void **state) {
  (void)state;
  char longest[400];
  memset(longest, 'w', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(laju_complain(why, longest, sizeof longest - 1, longest, longest, longest), -1);
  assert_int_equal(strlen(why), LAJU_TEXT_SIZE - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_digits_within_their_range),
      cmocka_unit_test(a_mistyped_duration_is_guessed),
      cmocka_unit_test(what_nobody_can_guess_is_not_guessed),
      cmocka_unit_test(a_mistyped_size_is_guessed),
      cmocka_unit_test(ranges_have_both_ends),
      cmocka_unit_test(only_true_and_false_are_truth),
      cmocka_unit_test(text_is_bounded_and_printable),
      cmocka_unit_test(a_complaint_always_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
