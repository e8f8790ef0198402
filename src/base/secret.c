#include "base/secret.h"

bool laju_secret_equal(const char *secret, size_t secret_len, const char *guess, size_t guess_len) {
  /* Volatile, or the compiler may leave the loop as soon as the answer is known. */
  volatile unsigned char differ = secret_len != guess_len;
  size_t at = 0;
  for (size_t i = 0; i < guess_len; i++) {
    unsigned char expected = secret_len > 0 ? (unsigned char)secret[at] : 0;
    differ = (unsigned char)(differ | (expected ^ (unsigned char)guess[i]));
    at = at + 1 < secret_len ? at + 1 : 0;
  }
  return differ == 0;
}
