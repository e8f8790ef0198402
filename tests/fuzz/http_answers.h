/* Answers over HTTP/1.1, one behind another, as what an HTTP door was fed made them. Include a door (made.h) first. */
#ifndef TESTS_FUZZ_HTTP_ANSWERS_H
#define TESTS_FUZZ_HTTP_ANSWERS_H

#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

/* What stands behind `text`, where it first stands; NULL where it does not. */
static inline const char *after(const char *at, const char *end, const char *text) {
  const char *found = memmem(at, (size_t)(end - at), text, strlen(text));
  return found != NULL ? found + strlen(text) : NULL;
}

static inline void check_json(const char *body, size_t len) {
  json_t *document = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
  door_must(document != NULL);
  json_decref(document);
}

/* All of `out` is answers; `check` looks at the one at `at`, whose body begins at `body`, and returns its end. */
static inline void check_answers(const laju_buffer *out,
                                 const char *(*check)(const char *at, const char *body, const char *end)) {
  if (out->len == 0) return;
  const char *at = out->data, *end = out->data + out->len;
  while (at < end) {
    size_t left = (size_t)(end - at);
    if (left >= sizeof CONTINUE - 1 && memcmp(at, CONTINUE, sizeof CONTINUE - 1) == 0) {
      at += sizeof CONTINUE - 1;
      continue;
    }
    door_must(left > 12 && memcmp(at, "HTTP/1.1 ", 9) == 0);
    const char *body = after(at, end, "\r\n\r\n");
    door_must(body != NULL);
    at = check(at, body, end);
  }
}

#endif
