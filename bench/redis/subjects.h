/* What the benchmarks of Redis ask about: a rule of each algorithm, and for each the names of SUBJECTS_KEYS keys in the store. */
#ifndef BENCH_REDIS_SUBJECTS_H
#define BENCH_REDIS_SUBJECTS_H

#include "redis/keys.h"

#define SUBJECTS_KEYS 10000

typedef struct subjects { /* by algorithm */
  laju_rule rules[LAJU_ALGORITHMS];
  char names[LAJU_ALGORITHMS][SUBJECTS_KEYS][LAJU_KEYS_NAME_MAX];
  uint32_t name_lens[LAJU_ALGORITHMS][SUBJECTS_KEYS];
} subjects;

/* False: libcrypto does not do what naming needs. */
bool subjects_make(subjects *out);

#endif
