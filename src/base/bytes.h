/* Little-endian integers in byte strings, and the four mem* functions, on every target that `core` compiles for.
 * Freestanding: the compiler's builtins stand in for <string.h>. Pure; any thread. */
#ifndef LAJU_BASE_BYTES_H
#define LAJU_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "states and snapshots are little endian, read as they lie");

static inline uint64_t laju_load64(const void *from) {
  uint64_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

static inline uint32_t laju_load32(const void *from) {
  uint32_t value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

static inline void laju_store64(void *to, uint64_t value) {
  __builtin_memcpy(to, &value, sizeof value);
}

static inline void laju_store32(void *to, uint32_t value) {
  __builtin_memcpy(to, &value, sizeof value);
}

#endif
