#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "config/setting_log.h"

static laju_config config;
static char why[LAJU_TEXT_SIZE];

static int sample(const char *text) {
  return laju_log_set_sample(&config, text, strlen(text), why);
}

static void a_sample_is_a_percentage_down_to_a_millionth(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t of_a_million;
  } good[] = {{"1%", 10000},     {"100%", 1000000},  {"0.0001%", 1},      {"0.5%", 5000},
              {"12.5%", 125000}, {"1.0000%", 10000}, {"99.9999%", 999999}};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    assert_int_equal(sample(good[i].text), 0);
    assert_int_equal(config.log.sample, good[i].of_a_million);
  }
}

static void what_is_no_such_percentage_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",    "1",   "%",   "0%",     "0.00001%", "100.0001%", "101%",
                                    "-1%", ".5%", "5.%", "1.2.3%", "1 %",      "1e2%",      "99999999999999999999%"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(sample(bad[i]), -1);
  assert_non_null(strstr(why, "allowed: 0.0001% to 100%"));
}

static void words_are_chosen(void **state) {
  (void)state;
  assert_int_equal(laju_log_set_decisions(&config, "denied", 6, why), 0);
  assert_int_equal(config.log.decisions, LAJU_LOG_DENIED);
  assert_int_equal(laju_log_set_decisions(&config, "off", 3, why), 0);
  assert_int_equal(config.log.decisions, LAJU_LOG_NOTHING);
  assert_int_equal(laju_log_set_format_text(&config, "json", 4, why), 0);
  assert_true(config.log.json);
  assert_int_equal(laju_log_set_format_text(&config, "jsn", 3, why), -1);
  assert_non_null(strstr(why, "did you mean \"json\"?"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sample_is_a_percentage_down_to_a_millionth),
      cmocka_unit_test(what_is_no_such_percentage_is_refused),
      cmocka_unit_test(words_are_chosen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
