#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/printed.h"
#include "replay/reported.h"

static void every_step_is_drawn_once_admitted_below_refused(void **state) {
  (void)state;
  begin("memory: 1MiB\nrules: [{name: r, algorithm: fixed-window, limit: 3, per: 1d}]\n");
  for (int i = 0; i < 4; i++) ask("192.0.2.1", AT, "/");
  ask("192.0.2.2", AT + 1000000, "/");
  laju_replay_finish(replay);
  laju_report_draw(&report, &printed);
  laju_buffer_add(&printed, "", 1);
  /* 4 of 4 at the top; the first second's bar up to 3, the second's up to 1 */
  assert_non_null(strstr(printed.data,
                         "<path class=\"admitted\" d=\"M72.00 316.00V127.00H504.00V316.00Z"
                         "M504.00 316.00V253.00H936.00V316.00Z\"/>"));
  assert_non_null(strstr(printed.data, "<path class=\"refused\" d=\"M72.00 127.00V64.00H504.00V127.00Z\"/>"));
  assert_non_null(strstr(printed.data, ">10-10 13:55:36</text>"));
  assert_non_null(strstr(printed.data, "requests in 1s, UTC"));
  assert_non_null(strstr(printed.data, "prefers-color-scheme: dark"));
  laju_buffer_deinit(&printed);
  finish();
}

static void a_log_without_a_request_is_an_empty_picture(void **state) {
  (void)state;
  static const char *const odd[] = {"<a&b>.log"};
  begin("memory: 1MiB\nrules: [{name: r, limit: 3, per: 1d}]\n");
  report.files = odd;
  laju_replay_finish(replay);
  laju_report_draw(&report, &printed);
  laju_buffer_add(&printed, "", 1);
  assert_null(strstr(printed.data, "class=\"admitted\" d="));
  assert_non_null(strstr(printed.data, "&lt;a&amp;b&gt;.log</text>"));
  assert_non_null(strstr(printed.data, "</svg>\n"));
  laju_buffer_deinit(&printed);
  finish();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_is_drawn_once_admitted_below_refused),
      cmocka_unit_test(a_log_without_a_request_is_an_empty_picture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
