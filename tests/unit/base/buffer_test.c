#include "base/buffer.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_bytes(const laju_buffer *buffer, const char *text) {
  assert_int_equal(buffer->len, strlen(text));
  assert_memory_equal(buffer->data, text, buffer->len);
}

static void what_is_added_stands_in_order(void **state) {
  (void)state;
  laju_buffer buffer = {0};
  laju_buffer_add_text(&buffer, "limit=");
  laju_buffer_add_int(&buffer, 10);
  laju_buffer_add(&buffer, "\r\n", 2);
  laju_buffer_add_format(&buffer, "%s is %d", "retry", -1);
  laju_buffer_add(&buffer, "", 0);
  expect_bytes(&buffer, "limit=10\r\nretry is -1");
  laju_buffer_deinit(&buffer);
  assert_null(buffer.data);
}

static void it_grows_over_any_length(void **state) {
  (void)state;
  laju_buffer buffer = {0};
  for (int i = 0; i < 10000; i++) laju_buffer_add_text(&buffer, "0123456789");
  assert_int_equal(buffer.len, 100000);
  assert_memory_equal(buffer.data + 99990, "0123456789", 10);
  assert_false(buffer.failed);
  laju_buffer_deinit(&buffer);
}

static void cleared_it_keeps_its_memory(void **state) {
  (void)state;
  laju_buffer buffer = {0};
  laju_buffer_add_text(&buffer, "a reply");
  char *data = buffer.data;
  laju_buffer_clear(&buffer);
  assert_int_equal(buffer.len, 0);
  laju_buffer_add_text(&buffer, "another");
  assert_ptr_equal(buffer.data, data);
  expect_bytes(&buffer, "another");
  laju_buffer_deinit(&buffer);
}

static void a_length_that_cannot_be_had_is_remembered(void **state) {
  (void)state;
  laju_buffer buffer = {0};
  laju_buffer_add_text(&buffer, "begun");
  assert_null(laju_buffer_reserve(&buffer, SIZE_MAX - 2));
  assert_true(buffer.failed);
  laju_buffer_add_text(&buffer, " and lost");
  expect_bytes(&buffer, "begun");
  laju_buffer_clear(&buffer);
  laju_buffer_add_text(&buffer, "anew");
  assert_false(buffer.failed);
  expect_bytes(&buffer, "anew");
  laju_buffer_deinit(&buffer);
}

static void expect_decimal(int64_t value) {
  char got[20], want[32];
  size_t len = laju_decimal(got, value);
  assert_int_equal(len, snprintf(want, sizeof want, "%lld", (long long)value));
  assert_memory_equal(got, want, len);
}

static void decimals_are_those_of_printf(void **state) {
  (void)state;
  expect_decimal(INT64_MIN);
  expect_decimal(INT64_MAX);
  for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
    for (int64_t value = power - 1; value <= power + 1; value++) {
      expect_decimal(value);
      expect_decimal(-value);
    }
  }
  for (int64_t value = 0; value < 20000; value++) expect_decimal(value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_added_stands_in_order), cmocka_unit_test(it_grows_over_any_length),
      cmocka_unit_test(cleared_it_keeps_its_memory),   cmocka_unit_test(a_length_that_cannot_be_had_is_remembered),
      cmocka_unit_test(decimals_are_those_of_printf),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
