#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

#define PAIRS_MAX 16

#define ENDING 8 /* what closes a value and a line, and the longest of a value's characters, always fits */

static _Atomic(laju_log_format) chosen;

void laju_log_set_format(laju_log_format format) {
  atomic_store_explicit(&chosen, format, memory_order_relaxed);
}

laju_log_format laju_log_get_format(void) {
  return atomic_load_explicit(&chosen, memory_order_relaxed);
}

typedef struct line {
  char *text;
  size_t len;
  bool json;
  bool full; /* something was cut: nothing more is added */
} line;

static void put(line *to, const char *text, size_t len) {
  memcpy(to->text + to->len, text, len);
  to->len += len;
}

/* A piece that is there whole or not at all. */
static void put_piece(line *to, const char *text, size_t len) {
  if (to->full || len > LAJU_LOG_LINE_MAX - ENDING - to->len) {
    to->full = true;
  } else {
    put(to, text, len);
  }
}

static bool is_plain(const char *value) {
  for (const unsigned char *at = (const unsigned char *)value; *at != 0; at++) {
    if (*at <= ' ' || *at == '"' || *at == '=' || *at == '\\' || *at == 0x7f) return false;
  }
  return *value != 0;
}

/* One byte, or in JSON one character, of `left` bytes; returns how many it took. */
static size_t put_escaped(line *to, const char *text, size_t left) {
  char escape[8];
  unsigned char byte = (unsigned char)text[0];
  size_t character = to->json ? laju_utf8_length(text, left) : 1;
  if (character == 0) {
    put_piece(to, "\\ufffd", 6);
  } else if (byte == '"' || byte == '\\') {
    put_piece(to, (char[]){'\\', (char)byte}, 2);
  } else if (byte == '\n') {
    put_piece(to, "\\n", 2);
  } else if (byte < ' ' || byte == 0x7f) {
    int len = snprintf(escape, sizeof escape, to->json ? "\\u%04x" : "\\x%02x", byte);
    put_piece(to, escape, (size_t)len);
  } else {
    put_piece(to, text, character);
  }
  return character > 0 ? character : 1;
}

static void put_quoted(line *to, const char *value) {
  size_t len = strlen(value);
  put(to, "\"", 1);
  for (size_t at = 0; at < len && !to->full;) at += put_escaped(to, value + at, len - at);
  put(to, "\"", 1);
}

static void put_value(line *to, const char *value) {
  size_t room = LAJU_LOG_LINE_MAX - ENDING - to->len, len = strlen(value);
  if (to->json || !is_plain(value)) {
    put_quoted(to, value);
  } else {
    to->full = len > room;
    put(to, value, to->full ? room : len);
  }
}

/* A name that does not fit with an empty value is left out, and all behind it. */
static void put_pair(line *to, const char *name, const char *value) {
  size_t len = strlen(name);
  if (to->full || len + 6 > LAJU_LOG_LINE_MAX - ENDING - to->len) {
    to->full = true;
    return;
  }
  if (to->json) put(to, to->len > 1 ? ",\"" : "\"", to->len > 1 ? 2 : 1);
  if (!to->json && to->len > 0) put(to, " ", 1);
  put(to, name, len);
  put(to, to->json ? "\":" : "=", to->json ? 2 : 1);
  put_value(to, value);
}

static void format_time(char text[32], int64_t time_us) {
  time_t seconds = (time_t)(time_us / 1000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  size_t len = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(text + len, 32 - len, ".%03dZ", (int)(time_us / 1000 % 1000));
}

size_t laju_log_line(char text[LAJU_LOG_LINE_MAX], laju_log_format format, int64_t time_us, laju_log_level level,
                     const char *message, const char *const *names, const char *const *values, size_t count) {
  static const char *const levels[] = {"error", "warn", "info"};
  line to = {.text = text, .json = format == LAJU_LOG_JSON};
  char time_text[32];
  format_time(time_text, time_us);
  if (to.json) put(&to, "{", 1);
  put_pair(&to, "time", time_text);
  put_pair(&to, "level", levels[level]);
  put_pair(&to, "msg", message);
  for (size_t i = 0; i < count; i++) put_pair(&to, names[i], values[i]);
  if (to.json) put(&to, "}", 1);
  put(&to, "\n", 1);
  return to.len;
}

void laju_log(laju_log_level level, const char *message, ...) {
  int before = errno;
  const char *names[PAIRS_MAX], *values[PAIRS_MAX];
  size_t count = 0;
  va_list arguments;
  va_start(arguments, message);
  const char *name = va_arg(arguments, const char *);
  while (name != NULL && count < PAIRS_MAX) {
    names[count] = name;
    values[count] = va_arg(arguments, const char *);
    count++;
    name = va_arg(arguments, const char *);
  }
  va_end(arguments);

  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char text[LAJU_LOG_LINE_MAX];
  int64_t time_us = (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
  size_t len = laju_log_line(text, laju_log_get_format(), time_us, level, message, names, values, count);
  ssize_t written = write(STDERR_FILENO, text, len);
  (void)written; /* nobody is left to tell */
  errno = before;
}
