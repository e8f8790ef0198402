#include "base/siphash.h"

#include "base/siphash_round.h"

typedef struct sip {
  uint64_t v0, v1, v2, v3;
} sip;

static inline uint64_t rotate(uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

static inline void sip_round(sip *s) {
  s->v0 += s->v1;
  s->v1 = rotate(s->v1, 13) ^ s->v0;
  s->v0 = rotate(s->v0, 32);
  s->v2 += s->v3;
  s->v3 = rotate(s->v3, 16) ^ s->v2;
  s->v0 += s->v3;
  s->v3 = rotate(s->v3, 21) ^ s->v0;
  s->v2 += s->v1;
  s->v1 = rotate(s->v1, 17) ^ s->v2;
  s->v2 = rotate(s->v2, 32);
}

static inline void sip_start(sip *s, uint64_t k0, uint64_t k1) {
  s->v0 = k0 ^ LAJU_SIP_V0;
  s->v1 = k1 ^ LAJU_SIP_V1;
  s->v2 = k0 ^ LAJU_SIP_V2;
  s->v3 = k1 ^ LAJU_SIP_V3;
}

static inline void sip_block(sip *s, uint64_t block) {
  s->v3 ^= block;
  sip_round(s);
  s->v0 ^= block;
}

static inline void sip_three_rounds(sip *s) {
  sip_round(s);
  sip_round(s);
  sip_round(s);
}

/* Inlined, so that the four words stay in registers: this is a good part of a decision's cost. */
__attribute__((always_inline)) static inline laju_hash sip_finish(sip *s, const void *data, size_t len, size_t total) {
  const unsigned char *bytes = data;
  size_t left = len;
  for (; left >= 8; left -= 8, bytes += 8) sip_block(s, laju_load64(bytes));
  sip_block(s, laju_sip_last_block(bytes, left, total));
  s->v2 ^= 0xee;
  sip_three_rounds(s);
  uint64_t lo = s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
  s->v1 ^= 0xdd;
  sip_three_rounds(s);
  return (laju_hash){.lo = lo, .hi = s->v0 ^ s->v1 ^ s->v2 ^ s->v3};
}

laju_hash laju_siphash(uint64_t k0, uint64_t k1, const void *data, size_t len) {
  sip s;
  sip_start(&s, k0, k1);
  return sip_finish(&s, data, len, len);
}

laju_hash laju_siphash_prefixed(uint64_t k0, uint64_t k1, const uint64_t prefix[2], const void *data, size_t len) {
  sip s;
  sip_start(&s, k0, k1);
  sip_block(&s, prefix[0]);
  sip_block(&s, prefix[1]);
  return sip_finish(&s, data, len, len + 16);
}
