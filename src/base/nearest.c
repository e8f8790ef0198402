#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

#define PREFIX_MIN 3

typedef unsigned char row[LAJU_NEAREST_WORD_MAX + 1];

static char plain(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

static size_t least(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Optimal string alignment: edits, and swaps of neighbours, no place edited twice. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len) {
  row rows[3];
  unsigned char *before = rows[0], *last = rows[1], *now = rows[2];
  memset(before, 0, sizeof rows[0]);
  for (size_t j = 0; j <= b_len; j++) last[j] = (unsigned char)j;
  for (size_t i = 1; i <= a_len; i++) {
    now[0] = (unsigned char)i;
    for (size_t j = 1; j <= b_len; j++) {
      size_t changed = last[j - 1] + (size_t)(plain(a[i - 1]) != plain(b[j - 1]));
      size_t edits = least(last[j] + 1U, now[j - 1] + 1U, changed);
      bool swapped = i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]);
      if (swapped && before[j - 2] + 1U < edits) edits = before[j - 2] + 1U;
      now[j] = (unsigned char)edits;
    }
    unsigned char *oldest = before;
    before = last;
    last = now;
    now = oldest;
  }
  return last[b_len];
}

static const char *first_beginning(const char *word, size_t len, const char *const *known, size_t count) {
  if (len < PREFIX_MIN) return NULL;
  for (size_t k = 0; k < count; k++) {
    size_t i = 0;
    while (i < len && known[k][i] != '\0' && plain(known[k][i]) == plain(word[i])) i++;
    if (i == len) return known[k];
  }
  return NULL;
}

const char *laju_nearest(const char *word, size_t len, const char *const *known, size_t count) {
  if (len == 0 || len > LAJU_NEAREST_WORD_MAX) return NULL;
  const char *nearest = first_beginning(word, len, known, count);
  if (nearest != NULL) return nearest;
  size_t bound = len >= 6 ? len / 3 : 1;
  for (size_t k = 0; k < count; k++) {
    size_t known_len = strlen(known[k]);
    if (known_len > LAJU_NEAREST_WORD_MAX) continue;
    size_t edits = distance(word, len, known[k], known_len);
    if (edits > bound || edits >= known_len) continue;
    if (edits == 0) return known[k];
    nearest = known[k];
    bound = edits - 1;
  }
  return nearest;
}
