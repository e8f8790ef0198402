/* Many short keys hashed at once, four side by side where the processor can (AVX2, AVX-512), one by one elsewhere.
 *
 * The results are those of laju_siphash_prefixed, always. Pure, no allocation; any thread.
 */
#ifndef LAJU_BASE_SIPHASH_MANY_H
#define LAJU_BASE_SIPHASH_MANY_H

#include "base/siphash.h"

typedef struct laju_siphash_input {
  const uint64_t *prefix; /* two words */
  const void *data;
  size_t len;
} laju_siphash_input;

/* out[i] = laju_siphash_prefixed(k0, k1, inputs[i].prefix, inputs[i].data, inputs[i].len) */
void laju_siphash_many(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, size_t count, laju_hash *out);

#endif
