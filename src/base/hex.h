/* What a hexadecimal digit is worth. Pure; any thread. */
#ifndef LAJU_BASE_HEX_H
#define LAJU_BASE_HEX_H

/* 0 to 15, or -1 of anything else. */
static inline int laju_hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

#endif
