#include "base/siphash_many.h"

#include <stdbool.h>

#include "base/siphash_round.h"

#if defined(__x86_64__) && defined(__GNUC__)

#define LANES 4
#define BLOCKS_MAX 8 /* of 8 bytes; keys as long as that gain nothing from company of other lengths */

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

typedef struct sip_lanes {
  lanes v0, v1, v2, v3;
} sip_lanes;

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define ROTATE(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))
#define ALL(x) ((lanes){0} + (x)) /* the same word in every lane */

/* Vectors go by pointer: passed by value they would have an ABI that depends on the processor. */
ALWAYS_INLINE void round_lanes(sip_lanes *s) {
  s->v0 += s->v1;
  s->v1 = ROTATE(s->v1, 13) ^ s->v0;
  s->v0 = ROTATE(s->v0, 32);
  s->v2 += s->v3;
  s->v3 = ROTATE(s->v3, 16) ^ s->v2;
  s->v0 += s->v3;
  s->v3 = ROTATE(s->v3, 21) ^ s->v0;
  s->v2 += s->v1;
  s->v1 = ROTATE(s->v1, 17) ^ s->v2;
  s->v2 = ROTATE(s->v2, 32);
}

ALWAYS_INLINE void block_lanes(sip_lanes *s, const lanes *block) {
  s->v3 ^= *block;
  round_lanes(s);
  s->v0 ^= *block;
}

/* Where a lane of `goes_on` is zero, takes back what was done since `before`. */
ALWAYS_INLINE void hold_back(sip_lanes *s, const sip_lanes *before, const lanes *goes_on) {
  s->v0 = (s->v0 & *goes_on) | (before->v0 & ~*goes_on);
  s->v1 = (s->v1 & *goes_on) | (before->v1 & ~*goes_on);
  s->v2 = (s->v2 & *goes_on) | (before->v2 & ~*goes_on);
  s->v3 = (s->v3 & *goes_on) | (before->v3 & ~*goes_on);
}

/* Four keys of at most BLOCKS_MAX whole blocks. `uneven`: their numbers of blocks differ, and a lane that has no more must
 * stand still while the others go on. */
ALWAYS_INLINE void hash_lanes(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, size_t blocks, bool uneven,
                              laju_hash *out) {
  lanes part[BLOCKS_MAX], first, second, last, count;
  for (size_t i = 0; i < LANES; i++) {
    const unsigned char *data = inputs[i].data;
    size_t len = inputs[i].len;
    first[i] = inputs[i].prefix[0];
    second[i] = inputs[i].prefix[1];
    count[i] = len / 8;
    last[i] = laju_sip_last_block(data + len / 8 * 8, len % 8, len + 16);
    for (size_t j = 0; j < blocks; j++) part[j][i] = j < len / 8 ? laju_load64(data + 8 * j) : 0;
  }
  sip_lanes s = {.v0 = ALL(k0 ^ LAJU_SIP_V0),
                 .v1 = ALL(k1 ^ LAJU_SIP_V1),
                 .v2 = ALL(k0 ^ LAJU_SIP_V2),
                 .v3 = ALL(k1 ^ LAJU_SIP_V3)};
  block_lanes(&s, &first);
  block_lanes(&s, &second);
  for (size_t j = 0; j < blocks; j++) {
    sip_lanes before = s;
    block_lanes(&s, &part[j]);
    if (!uneven) continue;
    lanes goes_on = (lanes)(count > ALL(j));
    hold_back(&s, &before, &goes_on);
  }
  block_lanes(&s, &last);
  s.v2 ^= 0xee;
  for (int i = 0; i < 3; i++) round_lanes(&s);
  lanes lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
  s.v1 ^= 0xdd;
  for (int i = 0; i < 3; i++) round_lanes(&s);
  lanes hi = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
  for (size_t i = 0; i < LANES; i++) out[i] = (laju_hash){.lo = lo[i], .hi = hi[i]};
}

ALWAYS_INLINE void hash_four(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, laju_hash *out) {
  size_t least = inputs[0].len / 8, most = least;
  for (size_t i = 1; i < LANES; i++) {
    size_t blocks = inputs[i].len / 8;
    if (blocks < least) least = blocks;
    if (blocks > most) most = blocks;
  }
  if (most > BLOCKS_MAX) {
    for (size_t i = 0; i < LANES; i++) {
      out[i] = laju_siphash_prefixed(k0, k1, inputs[i].prefix, inputs[i].data, inputs[i].len);
    }
  } else if (most == 1 && least == 1) {
    hash_lanes(k0, k1, inputs, 1, false, out);
  } else {
    hash_lanes(k0, k1, inputs, most, least != most, out);
  }
}

typedef void hash_four_function(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, laju_hash *out);

__attribute__((target("avx2"))) static void hash_four_avx2(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs,
                                                           laju_hash *out) {
  hash_four(k0, k1, inputs, out);
}

/* Its rotation is one instruction. 256 bits only: wider ones slow some processors down. */
__attribute__((target("avx2,avx512f,avx512vl"))) static void hash_four_avx512(uint64_t k0, uint64_t k1,
                                                                              const laju_siphash_input *inputs,
                                                                              laju_hash *out) {
  hash_four(k0, k1, inputs, out);
}

static hash_four_function *four_at_once(void) {
  if (__builtin_cpu_supports("avx512vl")) return hash_four_avx512;
  if (__builtin_cpu_supports("avx2")) return hash_four_avx2;
  return NULL;
}

#else

#define LANES 4

typedef void hash_four_function(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, laju_hash *out);

static hash_four_function *four_at_once(void) {
  return NULL;
}

#endif

void laju_siphash_many(uint64_t k0, uint64_t k1, const laju_siphash_input *inputs, size_t count, laju_hash *out) {
  size_t i = 0;
  hash_four_function *hash_four_at = four_at_once();
  if (hash_four_at != NULL) {
    for (; i + LANES <= count; i += LANES) hash_four_at(k0, k1, inputs + i, out + i);
  }
  for (; i < count; i++) out[i] = laju_siphash_prefixed(k0, k1, inputs[i].prefix, inputs[i].data, inputs[i].len);
}
