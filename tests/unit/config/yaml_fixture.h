/* What the reader's tests share: one configuration, and the claim that a text is accepted. */
#ifndef TESTS_UNIT_CONFIG_YAML_FIXTURE_H
#define TESTS_UNIT_CONFIG_YAML_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

static laju_config config;

static int init(void **state) {
  (void)state;
  laju_config_init(&config);
  return 0;
}

static int deinit(void **state) {
  (void)state;
  laju_config_deinit(&config);
  return 0;
}

static void accepted(const char *text) {
  char why[LAJU_WHY_SIZE] = "";
  int error = laju_config_parse(&config, "laju.yaml", text, strlen(text), why);
  assert_string_equal(why, "");
  assert_int_equal(error, 0);
}

#endif
