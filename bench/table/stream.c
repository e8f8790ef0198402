/* Writes the keys that a benchmark uses, one a line, in their order of use: table_stream KEYS uniform|zipf COUNT FILE
 *
 * zipf: key of rank r with weight 1 / r^0.99, ranks scattered over the keys (Gray et al., "Quickly generating billion-record
 * synthetic databases", 1994). */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

#define THETA 0.99

typedef struct zipf {
  double n, zeta, alpha, eta;
} zipf;

static zipf zipf_of(uint64_t n) {
  zipf z = {.n = (double)n, .alpha = 1 / (1 - THETA)};
  for (uint64_t i = 1; i <= n; i++) z.zeta += pow((double)i, -THETA);
  double two = 1 + pow(0.5, THETA);
  z.eta = (1 - pow(2 / z.n, 1 - THETA)) / (1 - two / z.zeta);
  return z;
}

static uint64_t zipf_rank(const zipf *z, uint64_t random) {
  double u = (double)(random >> 11) * 0x1p-53, uz = u * z->zeta;
  if (uz < 1) return 0;
  if (uz < 1 + pow(0.5, THETA)) return 1;
  uint64_t rank = (uint64_t)(z->n * pow(z->eta * u - z->eta + 1, z->alpha));
  return rank < (uint64_t)z->n ? rank : (uint64_t)z->n - 1;
}

int main(int argc, char **argv) {
  if (argc != 5) return fprintf(stderr, "usage: table_stream KEYS uniform|zipf COUNT FILE\n"), 2;
  uint64_t keys = strtoull(argv[1], NULL, 10), count = strtoull(argv[3], NULL, 10), random = keys;
  bool skewed = strcmp(argv[2], "zipf") == 0;
  FILE *file = fopen(argv[4], "w");
  if (file == NULL || keys == 0) return perror(argv[4]), 1;
  zipf z = skewed ? zipf_of(keys) : (zipf){.n = 0};
  for (uint64_t i = 0; i < count; i++) {
    uint64_t key = random_next(&random) % keys;
    if (skewed) {
      uint64_t rank = zipf_rank(&z, random_next(&random));
      key = random_next(&rank) % keys;
    }
    fprintf(file, "user:%07u\n", (unsigned)key);
  }
  return fclose(file) == 0 ? 0 : 1;
}
