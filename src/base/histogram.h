/* How often each duration occurred: a log-linear histogram of microseconds. Fixed size, no allocation; all zeros is empty.
 *
 * Values up to 63 us have a bucket each; above, every power of two is cut into 64 equal buckets, so a bucket is at most 1/64
 * (1.6 %) of its values wide. Values from LAJU_HISTOGRAM_MAX_US on are counted in the last bucket; `sum_us` and `max_us`
 * keep them as they are. Below 0 counts as 0.
 *
 * One thread adds to a histogram. Any thread may read it meanwhile (all but laju_histogram_add and the target of
 * laju_histogram_merge), and then sees each bucket as it is at some moment of the reading: never torn, never falling from one
 * reading to the next. Buckets, sum and maximum need not be of the same moment. Whoever asks one histogram several things
 * while it grows merges it into one of its own first, so that the answers fit together.
 */
#ifndef LAJU_BASE_HISTOGRAM_H
#define LAJU_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_HISTOGRAM_PARTS 64                            /* buckets of a power of two */
#define LAJU_HISTOGRAM_MAX_US ((INT64_C(1) << 27) - 1)     /* 134 s, the last bucket's upper edge */
#define LAJU_HISTOGRAM_BUCKETS (22 * LAJU_HISTOGRAM_PARTS) /* 11 KiB */

typedef struct laju_histogram {
  _Atomic uint64_t buckets[LAJU_HISTOGRAM_BUCKETS];
  _Atomic uint64_t sum_us;
  _Atomic uint64_t max_us;
} laju_histogram;

/* Only from the one thread that owns it. A few nanoseconds. */
void laju_histogram_add(laju_histogram *histogram, int64_t value_us);

/* The same value `times` times, for what came together. */
void laju_histogram_add_times(laju_histogram *histogram, int64_t value_us, uint64_t times);

/* Adds what `from` holds to `into`, which this thread owns. */
void laju_histogram_merge(laju_histogram *into, const laju_histogram *from);

/* Takes out what `earlier` holds: both are readings of one histogram, `from` the later. Its maximum stays. */
void laju_histogram_subtract(laju_histogram *from, const laju_histogram *earlier);

/* How many values. Adds up all buckets. */
uint64_t laju_histogram_count(const laju_histogram *histogram);

uint64_t laju_histogram_sum_us(const laju_histogram *histogram);

/* The greatest value, exactly; 0 where there is none. */
int64_t laju_histogram_max_us(const laju_histogram *histogram);

/* A value that the share `q` (0 to 1) of all do not exceed: the upper edge of the bucket where that share is reached, but
 * never more than the greatest value. So it is right or up to 1.6 % too high, and 1 gives the greatest value exactly. 0 where
 * the histogram is empty. */
int64_t laju_histogram_quantile(const laju_histogram *histogram, double q);

/* For Prometheus: out[i] becomes the number of values that are at most bounds_us[i]; the bounds ascend. A bucket is counted
 * where all of it lies within the bound, so values within the last 1.6 % below a bound may count for the next only. Returns
 * the number of all values (the bound +Inf), at least out[count - 1]. */
uint64_t laju_histogram_cumulate(const laju_histogram *histogram, const int64_t *bounds_us, size_t count,
                                 uint64_t *out);

#endif
