/* A small run and its report, for tests of how it is told. */
#ifndef LAJU_TESTS_REPORTED_H
#define LAJU_TESTS_REPORTED_H

#include "replay/report.h"

#define AT INT64_C(1791640536000000) /* 2026-10-10T13:55:36Z */

static laju_replay *replay;
static laju_report report;
static const char *const files[] = {"access.log"};

static inline void begin(const char *yaml) {
  laju_config config;
  char why[LAJU_WHY_SIZE];
  laju_config_init(&config);
  if (laju_config_parse(&config, "test", yaml, strlen(yaml), why) < 0) fail_msg("%s", why);
  assert_int_equal(laju_replay_new(&replay, &config, NULL, true), 0);
  laju_config_deinit(&config);
  report = (laju_report){.rules = laju_replay_rules(replay),
                         .tally = laju_replay_tally_of(replay),
                         .files = files,
                         .file_count = 1,
                         .top = 10};
}

static inline void ask(const char *address, int64_t time_us, const char *target) {
  static laju_access access;
  access = (laju_access){.time_us = time_us, .addressed = true, .method = {"GET", 3}, .host = {"", 0}};
  access.target = (laju_slice){target, strlen(target)};
  assert_int_equal(laju_ip_parse(address, strlen(address), &access.client), 0);
  assert_true(laju_replay_add(replay, &access));
  report.lines++;
}

static inline void finish(void) {
  laju_replay_free(replay);
}

#endif
