/* Some bytes of somebody else's: not terminated, not owned. */
#ifndef LAJU_BASE_SLICE_H
#define LAJU_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct laju_slice {
  const char *at; /* NULL: there is none, which is not the same as an empty one */
  size_t len;
} laju_slice;

static inline bool laju_slice_equal(laju_slice a, laju_slice b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Without the spaces and tabs around it. */
static inline laju_slice laju_slice_trim(laju_slice s) {
  while (s.len > 0 && (s.at[0] == ' ' || s.at[0] == '\t')) s = (laju_slice){s.at + 1, s.len - 1};
  while (s.len > 0 && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t')) s.len--;
  return s;
}

/* The part before the first `stop`, or all; `rest` becomes what is behind it (`at` NULL where there was none). May be the
 * same slice: laju_slice_cut(rest, ',', &rest) takes one after another. */
static inline laju_slice laju_slice_cut(laju_slice s, char stop, laju_slice *rest) {
  const char *found = s.len > 0 ? memchr(s.at, stop, s.len) : NULL;
  if (found == NULL) {
    *rest = (laju_slice){NULL, 0};
    return s;
  }
  size_t len = (size_t)(found - s.at);
  *rest = (laju_slice){found + 1, s.len - len - 1};
  return (laju_slice){s.at, len};
}

#endif
