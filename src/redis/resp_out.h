/* Inside `redis`: commands in RESP, into a buffer. */
#ifndef LAJU_REDIS_RESP_OUT_H
#define LAJU_REDIS_RESP_OUT_H

#include <string.h>

#include "base/buffer.h"

/* "*3", "$7": how many words follow, or bytes. */
static inline void laju_resp_out_head(laju_buffer *to, char kind, size_t number) {
  char *at = laju_buffer_reserve(to, 24);
  if (at == NULL) return;
  at[0] = kind;
  size_t digits = laju_decimal(at + 1, (int64_t)number);
  memcpy(at + 1 + digits, "\r\n", 2);
  to->len += digits + 3;
}

static inline void laju_resp_out_bulk(laju_buffer *to, const char *bytes, size_t len) {
  laju_resp_out_head(to, '$', len);
  laju_buffer_add(to, bytes, len);
  laju_buffer_add(to, "\r\n", 2);
}

static inline void laju_resp_out_int(laju_buffer *to, int64_t value) {
  char digits[20];
  laju_resp_out_bulk(to, digits, laju_decimal(digits, value));
}

#endif
