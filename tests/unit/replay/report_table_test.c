#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/printed.h"
#include "replay/reported.h"

static void prints(size_t width, const char *text) {
  laju_replay_finish(replay);
  laju_report_print(&report, width, &printed);
  printed_is(text);
}

static void what_was_refused_by_whom_and_when(void **state) {
  (void)state;
  begin(
      "memory: 1MiB\nrules:\n- {name: r, algorithm: token-bucket, limit: 1, per: 1m, burst: 2, cost: 2}\n"
      "- {name: watch, match: {path: /w}, limit: 0, per: 1h, shadow: true}\n- {name: idle, match: none, limit: 5, per: 1s}\n");
  for (int i = 0; i < 3; i++) ask("192.0.2.1", AT + i * 1000, "/");
  ask("2001:db8::1", AT + 5000000, "/w");
  prints(0,
         "4 lines, 4 requests from 2026-10-10T13:55:36Z to 2026-10-10T13:55:41Z\n"
         "admitted 2 (50.00%), refused 2 (50.00%)\n"
         "\n"
         "RULE   LIMIT                             CHECKS  ADMITTED  REFUSED    SHARE  KEYS REFUSED  FIRST REFUSED\n"
         "r      1/1m token-bucket burst 2 cost 2       4         2        2   50.00%             1  "
         "2026-10-10T13:55:36.001Z\n"
         "watch  0/1h (shadow)                          1         0        1  100.00%             1  "
         "2026-10-10T13:55:41Z\n"
         "1 rule decided nothing\n"
         "\n"
         "REFUSED MOST  KEY            REFUSED  FIRST\n"
         "r             192.0.2.1            2  2026-10-10T13:55:36.001Z\n"
         "watch         2001:db8::/64        1  2026-10-10T13:55:41Z\n"
         "\n"
         "worst second: 2026-10-10T13:55:36Z, admitted 1, refused 2\n");
  finish();
}

static void what_was_odd_is_remarked(void **state) {
  (void)state;
  begin("memory: 1MiB\nrules:\n- {name: r, match: {path: /r}, key: header:x, missing: deny, limit: 1, per: 1m}\n");
  ask("192.0.2.1", AT, "/");
  ask("192.0.2.1", AT - 1500000, "/r");
  report.lines = 9;
  report.unreadable = 7;
  for (int i = 0; i < 5; i++) {
    report.shown[i] =
        (laju_unreadable){.file = "access.log", .line = 3, .why = "it is junk", .len = 5, .text = "ju\033nk"};
  }
  prints(0,
         "9 lines, 2 requests from 2026-10-10T13:55:36Z to 2026-10-10T13:55:36Z\n"
         "admitted 1 (50.00%), refused 1 (50.00%), 1 under no rule\n"
         "1 out of order, by up to 1500ms: decided at the time of the one before\n"
         "\n"
         "RULE  LIMIT  CHECKS  ADMITTED  REFUSED  SHARE  KEYS REFUSED  FIRST REFUSED\n"
         "1 rule decided nothing\n"
         "1 refused by r because a part of the key is missing\n"
         "\n"
         "worst second: 2026-10-10T13:55:36Z, admitted 1, refused 1\n"
         "\n"
         "7 lines were not replayed; the first:\n"
         "access.log:3: it is junk: ju\\x1bnk\n"
         "access.log:3: it is junk: ju\\x1bnk\n"
         "access.log:3: it is junk: ju\\x1bnk\n"
         "access.log:3: it is junk: ju\\x1bnk\n"
         "access.log:3: it is junk: ju\\x1bnk\n");
  finish();
}

static void suggestions_stand_rule_by_rule(void **state) {
  (void)state;
  laju_suggested suggested[2] = {0};
  begin(
      "memory: 1MiB\nrules:\n- {name: r, limit: 9, per: 1s}\n- {name: b, algorithm: token-bucket, limit: 9, per: 1s}\n");
  ask("192.0.2.1", AT, "/");
  laju_replay_finish(replay);
  suggested[0] = (laju_suggested){.keys = 1234, .refused = 1, .periods = {{5, 5}, {50, 50}, {0, 0}}};
  suggested[1] = (laju_suggested){.keys = 7, .periods = {{5, 3}, {6, 2}, {7, 1}}};
  report.suggested = suggested;
  report.share = "p99.9";
  report.left_out = 12;
  report.top = 0;
  laju_report_print(&report, 80, &printed);
  laju_buffer_add(&printed, "", 1);
  assert_non_null(strstr(printed.data,
                         "\nthe least limits under which p99.9 of the keys meet no refusal:\n"
                         "SUGGESTED  PER           LIMIT  BURST   KEYS  MAY BE REFUSED\n"
                         "r          1s                5      -  1,234               1\n"
                         "r          1m               50      -  1,234               1\n"
                         "r          1h   none is enough      -  1,234               1\n"
                         "b          1s                5      3      7               0\n"
                         "b          1m                6      2      7               0\n"
                         "b          1h                7      1      7               0\n"
                         "12 checks are not in this: there were more, or more keys, than can be remembered\n"));
  laju_buffer_deinit(&printed);
  finish();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_refused_by_whom_and_when),
      cmocka_unit_test(what_was_odd_is_remarked),
      cmocka_unit_test(suggestions_stand_rule_by_rule),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
