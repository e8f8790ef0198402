/* A reader and the request that its last line held, for tests of the formats. */
#ifndef LAJU_TESTS_READING_H
#define LAJU_TESTS_READING_H

#include <stdlib.h>

#include "replay/access_log.h"

static laju_access_reader reader;
static laju_access request;
static char *line_bytes;

static inline void begin(laju_access_format format) {
  laju_access_reader_init(&reader, format, NULL);
}

/* Feeds `len` bytes, in memory that is exactly so large. */
static inline int feed(const char *bytes, size_t len) {
  free(line_bytes);
  line_bytes = malloc(len + (len == 0));
  assert_non_null(line_bytes);
  memcpy(line_bytes, bytes, len);
  return laju_access_read(&reader, line_bytes, len, &request);
}

static inline void reads(const char *line) {
  int found = feed(line, strlen(line));
  if (found != 1) fail_msg("%s: %s", line, reader.why);
}

static inline void refuses(const char *line, const char *why) {
  assert_int_equal(feed(line, strlen(line)), -1);
  assert_string_equal(reader.why, why);
}

static inline void is(laju_slice slice, const char *text) {
  if (slice.len != strlen(text) || memcmp(slice.at, text, slice.len) != 0) {
    fail_msg("\"%.*s\" is not \"%s\"", (int)slice.len, slice.at, text);
  }
}

static inline void client_is(const char *text) {
  char shown[LAJU_IP_TEXT_SIZE];
  assert_true(request.addressed);
  laju_ip_format(shown, &request.client);
  assert_string_equal(shown, text);
}

static inline void header_is(size_t i, const char *name, const char *value) {
  assert_true(i < request.header_count);
  is(request.headers[i].name, name);
  is(request.headers[i].value, value);
}

#endif
