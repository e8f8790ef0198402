#include "proto/query.h"

#include "base/percent.h"

char laju_query_byte(laju_slice text, size_t *at) {
  if (text.at[*at] != '+') return laju_percent_next(text.at, text.len, at);
  ++*at;
  return ' ';
}

bool laju_query_is_named(laju_slice encoded, const char *name) {
  size_t at = 0;
  while (at < encoded.len && *name != '\0') {
    if (laju_query_byte(encoded, &at) != *name++) return false;
  }
  return at == encoded.len && *name == '\0';
}

size_t laju_query_decode(char *to, laju_slice encoded) {
  size_t len = 0;
  for (size_t at = 0; at < encoded.len;) to[len++] = laju_query_byte(encoded, &at);
  return len;
}
