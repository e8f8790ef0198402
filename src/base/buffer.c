#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The decimal digits of a number. 1233 / 4096 is a little more than log10(2), so bits give their number or one too many. */
static unsigned count_digits(uint64_t value) {
  static const uint64_t powers[] = {
      0,
      UINT64_C(10),
      UINT64_C(100),
      UINT64_C(1000),
      UINT64_C(10000),
      UINT64_C(100000),
      UINT64_C(1000000),
      UINT64_C(10000000),
      UINT64_C(100000000),
      UINT64_C(1000000000),
      UINT64_C(10000000000),
      UINT64_C(100000000000),
      UINT64_C(1000000000000),
      UINT64_C(10000000000000),
      UINT64_C(100000000000000),
      UINT64_C(1000000000000000),
      UINT64_C(10000000000000000),
      UINT64_C(100000000000000000),
      UINT64_C(1000000000000000000),
      UINT64_C(10000000000000000000),
  };
  unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
  unsigned guess = bits * 1233 >> 12;
  return guess + (value >= powers[guess]);
}

size_t laju_decimal(char *to, int64_t value) {
  static const char pairs[] =
      "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
      "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
  bool negative = value < 0;
  uint64_t left = negative ? 0 - (uint64_t)value : (uint64_t)value;
  if (negative) *to++ = '-';
  unsigned len = count_digits(left);
  char *at = to + len;
  for (; left >= 10000; left /= 10000) {
    unsigned four = (unsigned)(left % 10000);
    at -= 4;
    memcpy(at, pairs + 2 * (four / 100), 2);
    memcpy(at + 2, pairs + 2 * (four % 100), 2);
  }
  unsigned last = (unsigned)left;
  if (last >= 100) {
    at -= 2;
    memcpy(at, pairs + 2 * (last % 100), 2);
    last /= 100;
  }
  if (last >= 10) {
    memcpy(at - 2, pairs + 2 * last, 2);
  } else {
    at[-1] = (char)('0' + last);
  }
  return len + negative;
}
