#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *const fields[] = {"name", "algorithm", "limit", "per", "burst", "cost"};
static const char *const algorithms[] = {"token-bucket", "leaky-bucket", "fixed-window", "sliding-window-counter",
                                         "sliding-window-log"};

static const char *field(const char *word) {
  return laju_nearest(word, strlen(word), fields, 6);
}

static const char *algorithm(const char *word) {
  return laju_nearest(word, strlen(word), algorithms, 5);
}

static void one_letter_wrong_finds_the_word(void **state) {
  (void)state;
  assert_string_equal(field("limt"), "limit");   /* left out */
  assert_string_equal(field("limmit"), "limit"); /* added */
  assert_string_equal(field("limot"), "limit");  /* changed */
  assert_string_equal(field("lmiit"), "limit");  /* swapped */
  assert_string_equal(field("pre"), "per");
}

static void a_longer_word_may_be_further_off(void **state) {
  (void)state;
  assert_string_equal(field("algoritm"), "algorithm");
  assert_string_equal(field("alogrithem"), "algorithm");
  assert_string_equal(algorithm("tocken-bukket"), "token-bucket");
}

static void capitals_and_underscores_are_no_difference(void **state) {
  (void)state;
  assert_string_equal(algorithm("Token_Bucket"), "token-bucket");
  assert_string_equal(algorithm("SLIDING_WINDOW_LOG"), "sliding-window-log");
  assert_string_equal(field("LIMIT"), "limit");
}

static void the_beginning_of_a_word_finds_it(void **state) {
  (void)state;
  assert_string_equal(algorithm("leaky"), "leaky-bucket");
  assert_string_equal(algorithm("fixed"), "fixed-window");
  assert_string_equal(algorithm("sliding-window"), "sliding-window-counter");
  assert_null(algorithm("to"));
}

static void what_is_near_to_nothing_finds_nothing(void **state) {
  (void)state;
  assert_null(field("rate"));
  assert_null(field("window"));
  assert_null(field(""));
  assert_null(field("x"));
  assert_null(algorithm("gcra"));
  static const char *const one[] = {"a"};
  assert_null(laju_nearest("b", 1, one, 1)); /* every letter changed is no likeness */
  assert_null(laju_nearest("limit", 5, fields, 0));
}

static void a_word_too_long_finds_nothing(void **state) {
  (void)state;
  char word[LAJU_NEAREST_WORD_MAX + 2];
  memset(word, 'a', sizeof word);
  word[sizeof word - 1] = '\0';
  const char *const known[] = {word};
  assert_null(laju_nearest(word, LAJU_NEAREST_WORD_MAX + 1, known, 1));
  char fits[LAJU_NEAREST_WORD_MAX + 1];
  memset(fits, 'a', sizeof fits);
  fits[sizeof fits - 1] = '\0';
  const char *const fitting[] = {fits};
  assert_ptr_equal(laju_nearest(word, LAJU_NEAREST_WORD_MAX, fitting, 1), fits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_letter_wrong_finds_the_word),
      cmocka_unit_test(a_longer_word_may_be_further_off),
      cmocka_unit_test(capitals_and_underscores_are_no_difference),
      cmocka_unit_test(the_beginning_of_a_word_finds_it),
      cmocka_unit_test(what_is_near_to_nothing_finds_nothing),
      cmocka_unit_test(a_word_too_long_finds_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
