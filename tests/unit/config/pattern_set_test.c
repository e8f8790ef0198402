#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "config/pattern_set.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static laju_pattern pattern_of(const char *text) {
  char *copy = strdup(text);
  assert_non_null(copy);
  return (laju_pattern){.text = copy, .len = strlen(text), .literal = strchr(text, '*') == NULL};
}

static laju_pattern *patterns;
static size_t count;
static laju_pattern_set *set;

static void given(const char *const *texts, size_t n) {
  patterns = calloc(n + 1, sizeof *patterns);
  assert_non_null(patterns);
  for (count = 0; count < n; count++) patterns[count] = pattern_of(texts[count]);
  assert_int_equal(laju_pattern_set_new(&set, patterns, sizeof *patterns, n), 0);
}

static void done(void) {
  laju_pattern_set_free(set);
  for (size_t i = 0; i < count; i++) free(patterns[i].text);
  free(patterns);
}

static size_t find(const char *text) {
  return laju_pattern_set_find(set, text, strlen(text));
}

/* What the set promises, without it. */
static size_t find_one_by_one(const char *text, size_t len) {
  for (size_t i = 0; i < count; i++) {
    if (patterns[i].literal && laju_pattern_takes(&patterns[i], text, len)) return i;
  }
  for (size_t i = 0; i < count; i++) {
    if (laju_pattern_takes(&patterns[i], text, len)) return i;
  }
  return LAJU_PATTERN_NONE;
}

static void the_very_text_comes_before_any_pattern(void **unused) {
  (void)unused;
  given((const char *[]){"*", "team-*", "team-7", "team-7"}, 4);
  assert_int_equal(find("team-7"), 2);
  assert_int_equal(find("team-8"), 0);
  done();
}

static void the_first_pattern_wins_wherever_its_stars_are(void **unused) {
  (void)unused;
  given((const char *[]){"*-eu-west", "team-*", "*m-*", "*", "a*b*c", "team-1*"}, 6);
  assert_int_equal(find("team-eu-west"), 0);
  assert_int_equal(find("team-1"), 1);
  assert_int_equal(find("xm-"), 2);
  assert_int_equal(find(""), 3);
  assert_int_equal(find("abc"), 3);
  done();
}

static void what_no_pattern_takes_is_not_found(void **unused) {
  (void)unused;
  given((const char *[]){"a*", "*z", "*mm*", "exact"}, 4);
  assert_true(find("b") == LAJU_PATTERN_NONE);
  assert_true(find("exactly") == LAJU_PATTERN_NONE);
  assert_true(find("") == LAJU_PATTERN_NONE);
  assert_true(find("m") == LAJU_PATTERN_NONE);
  done();
  given(NULL, 0);
  assert_true(find("a") == LAJU_PATTERN_NONE);
  done();
}

static void ends_that_overlap_take_nothing_twice(void **unused) {
  (void)unused;
  given((const char *[]){"abc*cde"}, 1);
  assert_true(find("abcde") == LAJU_PATTERN_NONE);
  assert_int_equal(find("abccde"), 0);
  done();
}

static void texts_longer_than_any_pattern_are_searched_too(void **unused) {
  (void)unused;
  char longest[LAJU_PATTERN_MAX + 1], text[3 * LAJU_PATTERN_MAX];
  memset(longest, 'a', sizeof longest);
  longest[LAJU_PATTERN_MAX - 1] = '*';
  longest[LAJU_PATTERN_MAX] = '\0';
  given((const char *[]){longest, "*b"}, 2);
  memset(text, 'a', sizeof text);
  assert_int_equal(laju_pattern_set_find(set, text, sizeof text), 0);
  assert_int_equal(laju_pattern_set_find(set, text, LAJU_PATTERN_MAX - 1), 0);
  assert_true(laju_pattern_set_find(set, text, LAJU_PATTERN_MAX - 2) == LAJU_PATTERN_NONE);
  text[0] = 'b';
  text[sizeof text - 1] = 'b';
  assert_int_equal(laju_pattern_set_find(set, text, sizeof text), 1);
  done();
}

static void only_what_ends_cannot_tell_apart_is_tried_one_by_one(void **unused) {
  (void)unused;
  given((const char *[]){"a*", "b*", "*c", "k", "k", "k", "longer-*"}, 7);
  assert_int_equal(laju_pattern_set_crowd(set), 1);
  done();
  given((const char *[]){"*a*", "*b*", "c*1*", "c*2*", "c*3*", "d*"}, 6);
  assert_int_equal(laju_pattern_set_crowd(set), 5);
  done();
  given(NULL, 0);
  assert_int_equal(laju_pattern_set_crowd(set), 0);
  done();
}

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 16;
}

static void random_text(uint32_t *random, const char *letters, char text[9]) {
  size_t len = next_random(random) % 8, kinds = strlen(letters);
  for (size_t i = 0; i < len; i++) text[i] = letters[next_random(random) % kinds];
  text[len] = '\0';
}

static void it_finds_what_trying_one_by_one_finds(void **unused) {
  (void)unused;
  uint32_t random = 7;
  for (int round = 0; round < 300; round++) {
    char texts[40][9];
    const char *all[40];
    for (size_t i = 0; i < COUNT(all); i++) {
      random_text(&random, round % 2 == 0 ? "ab*" : "abc**", texts[i]);
      all[i] = texts[i];
    }
    given(all, COUNT(all));
    for (int probe = 0; probe < 300; probe++) {
      char text[9];
      random_text(&random, "abc", text);
      assert_true(find(text) == find_one_by_one(text, strlen(text)));
    }
    done();
  }
}

/* Processor time: how long others kept it waiting does not count. */
static double took_s(const char *before, const char *after, const char *text, size_t len) {
  enum { MANY = 10000, TIMES = 100 };
  static char texts[MANY][64];
  static const char *all[MANY];
  for (int i = 0; i < MANY; i++) {
    snprintf(texts[i], sizeof texts[i], "%s%d%s", before, i, after);
    all[i] = texts[i];
  }
  given(all, MANY);
  struct timespec start, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
  for (int i = 0; i < TIMES; i++) laju_pattern_set_find(set, text, len);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  done();
  return ((double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9) / TIMES;
}

/* Trying them one by one takes 50 to 50,000 times as long as these bounds, which are 100 times what is promised. */
static void ten_thousand_patterns_cost_little_more_than_one(void **unused) {
  (void)unused;
  char worst[LAJU_PATTERN_MAX];
  memset(worst, 'a', sizeof worst);
  assert_true(took_s("team-", "-*", "team-9999-x", 11) < 100e-6);
  assert_true(took_s("*-", ".example.com", "x-9999.example.com", 18) < 100e-6);
  assert_true(took_s("*aaaaaaaaaaaaaaab", "", worst, sizeof worst) < 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_very_text_comes_before_any_pattern),
      cmocka_unit_test(the_first_pattern_wins_wherever_its_stars_are),
      cmocka_unit_test(what_no_pattern_takes_is_not_found),
      cmocka_unit_test(ends_that_overlap_take_nothing_twice),
      cmocka_unit_test(texts_longer_than_any_pattern_are_searched_too),
      cmocka_unit_test(only_what_ends_cannot_tell_apart_is_tried_one_by_one),
      cmocka_unit_test(it_finds_what_trying_one_by_one_finds),
      cmocka_unit_test(ten_thousand_patterns_cost_little_more_than_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
