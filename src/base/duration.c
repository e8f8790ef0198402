#include "base/duration.h"

#include <stdio.h>
#include <string.h>

typedef struct unit {
  const char *name;
  uint64_t factor;
} unit;

/* From the largest on: the first that divides a duration gives its shortest text. */
static const unit times[] = {
    {"w", UINT64_C(604800000000)},
    {"d", UINT64_C(86400000000)},
    {"h", UINT64_C(3600000000)},
    {"m", 60000000},
    {"s", 1000000},
    {"ms", 1000},
    {"us", 1},
};

static const unit sizes[] = {
    {"TiB", UINT64_C(1) << 40},
    {"GiB", UINT64_C(1) << 30},
    {"MiB", UINT64_C(1) << 20},
    {"KiB", UINT64_C(1) << 10},
    {"B", 1},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Reads the digits at the start; returns how many, 0 where there are none or the number does not fit. */
static size_t read_digits(const char *text, size_t len, uint64_t *out) {
  uint64_t value = 0;
  size_t at = 0;
  for (; at < len && text[at] >= '0' && text[at] <= '9'; at++) {
    if (__builtin_mul_overflow(value, 10, &value)) return 0;
    if (__builtin_add_overflow(value, (uint64_t)(text[at] - '0'), &value)) return 0;
  }
  *out = value;
  return at;
}

static int parse(const char *text, size_t len, const unit *units, size_t count, uint64_t *out) {
  uint64_t value = 0;
  size_t digits = read_digits(text, len, &value);
  if (digits == 0) return -1;
  for (size_t i = 0; i < count; i++) {
    size_t unit_len = strlen(units[i].name);
    if (unit_len != len - digits || memcmp(text + digits, units[i].name, unit_len) != 0) continue;
    if (__builtin_mul_overflow(value, units[i].factor, &value)) return -1;
    *out = value;
    return 0;
  }
  return -1;
}

int laju_duration_parse(const char *text, size_t len, int64_t *out_us) {
  uint64_t us;
  if (parse(text, len, times, COUNT(times), &us) < 0 || us > INT64_MAX) return -1;
  *out_us = (int64_t)us;
  return 0;
}

size_t laju_duration_format(char *to, size_t size, int64_t us) {
  if (us == 0) return (size_t)snprintf(to, size, "0s");
  size_t i = 0;
  while (us % (int64_t)times[i].factor != 0) i++; /* ends at the latest at one microsecond */
  return (size_t)snprintf(to, size, "%lld%s", (long long)(us / (int64_t)times[i].factor), times[i].name);
}

int laju_size_parse(const char *text, size_t len, uint64_t *out_bytes) {
  return parse(text, len, sizes, COUNT(sizes), out_bytes);
}
