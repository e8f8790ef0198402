#include "base/histogram.h"

#include "base/count.h"

#define PARTS_LOG2 6

_Static_assert(1 << PARTS_LOG2 == LAJU_HISTOGRAM_PARTS, "buckets of a power of two");

static size_t bucket_of(uint64_t value_us) {
  if (value_us < LAJU_HISTOGRAM_PARTS) return value_us;
  if (value_us > LAJU_HISTOGRAM_MAX_US) return LAJU_HISTOGRAM_BUCKETS - 1;
  unsigned shift = 63u - (unsigned)__builtin_clzll(value_us) - PARTS_LOG2;
  /* The value's leading bit adds the 64 of the powers before it. */
  return shift * LAJU_HISTOGRAM_PARTS + (value_us >> shift);
}

static int64_t upper_edge_us(size_t bucket) {
  if (bucket < LAJU_HISTOGRAM_PARTS) return (int64_t)bucket;
  size_t shift = bucket / LAJU_HISTOGRAM_PARTS - 1;
  size_t part = bucket % LAJU_HISTOGRAM_PARTS + LAJU_HISTOGRAM_PARTS;
  return (int64_t)(((part + 1) << shift) - 1);
}

void laju_histogram_add_times(laju_histogram *histogram, int64_t value_us, uint64_t times) {
  uint64_t value = value_us < 0 ? 0 : (uint64_t)value_us;
  _Atomic uint64_t *bucket = &histogram->buckets[bucket_of(value)];
  if (times == 0) return;
  laju_count_more(bucket, times);
  laju_count_more(&histogram->sum_us, value * times);
  if (value > laju_count_read(&histogram->max_us)) laju_count_set(&histogram->max_us, value);
}

void laju_histogram_add(laju_histogram *histogram, int64_t value_us) {
  laju_histogram_add_times(histogram, value_us, 1);
}

void laju_histogram_merge(laju_histogram *into, const laju_histogram *from) {
  for (size_t i = 0; i < LAJU_HISTOGRAM_BUCKETS; i++) {
    laju_count_more(&into->buckets[i], laju_count_read(&from->buckets[i]));
  }
  laju_count_more(&into->sum_us, laju_count_read(&from->sum_us));
  if (laju_count_read(&from->max_us) > laju_count_read(&into->max_us))
    laju_count_set(&into->max_us, laju_count_read(&from->max_us));
}

void laju_histogram_subtract(laju_histogram *from, const laju_histogram *earlier) {
  for (size_t i = 0; i < LAJU_HISTOGRAM_BUCKETS; i++) {
    laju_count_less(&from->buckets[i], laju_count_read(&earlier->buckets[i]));
  }
  laju_count_less(&from->sum_us, laju_count_read(&earlier->sum_us));
}

uint64_t laju_histogram_count(const laju_histogram *histogram) {
  uint64_t count = 0;
  for (size_t i = 0; i < LAJU_HISTOGRAM_BUCKETS; i++) count += laju_count_read(&histogram->buckets[i]);
  return count;
}

uint64_t laju_histogram_sum_us(const laju_histogram *histogram) {
  return laju_count_read(&histogram->sum_us);
}

int64_t laju_histogram_max_us(const laju_histogram *histogram) {
  return (int64_t)laju_count_read(&histogram->max_us);
}

/* The share's values, rounded up, at least one: the median of three is the second. */
static uint64_t rank_of(double q, uint64_t count) {
  if (q <= 0) return 1;
  if (q >= 1) return count;
  double exact = q * (double)count;
  uint64_t rank = (uint64_t)exact;
  if ((double)rank < exact) rank++;
  if (rank == 0) return 1;
  return rank < count ? rank : count;
}

int64_t laju_histogram_quantile(const laju_histogram *histogram, double q) {
  uint64_t count = laju_histogram_count(histogram), reached = 0;
  int64_t max_us = laju_histogram_max_us(histogram);
  if (count == 0) return 0;
  uint64_t rank = rank_of(q, count);
  for (size_t i = 0; i < LAJU_HISTOGRAM_BUCKETS - 1; i++) {
    reached += laju_count_read(&histogram->buckets[i]);
    if (reached >= rank) return upper_edge_us(i) < max_us ? upper_edge_us(i) : max_us;
  }
  return max_us; /* the last bucket has no edge */
}

uint64_t laju_histogram_cumulate(const laju_histogram *histogram, const int64_t *bounds_us, size_t count,
                                 uint64_t *out) {
  uint64_t reached = 0;
  size_t next = 0;
  for (size_t i = 0; i < LAJU_HISTOGRAM_BUCKETS; i++) {
    int64_t edge_us = i < LAJU_HISTOGRAM_BUCKETS - 1 ? upper_edge_us(i) : INT64_MAX;
    while (next < count && edge_us > bounds_us[next]) out[next++] = reached;
    reached += laju_count_read(&histogram->buckets[i]);
  }
  while (next < count) out[next++] = reached;
  return reached;
}
