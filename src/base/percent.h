/* Percent-encoding (RFC 3986, section 2.1), read once and leniently: what is no `%` and two hexadecimal digits is itself. */
#ifndef LAJU_BASE_PERCENT_H
#define LAJU_BASE_PERCENT_H

#include <stddef.h>

#include "base/hex.h"

/* The byte that begins at `*at` (below `len`), which goes on behind it. */
static inline char laju_percent_next(const char *text, size_t len, size_t *at) {
  char c = text[(*at)++];
  if (c != '%' || len - *at < 2) return c;
  int high = laju_hex_value(text[*at]), low = laju_hex_value(text[*at + 1]);
  if (high < 0 || low < 0) return c;
  *at += 2;
  return (char)(high * 16 + low);
}

#endif
