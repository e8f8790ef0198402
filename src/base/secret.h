/* Comparing what a stranger says with a secret. Pure; any thread. */
#ifndef LAJU_BASE_SECRET_H
#define LAJU_BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* Are they the same bytes? The time taken follows from `guess_len` alone: neither where the two differ nor how long the
 * secret is can be told from it. */
bool laju_secret_equal(const char *secret, size_t secret_len, const char *guess, size_t guess_len);

#endif
