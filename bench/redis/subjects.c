#include "subjects.h"

#include <stdio.h>
#include <stdlib.h>

/* Limits so high that most are admitted, which costs the most. */
static uint64_t limit_of(laju_algorithm algorithm) {
  return algorithm == LAJU_SLIDING_WINDOW_LOG ? 100 : 1000000;
}

bool subjects_make(subjects *out) {
  laju_keys keys;
  if (laju_keys_init(&keys, "laju", 4) < 0) return false;
  for (size_t r = 0; r < LAJU_ALGORITHMS; r++) {
    laju_algorithm algorithm = (laju_algorithm)r;
    if (laju_rule_init(&out->rules[r], "api", 3, algorithm, limit_of(algorithm), 60000000, 0) < 0) abort();
    for (size_t k = 0; k < SUBJECTS_KEYS; k++) {
      char key[16];
      laju_keys_subject subject = {.key = key, .key_len = (size_t)snprintf(key, sizeof key, "user:%05zu", k)};
      out->name_lens[r][k] = (uint32_t)laju_keys_name(&keys, &out->rules[r], &subject, out->names[r][k]);
    }
  }
  laju_keys_deinit(&keys);
  return true;
}
