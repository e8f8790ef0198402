#include "base/siphash.h"

#include "base/bytes.h"

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
  s->v0 = k0 ^ UINT64_C(0x736f6d6570736575);
  s->v1 = k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee; /* 0xee marks the 128-bit variant */
  s->v2 = k0 ^ UINT64_C(0x6c7967656e657261);
  s->v3 = k1 ^ UINT64_C(0x7465646279746573);
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

/* The last 0 to 7 bytes, little endian, under the total length's low byte. */
static inline uint64_t last_block(const unsigned char *bytes, size_t left, size_t total) {
  uint64_t block = (uint64_t)(total & 0xff) << 56;
  if (left >= 4) {
    block |= (uint64_t)laju_load32(bytes) | (uint64_t)laju_load32(bytes + left - 4) << (8 * (left - 4));
  } else if (left > 0) {
    block |= (uint64_t)bytes[0] | (uint64_t)bytes[left / 2] << (8 * (left / 2)) |
             (uint64_t)bytes[left - 1] << (8 * (left - 1));
  }
  return block;
}

static inline laju_hash sip_finish(sip *s, const void *data, size_t len, size_t total) {
  const unsigned char *bytes = data;
  size_t left = len;
  for (; left >= 8; left -= 8, bytes += 8) sip_block(s, laju_load64(bytes));
  sip_block(s, last_block(bytes, left, total));
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
