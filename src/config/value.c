#include "config/value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/duration.h"
#include "config/synonym.h"

#define SHOWN_MAX 40
#define MIB_DIGITS_MAX 6 /* a longer number without a unit was counted in bytes */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

void laju_text_show(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  size_t shown = len <= SHOWN_MAX ? len : SHOWN_MAX;
  for (size_t i = 0; i < shown; i++) to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  memcpy(to + shown, shown < len ? "..." : "", shown < len ? 4 : 1);
}

int laju_complain(char why[LAJU_TEXT_SIZE], const char *value, size_t len, const char *problem, const char *hint,
                  const char *allowed) {
  char shown[LAJU_SHOWN_SIZE] = "", start[LAJU_SHOWN_SIZE + 4] = "", guess[LAJU_SHOWN_SIZE + 24] = "";
  if (value != NULL) {
    laju_text_show(shown, value, len);
    snprintf(start, sizeof start, "\"%s\" ", shown);
  }
  if (hint != NULL) {
    laju_text_show(shown, hint, strlen(hint));
    snprintf(guess, sizeof guess, " did you mean \"%s\"?", shown);
  }
  snprintf(why, LAJU_TEXT_SIZE, "%s%s;%s allowed: %s", start, problem, guess, allowed);
  return -1;
}

static bool all_digits(const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
  }
  return len > 0;
}

static size_t digits_at_start(const char *text, size_t len) {
  size_t at = 0;
  while (at < len && text[at] >= '0' && text[at] <= '9') at++;
  return at;
}

/* "1k" -> "1000"; NULL where there is no guess. */
static const char *guess_count(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  size_t digits = digits_at_start(text, len);
  if (digits == 0 || digits > 9 || digits + 1 != len || text[0] == '0') return NULL;
  const char *zeros = text[digits] == 'k' || text[digits] == 'K' ? "000" : text[digits] == 'M' ? "000000" : NULL;
  if (zeros == NULL) return NULL;
  snprintf(to, LAJU_SHOWN_SIZE, "%.*s%s", (int)digits, text, zeros);
  return to;
}

int laju_value_count(const char *text, size_t len, uint64_t max, const char *allowed, uint64_t *out,
                     char why[LAJU_TEXT_SIZE]) {
  char guess[LAJU_SHOWN_SIZE];
  if (!all_digits(text, len)) {
    return laju_complain(why, text, len, "is not a whole number", guess_count(guess, text, len), allowed);
  }
  /* YAML 1.1 reads 010 as 8, people read it as 10 */
  if (len > 1 && text[0] == '0') return laju_complain(why, text, len, "has a leading zero", NULL, allowed);
  uint64_t value = 0;
  for (size_t i = 0; i < len; i++) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value)) {
      value = UINT64_MAX;
      break;
    }
  }
  if (value > max) return laju_complain(why, text, len, "is out of range", NULL, allowed);
  *out = value;
  return 0;
}

typedef struct spelling {
  const char *written, *meant;
} spelling;

/* What people write instead of the units, the plural `s` taken off. */
static const spelling time_units[] = {
    {"microsecond", "us"},
    {"usec", "us"},
    {"millisecond", "ms"},
    {"msec", "ms"},
    {"milli", "ms"},
    {"sec", "s"},
    {"second", "s"},
    {"min", "m"},
    {"minute", "m"},
    {"M", "m"},
    {"S", "s"},
    {"hr", "h"},
    {"hour", "h"},
    {"H", "h"},
    {"D", "d"},
    {"day", "d"},
    {"W", "w"},
    {"week", "w"},
};
static const spelling size_units[] = {
    {"b", "B"},    {"K", "KiB"},  {"k", "KiB"},  {"KB", "KiB"},  {"kB", "KiB"},  {"Ki", "KiB"}, {"M", "MiB"},
    {"m", "MiB"},  {"MB", "MiB"}, {"Mi", "MiB"}, {"mb", "MiB"},  {"mib", "MiB"}, {"G", "GiB"},  {"g", "GiB"},
    {"GB", "GiB"}, {"Gi", "GiB"}, {"gb", "GiB"}, {"gib", "GiB"}, {"T", "TiB"},   {"TB", "TiB"}, {"Ti", "TiB"},
};

static const char *meant_unit(const char *unit, size_t len, const spelling *spellings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t written_len = strlen(spellings[i].written);
    if (len < written_len || memcmp(unit, spellings[i].written, written_len) != 0) continue;
    bool plural = len == written_len + 1 && written_len > 1 && unit[len - 1] == 's';
    if (len == written_len || plural) return spellings[i].meant;
  }
  return NULL;
}

/* "1h30m" -> "90m" */
static const char *guess_sum(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  int64_t sum_us = 0, us;
  char sum[24];
  while (len > 0) {
    size_t part = digits_at_start(text, len);
    while (part < len && (text[part] < '0' || text[part] > '9')) part++;
    if (laju_duration_parse(text, part, &us) < 0 || __builtin_add_overflow(sum_us, us, &sum_us)) return NULL;
    text += part;
    len -= part;
  }
  size_t sum_len = laju_duration_format(sum, sizeof sum, sum_us);
  if (sum_us <= 0 || laju_duration_parse(sum, sum_len, &us) < 0) return NULL;
  snprintf(to, LAJU_SHOWN_SIZE, "%.*s", (int)sum_len, sum);
  return to;
}

