#include "redis/slot.h"

#include <string.h>

/* x^16 + x^12 + x^5 + 1, four bits at a time: a tag is a few dozen bytes, and 32 bytes of table stay in the cache. */
static const uint16_t steps[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                   0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

static uint16_t crc16(const char *bytes, size_t len) {
  uint32_t crc = 0;
  for (size_t i = 0; i < len; i++) {
    uint32_t byte = (unsigned char)bytes[i];
    crc = (crc << 4 ^ steps[(crc >> 12 ^ byte >> 4) & 15]) & 0xffff;
    crc = (crc << 4 ^ steps[(crc >> 12 ^ byte) & 15]) & 0xffff;
  }
  return (uint16_t)crc;
}

uint16_t laju_slot_of(const char *name, size_t len) {
  const char *open = len > 0 ? memchr(name, '{', len) : NULL;
  if (open != NULL) {
    const char *tag = open + 1;
    const char *shut = memchr(tag, '}', (size_t)(name + len - tag));
    if (shut != NULL && shut > tag) return crc16(tag, (size_t)(shut - tag)) % LAJU_SLOTS;
  }
  return crc16(name, len) % LAJU_SLOTS;
}
