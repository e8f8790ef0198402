/* One key's state, kept by the core alone: the plainest store there is, to hold others against. */
#ifndef TESTS_VECTORS_KEEPER_H
#define TESTS_VECTORS_KEEPER_H

#include <laju/laju.h>

#include "core/log.h"
#include "core/state.h"

typedef struct keeper {
  laju_state state; /* or, under a sliding log: */
  laju_log log;
  bool known; /* charged at least once */
} keeper;     /* all zeros: never seen. Stamps are its own */

void keeper_deinit(keeper *k);

/* Decides, and charges where allowed. */
void keeper_check(keeper *k, const laju_rule *rule, int64_t now_us, uint32_t cost, laju_decision *out);

/* Writes an admission of `tokens` into the log, in a larger ring if need be. */
void keeper_admit(keeper *k, const laju_rule *rule, int64_t now_us, uint32_t tokens);

/* The bytes that a shared store keeps for it. `*len` is 0 where it was never charged. The caller frees. */
unsigned char *keeper_bytes(const keeper *k, const laju_rule *rule, size_t *len);

#endif