/* "60" -> "60s", "1min" -> "1m", "m" -> "1m"; NULL where there is no guess. */
static const char *guess_duration(char to[LAJU_SHOWN_SIZE], const char *text, size_t len) {
  int64_t us;
  char one[LAJU_SHOWN_SIZE];
  if (len > 0 && len <= 2) {
    int one_len = snprintf(one, sizeof one, "1%.*s", (int)len, text);
    if (laju_duration_parse(one, (size_t)one_len, &us) == 0) return memcpy(to, one, sizeof one);
  }
  size_t digits = digits_at_start(text, len), unit = digits;
  if (digits == 0 || digits > 18) return NULL;
  while (unit < len && text[unit] == ' ') unit++;
  const char *meant = unit == len ? "s" : meant_unit(text + unit, len - unit, time_units, COUNT(time_units));
  if (meant == NULL && unit > digits) { /* only the space is wrong */
    int joined =
        snprintf(one, sizeof one, "%.*s%.*s", (int)digits, text, (int)(len - unit < 3 ? len - unit : 3), text + unit);
    if (laju_duration_parse(one, (size_t)joined, &us) == 0) return memcpy(to, one, sizeof one);
  }
  if (meant == NULL) return guess_sum(to, text, len);
  snprintf(to, LAJU_SHOWN_SIZE, "%.*s%s", (int)digits, text, meant);
  return to;
}

int laju_value_duration(const char *text, size_t len, int64_t min_us, int64_t max_us, const char *allowed,
                        int64_t *out_us, char why[LAJU_TEXT_SIZE]) {
  int64_t us;
  if (laju_duration_parse(text, len, &us) < 0) {
    char guess[LAJU_SHOWN_SIZE], range[LAJU_TEXT_SIZE];
    snprintf(range, sizeof range, "%.60s, " LAJU_DURATION_ALLOWED, allowed);
    const char *problem = all_digits(text, len) ? "has no unit" : "is not a duration";
    return laju_complain(why, text, len, problem, guess_duration(guess, text, len), range);
  }
  if (us < min_us || us > max_us) return laju_complain(why, text, len, "is out of range", NULL, allowed);
  *out_us = us;
  return 0;
}

int laju_value_size(const char *text, size_t len, uint64_t min, uint64_t max, const char *allowed, uint64_t *out_bytes,
                    char why[LAJU_TEXT_SIZE]) {
  uint64_t bytes;
  if (laju_size_parse(text, len, &bytes) < 0) {
    char guess[LAJU_SHOWN_SIZE], range[LAJU_TEXT_SIZE];
    size_t digits = digits_at_start(text, len);
    const char *meant = meant_unit(text + digits, len - digits, size_units, COUNT(size_units));
    if (digits == len) meant = digits > MIB_DIGITS_MAX ? "B" : "MiB";
    bool guessed = digits > 0 && digits <= 18 && meant != NULL;
    if (guessed) snprintf(guess, sizeof guess, "%.*s%s", (int)digits, text, meant);
    snprintf(range, sizeof range, "%.60s, " LAJU_SIZE_ALLOWED, allowed);
    const char *problem = all_digits(text, len) ? "has no unit" : "is not a size";
    return laju_complain(why, text, len, problem, guessed ? guess : NULL, range);
  }
  if (bytes < min || bytes > max) return laju_complain(why, text, len, "is out of range", NULL, allowed);
  *out_bytes = bytes;
  return 0;
}

static bool is_word(const char *text, size_t len, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strlen(words[i]) == len && strncasecmp(words[i], text, len) == 0) return true;
  }
  return false;
}

int laju_value_bool(const char *text, size_t len, bool *out, char why[LAJU_TEXT_SIZE]) {
  static const char *const yes[] = {"true", "yes", "on", "y", "1"}, *const no[] = {"false", "no", "off", "n", "0"};
  if (len == 4 && memcmp(text, "true", 4) == 0) {
    *out = true;
    return 0;
  }
  if (len == 5 && memcmp(text, "false", 5) == 0) {
    *out = false;
    return 0;
  }
  const char *hint = is_word(text, len, yes, COUNT(yes)) ? "true" : is_word(text, len, no, COUNT(no)) ? "false" : NULL;
  return laju_complain(why, text, len, "is neither", hint, "true or false");
}

void laju_words_join(char *to, size_t size, const char *const *words, size_t count) {
  size_t at = 0;
  to[0] = '\0';
  for (size_t i = 0; i < count && at < size; i++) {
    at += (size_t)snprintf(to + at, size - at, "%s%s", i > 0 ? ", " : "", words[i]);
  }
}

int laju_value_word(const char *text, size_t len, const char *const *words, size_t count, size_t *out,
                    char why[LAJU_TEXT_SIZE]) {
  for (size_t i = 0; i < count; i++) {
    if (strlen(words[i]) != len || memcmp(words[i], text, len) != 0) continue;
    *out = i;
    return 0;
  }
  char allowed[LAJU_TEXT_SIZE];
  laju_words_join(allowed, sizeof allowed, words, count);
  const char *hint = laju_guess(text, len, words, count);
  return laju_complain(why, text, len, "is not known here", hint, allowed);
}

int laju_value_text(const char *text, size_t len, size_t min, size_t max, char *to, char why[LAJU_TEXT_SIZE]) {
  char range[80];
  snprintf(range, sizeof range, "%zu to %zu bytes, no control characters", min, max);
  if (len < min) return laju_complain(why, NULL, 0, len == 0 ? "is empty" : "is too short", NULL, range);
  if (len > max) return laju_complain(why, NULL, 0, "is too long", NULL, range);
  for (size_t i = 0; i < len; i++) {
    if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) {
      return laju_complain(why, NULL, 0, "holds a control character", NULL, range);
    }
  }
  memcpy(to, text, len);
  to[len] = '\0';
  return 0;
}
