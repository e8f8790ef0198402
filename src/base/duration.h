/* Durations and sizes as people write them. Whole numbers with one unit, no sign, no spaces. Pure; any thread. */
#ifndef LAJU_BASE_DURATION_H
#define LAJU_BASE_DURATION_H

#include <stddef.h>
#include <stdint.h>

#define LAJU_DURATION_ALLOWED "a whole number and a unit: us, ms, s, m, h, d or w"
#define LAJU_SIZE_ALLOWED "a whole number and a unit: B, KiB, MiB, GiB or TiB"

/* "250ms", "90s", "1w" into microseconds. 0, or -1 where it is not one or does not fit. */
int laju_duration_parse(const char *text, size_t len, int64_t *out_us);

/* Microseconds into the shortest such text ("90s" stays "90s", 60000000 is "1m"). Returns the bytes written, without the
 * terminating 0; `size` is at least 24. */
size_t laju_duration_format(char *to, size_t size, int64_t us);

/* "256MiB" into bytes. 0, or -1. */
int laju_size_parse(const char *text, size_t len, uint64_t *out_bytes);

#endif
