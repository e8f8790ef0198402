#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 16

typedef struct line {
  char *text;
  size_t len;
} line;

static void put(line *to, const char *text, size_t len) {
  size_t room = LAJU_LOG_LINE_MAX - 1 - to->len; /* the newline always fits */
  if (len > room) len = room;
  memcpy(to->text + to->len, text, len);
  to->len += len;
}

static void put_text(line *to, const char *text) {
  put(to, text, strlen(text));
}

static bool is_plain(const char *value) {
  for (const unsigned char *at = (const unsigned char *)value; *at != 0; at++) {
    if (*at <= ' ' || *at == '"' || *at == '=' || *at == '\\' || *at == 0x7f) return false;
  }
  return *value != 0;
}

static void put_escaped(line *to, unsigned char byte) {
  char escape[8];
  if (byte == '"' || byte == '\\') {
    put(to, (char[]){'\\', (char)byte}, 2);
  } else if (byte == '\n') {
    put(to, "\\n", 2);
  } else if (byte < ' ' || byte == 0x7f) {
    int len = snprintf(escape, sizeof escape, "\\x%02x", byte);
    put(to, escape, (size_t)len);
  } else {
    put(to, (const char *)&byte, 1);
  }
}

static void put_value(line *to, const char *value) {
  if (is_plain(value)) {
    put_text(to, value);
    return;
  }
  put(to, "\"", 1);
  for (; *value != 0; value++) put_escaped(to, (unsigned char)*value);
  put(to, "\"", 1);
}

static void put_time(line *to, int64_t time_us) {
  char text[64];
  time_t seconds = (time_t)(time_us / 1000000);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  size_t len = strftime(text, sizeof text, "time=%Y-%m-%dT%H:%M:%S", &utc);
  put(to, text, len);
  len = (size_t)snprintf(text, sizeof text, ".%03dZ", (int)(time_us / 1000 % 1000));
  put(to, text, len);
}

size_t laju_log_line(char text[LAJU_LOG_LINE_MAX], int64_t time_us, laju_log_level level, const char *message,
                     const char *const *names, const char *const *values, size_t count) {
  static const char *const levels[] = {"error", "warn", "info"};
  line to = {.text = text};
  put_time(&to, time_us);
  put_text(&to, " level=");
  put_text(&to, levels[level]);
  put_text(&to, " msg=");
  put_value(&to, message);
  for (size_t i = 0; i < count; i++) {
    put(&to, " ", 1);
    put_text(&to, names[i]);
    put(&to, "=", 1);
    put_value(&to, values[i]);
  }
  text[to.len] = '\n';
  return to.len + 1;
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
  size_t len = laju_log_line(text, time_us, level, message, names, values, count);
  ssize_t written = write(STDERR_FILENO, text, len);
  (void)written; /* nobody is left to tell */
  errno = before;
}
