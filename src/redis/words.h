/* Commands for Redis, word by word, as RESP has them. Pure; any thread. */
#ifndef LAJU_REDIS_WORDS_H
#define LAJU_REDIS_WORDS_H

#include <string.h>

#include "base/buffer.h"

static inline void laju_words_add(laju_buffer *to, const char *word, size_t len) {
  laju_buffer_add_format(to, "$%zu\r\n", len);
  laju_buffer_add(to, word, len);
  laju_buffer_add(to, "\r\n", 2);
}

static inline void laju_words_add_text(laju_buffer *to, const char *text) {
  laju_words_add(to, text, strlen(text));
}

/* A number, behind "(" or nothing. */
static inline void laju_words_add_number(laju_buffer *to, const char *before, int64_t number) {
  char text[32];
  size_t len = strlen(before);
  memcpy(text, before, len);
  laju_words_add(to, text, len + laju_decimal(text + len, number));
}

/* A command of so many words, the first among them. */
static inline void laju_words_begin(laju_buffer *to, size_t words, const char *command) {
  laju_buffer_add_format(to, "*%zu\r\n", words);
  laju_words_add_text(to, command);
}

#endif
