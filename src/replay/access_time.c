#include "replay/access_time.h"

#include <laju/laju.h>

#include <stdio.h>

#define SECOND_US INT64_C(1000000)

typedef struct moment {
  int year, month, day, hour, minute, second;
  int64_t fraction_us;
  int zone_s; /* east of UTC */
} moment;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* `count` digits; -1 where they are none. */
static int digits(const char *text, int count) {
  int value = 0;
  for (int i = 0; i < count; i++) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/* ---- calendar ---- */

static int days_of(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && leap);
}

/* Days from the epoch. A year begins in March, so that a leap day is its last. */
static int64_t day_number(int year, int month, int day) {
  int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int to_us(const moment *m, int64_t *out_us) {
  bool date = m->year >= 1970 && m->month >= 1 && m->month <= 12 && m->day >= 1 && m->day <= days_of(m->year, m->month);
  bool time = m->hour >= 0 && m->hour <= 23 && m->minute >= 0 && m->minute <= 59 && m->second >= 0 && m->second <= 60;
  if (!date || !time) return -1;
  int64_t s = day_number(m->year, m->month, m->day) * 86400 + m->hour * 3600 + m->minute * 60 + m->second - m->zone_s;
  int64_t us = s * SECOND_US + m->fraction_us;
  if (us < 0 || us > LAJU_TIME_MAX_US) return -1;
  *out_us = us;
  return 0;
}

/* A sign, two digits of hours, and two of minutes at `minutes` (NULL: none); -1 where it is no zone. */
static int read_zone(const char *text, const char *minutes, int *out_s) {
  int h = digits(text + 1, 2), m = minutes != NULL ? digits(minutes, 2) : 0;
  if ((text[0] != '+' && text[0] != '-') || h < 0 || h > 23 || m < 0 || m > 59) return -1;
  *out_s = (text[0] == '-' ? -1 : 1) * (h * 3600 + m * 60);
  return 0;
}

/* ---- the three ways to write one ---- */

static int month_of(const char *name) {
  static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  for (int i = 0; i < 12; i++) {
    if (memcmp(name, names + 3 * i, 3) == 0) return i + 1;
  }
  return 0;
}

/* 10/Oct/2026:13:55:36 -0700 */
int laju_clf_time_parse(const char text[LAJU_CLF_TIME_LEN], int64_t *out_us) {
  moment m = {.day = digits(text, 2), .month = month_of(text + 3), .year = digits(text + 7, 4)};
  m.hour = digits(text + 12, 2);
  m.minute = digits(text + 15, 2);
  m.second = digits(text + 18, 2);
  bool form =
      text[2] == '/' && text[6] == '/' && text[11] == ':' && text[14] == ':' && text[17] == ':' && text[20] == ' ';
  if (!form || read_zone(text + 21, text + 24, &m.zone_s) < 0) return -1;
  return to_us(&m, out_us);
}

/* What is behind the seconds of an ISO time: ".123+02:00", "Z", "". */
static int read_tail(laju_slice tail, moment *m) {
  size_t at = 0;
  if (tail.len > 0 && (tail.at[0] == '.' || tail.at[0] == ',')) {
    int64_t unit = SECOND_US / 10;
    for (at = 1; at < tail.len && is_digit(tail.at[at]); at++, unit /= 10) {
      m->fraction_us += unit * (tail.at[at] - '0');
    }
    if (at == 1) return -1;
  }
  const char *zone = tail.at + at;
  switch (tail.len - at) {
    case 0: return 0;
    case 1: return zone[0] == 'Z' || zone[0] == 'z' ? 0 : -1;
    case 3: return read_zone(zone, NULL, &m->zone_s);
    case 5: return read_zone(zone, zone + 3, &m->zone_s);
    case 6: return zone[3] == ':' ? read_zone(zone, zone + 4, &m->zone_s) : -1;
    default: return -1;
  }
}

/* 2026-10-10T13:55:36 and what is behind it */
static int read_iso(laju_slice text, int64_t *out_us) {
  const char *at = text.at;
  if (text.len < 19) return -1;
  moment m = {.year = digits(at, 4), .month = digits(at + 5, 2), .day = digits(at + 8, 2)};
  m.hour = digits(at + 11, 2);
  m.minute = digits(at + 14, 2);
  m.second = digits(at + 17, 2);
  bool separated = at[10] == 'T' || at[10] == 't' || at[10] == ' ';
  if (!separated || at[4] != '-' || at[7] != '-' || at[13] != ':' || at[16] != ':') return -1;
  if (read_tail((laju_slice){at + 19, text.len - 19}, &m) < 0) return -1;
  return to_us(&m, out_us);
}

/* A number since the epoch; how large it is tells its unit. */
static int read_epoch(laju_slice text, int64_t *out_us) {
  size_t whole = 0;
  uint64_t value = 0, fraction_us = 0, unit = 100000;
  for (; whole < text.len && is_digit(text.at[whole]); whole++) {
    if (whole == 19) return -1;
    value = value * 10 + (uint64_t)(text.at[whole] - '0');
  }
  size_t at = whole;
  if (whole > 0 && at < text.len && text.at[at] == '.') {
    for (at++; at < text.len && is_digit(text.at[at]); at++, unit /= 10) {
      fraction_us += unit * (uint64_t)(text.at[at] - '0');
    }
  }
  if (whole == 0 || at < text.len) return -1;
  uint64_t us = whole <= 11   ? value * 1000000 + fraction_us
                : whole <= 14 ? value * 1000 + fraction_us / 1000
                : whole <= 17 ? value
                              : value / 1000;
  if (us > LAJU_TIME_MAX_US) return -1;
  *out_us = (int64_t)us;
  return 0;
}

int laju_access_time_parse(laju_slice text, int64_t *out_us) {
  if (text.len == LAJU_CLF_TIME_LEN && text.at[2] == '/') return laju_clf_time_parse(text.at, out_us);
  if (text.len > 4 && text.at[4] == '-') return read_iso(text, out_us);
  return read_epoch(text, out_us);
}

/* ---- back into text ---- */

size_t laju_time_format(char to[LAJU_TIME_TEXT_SIZE], int64_t time_us) {
  int64_t s = time_us / SECOND_US, days = s / 86400, of_day = s % 86400, ms = time_us / 1000 % 1000;
  int year = 1970 + (int)(days / 366), month = 1; /* not after the right one */
  while (day_number(year + 1, 1, 1) <= days) year++;
  while (month < 12 && day_number(year, month + 1, 1) <= days) month++;
  int day = (int)(days - day_number(year, month, 1)) + 1;
  int len = snprintf(to, LAJU_TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, (int)(of_day / 3600),
                     (int)(of_day / 60 % 60), (int)(of_day % 60));
  if (ms != 0) len += snprintf(to + len, LAJU_TIME_TEXT_SIZE - (size_t)len, ".%03d", (int)ms);
  to[len++] = 'Z';
  to[len] = '\0';
  return (size_t)len;
}
