/* Inside `base` only: what SipHash's one-by-one and its four-at-once forms share. */
#ifndef LAJU_BASE_SIPHASH_ROUND_H
#define LAJU_BASE_SIPHASH_ROUND_H

#include "base/bytes.h"

/* What the key's words are mixed with at the start. */
#define LAJU_SIP_V0 UINT64_C(0x736f6d6570736575)
#define LAJU_SIP_V1 (UINT64_C(0x646f72616e646f6d) ^ 0xee) /* 0xee marks the 128-bit variant */
#define LAJU_SIP_V2 UINT64_C(0x6c7967656e657261)
#define LAJU_SIP_V3 UINT64_C(0x7465646279746573)

/* The last 0 to 7 bytes, little endian, under the total length's low byte. */
static inline uint64_t laju_sip_last_block(const unsigned char *bytes, size_t left, size_t total) {
  uint64_t block = (uint64_t)(total & 0xff) << 56;
  if (left >= 4) {
    block |= (uint64_t)laju_load32(bytes) | (uint64_t)laju_load32(bytes + left - 4) << (8 * (left - 4));
  } else if (left > 0) {
    block |= (uint64_t)bytes[0] | (uint64_t)bytes[left / 2] << (8 * (left / 2)) |
             (uint64_t)bytes[left - 1] << (8 * (left - 1));
  }
  return block;
}

#endif
