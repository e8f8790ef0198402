#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define FIRST_SIZE 256

void laju_buffer_deinit(laju_buffer *buffer) {
  free(buffer->data);
  *buffer = (laju_buffer){0};
}

void laju_buffer_clear(laju_buffer *buffer) {
  buffer->len = 0;
  buffer->failed = false;
}

static bool grow(laju_buffer *buffer, size_t more) {
  if (more > SIZE_MAX / 2 - buffer->len) return false;
  size_t cap = buffer->cap > 0 ? buffer->cap : FIRST_SIZE;
  while (cap - buffer->len < more) cap *= 2;
  char *data = realloc(buffer->data, cap);
  if (data == NULL) return false;
  buffer->data = data;
  buffer->cap = cap;
  return true;
}

char *laju_buffer_reserve(laju_buffer *buffer, size_t more) {
  if (buffer->failed) return NULL;
  if (buffer->cap - buffer->len < more && !grow(buffer, more)) {
    buffer->failed = true;
    return NULL;
  }
  return buffer->data + buffer->len;
}

void laju_buffer_add(laju_buffer *buffer, const void *bytes, size_t len) {
  if (len == 0) return;
  char *to = laju_buffer_reserve(buffer, len);
  if (to == NULL) return;
  memcpy(to, bytes, len);
  buffer->len += len;
}

void laju_buffer_add_text(laju_buffer *buffer, const char *text) {
  laju_buffer_add(buffer, text, strlen(text));
}

void laju_buffer_add_int(laju_buffer *buffer, int64_t value) {
  char *to = laju_buffer_reserve(buffer, 20);
  if (to != NULL) buffer->len += laju_decimal(to, value);
}

void laju_buffer_add_format(laju_buffer *buffer, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *to = len >= 0 ? laju_buffer_reserve(buffer, (size_t)len + 1) : NULL;
  if (to != NULL) {
    vsnprintf(to, (size_t)len + 1, format, again);
    buffer->len += (size_t)len;
  }
  va_end(again);
}

/* The eight digits of a value below 10^8, the first in the lowest byte, as numbers. Halves are split in all their lanes at
 * once: into fours, twos, ones. 10486 / 2^20 is a little more than 1 / 100, and 103 / 2^10 than 1 / 10. */
static inline uint64_t eight_digits(uint32_t value) {
  uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
  uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
  return tens | (twos - 10 * tens) << 8;
}

#define ZEROS UINT64_C(0x3030303030303030) /* "00000000" */

/* A value below 10^8 without its leading zeros. Writes eight bytes; returns how many of them count. */
static inline size_t put_first(char *to, uint32_t value) {
  uint64_t digits = eight_digits(value);
  unsigned skipped = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8; /* not the last, be it zero or not */
  laju_store64(to, (digits | ZEROS) >> (8 * skipped));
  return 8 - skipped;
}

static size_t put_digits(char *to, uint64_t value) {
  if (value < 100000000) return put_first(to, (uint32_t)value);
  size_t len = put_digits(to, value / 100000000);
  laju_store64(to + len, eight_digits((uint32_t)(value % 100000000)) | ZEROS);
  return len + 8;
}

size_t laju_decimal(char *to, int64_t value) {
  if (value >= 0) return put_digits(to, (uint64_t)value);
  *to = '-';
  return 1 + put_digits(to + 1, 0 - (uint64_t)value);
}
