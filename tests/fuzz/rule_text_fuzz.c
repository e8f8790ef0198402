/* Any text as a rule in one line: refused with a reason, or a rule that can be written as a line and read back the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "core/rule.h"

#define TEXT_MAX 4096

static void must(bool what) {
  if (!what) abort();
}

static void must_read_back(const laju_rule *rule) {
  char text[LAJU_TEXT_SIZE], period[24], burst[24] = "", why[LAJU_TEXT_SIZE];
  laju_duration_format(period, sizeof period, laju_rule_period_us(rule));
  if (laju_algorithm_is_bucket(rule->algorithm)) snprintf(burst, sizeof burst, " burst %" PRIu32, rule->capacity);
  int len = snprintf(text, sizeof text, "%s=%" PRIu32 "/%s %s%s cost %" PRIu32, rule->name, rule->limit, period,
                     laju_algorithm_name(rule->algorithm), burst, rule->cost);
  must(len > 0 && (size_t)len < sizeof text);
  laju_rule again;
  must(laju_rule_parse(&again, text, why) == 0);
  must(memcmp(&again, rule, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size >= TEXT_MAX) return 0;
  char text[TEXT_MAX], why[LAJU_TEXT_SIZE] = "";
  memcpy(text, data, size);
  text[size] = '\0';
  laju_rule rule;
  int error = laju_rule_parse(&rule, text, why);
  if (error == 0) {
    must_read_back(&rule);
    return 0;
  }
  must(memchr(why, '\0', sizeof why) != NULL && why[0] != '\0');
  must(laju_error_field(error)[0] != '\0');
  for (const char *at = why; *at != '\0'; at++) must(*at >= ' ' && *at <= '~');
  return 0;
}
