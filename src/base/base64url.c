#include "base/base64url.h"

size_t laju_base64url(char *to, const unsigned char *bytes, size_t len) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  unsigned held = 0, bits = 0;
  char *at = to;
  for (size_t i = 0; i < len; i++) {
    held = held << 8 | bytes[i];
    for (bits += 8; bits >= 6; bits -= 6) *at++ = digits[held >> (bits - 6) & 63];
  }
  if (bits > 0) *at++ = digits[held << (6 - bits) & 63];
  return (size_t)(at - to);
}
