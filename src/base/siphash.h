/* SipHash-1-3 with a 128-bit result: a keyed hash for bytes that come from strangers.
 *
 * Without the key nobody can choose inputs that collide. One round a block and three to finish, as the hash tables of Rust
 * and the kernel use it. Pure, no allocation, freestanding; any thread.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), and the authors' 128-bit variant.
 */
#ifndef LAJU_BASE_SIPHASH_H
#define LAJU_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct laju_hash {
  uint64_t lo, hi;
} laju_hash;

/* The hash of `len` bytes at `data` under the 128-bit key (k0, k1). */
laju_hash laju_siphash(uint64_t k0, uint64_t k1, const void *data, size_t len);

/* The hash of two words followed by `len` bytes: what laju_siphash gives for the 16 little-endian bytes of `prefix` and
 * the data in one piece, without joining them first. */
laju_hash laju_siphash_prefixed(uint64_t k0, uint64_t k1, const uint64_t prefix[2], const void *data, size_t len);

#endif
