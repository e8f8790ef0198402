/* Zipf's law by rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone
 * discrete distributions", 1996. A rank is drawn from the area under the continuous x^-skew, and drawn again in the few cases
 * where that is more than the rank's own weight. */
#include "load/keys.h"

#include <math.h>

/* SplitMix64. */
uint64_t laju_load_random(laju_load_keys *keys) {
  uint64_t x = keys->state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* The area under x^-skew from 1 to x. */
static double area(double x, double skew) {
  double log_x = log(x), power = (1 - skew) * log_x;
  return fabs(power) < 1e-8 ? log_x * (1 + power / 2) : expm1(power) / (1 - skew);
}

/* Where that area ends. */
static double end_of(double an_area, double skew) {
  double product = (1 - skew) * an_area;
  if (product < -1) product = -1; /* rounding, at the very end */
  return fabs(product) < 1e-8 ? exp(an_area * (1 - product / 2)) : exp(log1p(product) / (1 - skew));
}

void laju_load_keys_init(laju_load_keys *keys, uint64_t count, double skew, uint64_t seed) {
  *keys = (laju_load_keys){.state = seed, .count = count, .skew = skew, .digits = 1};
  for (uint64_t rest = (count - 1) / 10; rest > 0; rest /= 10) keys->digits++;
  if (skew <= 0) return;
  keys->first = area(1.5, skew) - 1;
  keys->last = area((double)count + 0.5, skew);
  keys->certain = 2 - end_of(area(2.5, skew) - pow(2, -skew), skew);
}

static uint64_t next_rank(laju_load_keys *keys) {
  for (;;) {
    double share = (double)(laju_load_random(keys) >> 11) * 0x1p-53;
    double drawn = keys->last + share * (keys->first - keys->last);
    double x = end_of(drawn, keys->skew), rank = floor(x + 0.5);
    if (rank < 1) rank = 1;
    if (rank > (double)keys->count) rank = (double)keys->count;
    if (rank - x <= keys->certain || drawn >= area(rank + 0.5, keys->skew) - pow(rank, -keys->skew)) {
      return (uint64_t)rank - 1;
    }
  }
}

uint64_t laju_load_keys_next(laju_load_keys *keys) {
  if (keys->skew > 0) return next_rank(keys);
  /* the upper half of a product: as even as a division's remainder, and cheaper */
  return (uint64_t)(((unsigned __int128)laju_load_random(keys) * keys->count) >> 64);
}
