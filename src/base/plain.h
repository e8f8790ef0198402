/* Text that may stand in the names of a shared store's keys as it is. Pure; any thread. */
#ifndef LAJU_BASE_PLAIN_H
#define LAJU_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

#define LAJU_PLAIN_MAX 64
#define LAJU_PLAIN_ALLOWED "1 to 64 of A-Z a-z 0-9 _ . : @ -"

/* Is it LAJU_PLAIN_ALLOWED? */
static inline bool laju_plain(const char *text, size_t len) {
  if (len < 1 || len > LAJU_PLAIN_MAX) return false;
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
              c == ':' || c == '@' || c == '-';
    if (!ok) return false;
  }
  return true;
}

#endif
