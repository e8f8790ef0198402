#include "base/utf8.h"

#include <stdbool.h>

static inline bool continues(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

size_t laju_utf8_length(const char *text, size_t left) {
  unsigned char first = (unsigned char)text[0];
  unsigned char second = left > 1 ? (unsigned char)text[1] : 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  size_t len = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (left < len) return 0;
  for (size_t i = 1; i < len; i++) {
    if (!continues(text[i])) return 0;
  }
  if (first == 0xe0 && second < 0xa0) return 0; /* longer than need be */
  if (first == 0xed && second > 0x9f) return 0; /* half of a surrogate pair */
  if (first == 0xf0 && second < 0x90) return 0; /* longer than need be */
  if (first == 0xf4 && second > 0x8f) return 0; /* above U+10FFFF */
  return len;
}
