/* The known word that a mistyped one is nearest to, for "did you mean". Pure; any thread. */
#ifndef LAJU_BASE_NEAREST_H
#define LAJU_BASE_NEAREST_H

#include <stddef.h>

#define LAJU_NEAREST_WORD_MAX 64 /* longer words are near to nothing */

/* Of `count` known words the one that `word` (`len` bytes) most likely stands for: the first that begins with it (three
 * letters at least); otherwise the one with the fewest letters added, left out, changed or swapped with a neighbour, at most
 * a third of the word's. Capitals count as small letters, `_` as `-`. NULL where none is near; the first among equals. */
const char *laju_nearest(const char *word, size_t len, const char *const *known, size_t count);

#endif
