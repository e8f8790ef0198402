/* Writes the keys that a benchmark uses, one a line, in their order of use: table_stream KEYS uniform|zipf COUNT FILE
 *
 * zipf: key of rank r with weight 1 / r^0.99, ranks scattered over the keys. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load/keys.h"

/* So that the keys that come often do not follow each other by name. */
static uint64_t scatter(uint64_t rank, uint64_t keys) {
  laju_load_keys mixer;
  laju_load_keys_init(&mixer, keys, 0, rank);
  return laju_load_random(&mixer) % keys;
}

int main(int argc, char **argv) {
  if (argc != 5) return fprintf(stderr, "usage: table_stream KEYS uniform|zipf COUNT FILE\n"), 2;
  uint64_t keys = strtoull(argv[1], NULL, 10), count = strtoull(argv[3], NULL, 10);
  bool skewed = strcmp(argv[2], "zipf") == 0;
  FILE *file = fopen(argv[4], "w");
  if (file == NULL || keys == 0 || keys > LAJU_LOAD_KEYS_MAX) return perror(argv[4]), 1;
  laju_load_keys order;
  laju_load_keys_init(&order, keys, skewed ? 0.99 : 0, keys);
  for (uint64_t i = 0; i < count; i++) {
    uint64_t key = laju_load_keys_next(&order);
    fprintf(file, "user:%07" PRIu64 "\n", skewed ? scatter(key, keys) : key);
  }
  return fclose(file) == 0 ? 0 : 1;
}
