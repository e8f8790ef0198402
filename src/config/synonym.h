/* What people who come from other limiters write, and what it is called here, for "did you mean". Pure; any thread. */
#ifndef LAJU_CONFIG_SYNONYM_H
#define LAJU_CONFIG_SYNONYM_H

#include <stddef.h>

/* Of `count` known words the one that `word` (`len` bytes) most likely stands for: by its meaning (`requests` for `limit`), else
 * the one it is nearest to (base/nearest.h). NULL where there is no guess. */
const char *laju_guess(const char *word, size_t len, const char *const *known, size_t count);

#endif
