/* Which key a load asks for next: of `count` keys each as often as any other, or by Zipf's law, the key of rank r with a weight
 * of 1 / r^skew. Needs no memory, however many keys there are. One thread. */
#ifndef LAJU_LOAD_KEYS_H
#define LAJU_LOAD_KEYS_H

#include <stdint.h>

#define LAJU_LOAD_KEYS_MAX UINT64_C(1000000000)
#define LAJU_LOAD_SKEW_MAX 10.0

typedef struct laju_load_keys {
  uint64_t state; /* of the random numbers */
  uint64_t count;
  unsigned digits; /* of the greatest key */
  double skew;     /* 0: uniform */
  double first, last, certain;
} laju_load_keys;

/* `count` is 1 to LAJU_LOAD_KEYS_MAX, `skew` 0 to LAJU_LOAD_SKEW_MAX. Equal seeds give equal keys. */
void laju_load_keys_init(laju_load_keys *keys, uint64_t count, double skew, uint64_t seed);

/* 0 to count - 1; with a skew, 0 is the key that comes most often. */
uint64_t laju_load_keys_next(laju_load_keys *keys);

/* The next random number alone. */
uint64_t laju_load_random(laju_load_keys *keys);

#endif
