#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay/printed.h"
#include "replay/text.h"

static laju_slice slice(const char *text) {
  return (laju_slice){text, strlen(text)};
}

static void plain(const char *text, size_t max, const char *expected) {
  laju_text_add_plain(&printed, slice(text), max);
  printed_is(expected);
}

static void a_terminal_gets_no_control_characters(void **state) {
  (void)state;
  plain("user:42", 64, "user:42");
  plain("a\x1b[31mb\n\x7f", 64, "a\\x1b[31mb\\x0a\\x7f");
  plain("\xc2\x9b", 64, "\\xc2\\x9b");
  plain("\xff\xc3", 64, "\\xff\\xc3");
  plain("caf\xc3\xa9 \xe6\x97\xa5", 64, "caf\xc3\xa9 \xe6\x97\xa5");
}

static void a_long_text_is_cut_between_characters(void **state) {
  (void)state;
  plain("\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9");
  plain("\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xc3\xa9...");
  plain("", 0, "");
}

static void xml_is_well_formed_whatever_the_bytes(void **state) {
  (void)state;
  laju_text_add_xml(&printed, slice("<a> & \x02\xff\xc3\xa9"));
  printed_is("&lt;a&gt; &amp; ??\xc3\xa9");
}

static void counts_are_grouped(void **state) {
  (void)state;
  laju_text_add_count(&printed, 0);
  printed_is("0");
  laju_text_add_count(&printed, 999);
  printed_is("999");
  laju_text_add_count(&printed, 1000);
  printed_is("1,000");
  laju_text_add_count(&printed, UINT64_MAX);
  printed_is("18,446,744,073,709,551,615");
}

static void a_share_of_nothing_is_a_dash(void **state) {
  (void)state;
  laju_text_add_share(&printed, 1, 3);
  printed_is("33.33%");
  laju_text_add_share(&printed, 0, 0);
  printed_is("-");
}

static void no_time_is_a_dash(void **state) {
  (void)state;
  laju_text_add_time(&printed, 0);
  printed_is("1970-01-01T00:00:00Z");
  laju_text_add_time(&printed, -1);
  printed_is("-");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_terminal_gets_no_control_characters), cmocka_unit_test(a_long_text_is_cut_between_characters),
      cmocka_unit_test(xml_is_well_formed_whatever_the_bytes), cmocka_unit_test(counts_are_grouped),
      cmocka_unit_test(a_share_of_nothing_is_a_dash),          cmocka_unit_test(no_time_is_a_dash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
