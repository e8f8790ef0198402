#include "config/setting_log.h"

#include "config/value.h"

#define SAMPLE_ALLOWED "0.0001% to 100%"
#define PLACES 4 /* behind the point: a millionth is 0.0001% */

int laju_log_set_format_text(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {"logfmt", "json"};
  size_t found;
  if (laju_value_word(text, len, words, 2, &found, why) < 0) return -1;
  config->log.json = found == 1;
  return 0;
}

int laju_log_set_decisions(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  static const char *const words[] = {"off", "denied", "all"};
  size_t found;
  if (laju_value_word(text, len, words, 3, &found, why) < 0) return -1;
  config->log.decisions = (laju_log_decisions)found;
  return 0;
}

/* Digits with a point among them or not, in ten-thousandths; 0 where it is no such number. */
static uint32_t read_ten_thousandths(const char *text, size_t len) {
  uint32_t value = 0, places = 0;
  bool pointed = false, begun = false;
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '.' && !pointed && begun) {
      pointed = true;
      continue;
    }
    if (text[i] < '0' || text[i] > '9' || value > LAJU_CONFIG_SAMPLE_ALL || (pointed && ++places > PLACES)) return 0;
    value = 10 * value + (uint32_t)(text[i] - '0');
    begun = true;
  }
  if (pointed && places == 0) return 0;
  for (; places < PLACES && value <= LAJU_CONFIG_SAMPLE_ALL; places++) value *= 10;
  return value;
}

int laju_log_set_sample(laju_config *config, const char *text, size_t len, char why[LAJU_TEXT_SIZE]) {
  if (len == 0 || text[len - 1] != '%') return laju_complain(why, text, len, "has no %", NULL, SAMPLE_ALLOWED);
  uint32_t sample = read_ten_thousandths(text, len - 1);
  if (sample < 1 || sample > LAJU_CONFIG_SAMPLE_ALL) {
    return laju_complain(why, text, len, "is out of range", NULL, SAMPLE_ALLOWED);
  }
  config->log.sample = sample;
  return 0;
}
