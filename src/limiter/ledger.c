#include "limiter/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

#define PLACES (2 * LAJU_RULE_NUMBERS) /* a power of two, never more than half full */

struct laju_rule_names {
  _Atomic uint32_t count; /* released after the name that it counts */
  char names[LAJU_RULE_NUMBERS][LAJU_NAME_MAX + 1];
  uint32_t places[PLACES]; /* open addressing: a number, or 0 for a free place */
};

laju_rule_names *laju_rule_names_new(void) {
  laju_rule_names *names = calloc(1, sizeof *names);
  if (names != NULL) atomic_store_explicit(&names->count, 1, memory_order_relaxed);
  return names;
}

void laju_rule_names_free(laju_rule_names *names) {
  free(names);
}

uint32_t laju_rule_names_number(laju_rule_names *names, const char *name) {
  size_t len = strlen(name);
  uint64_t place = laju_siphash(0, 0, name, len).lo % PLACES; /* names are the operator's: no key is needed */
  for (; names->places[place] != 0; place = (place + 1) % PLACES) {
    if (strcmp(names->names[names->places[place]], name) == 0) return names->places[place];
  }
  uint32_t number = atomic_load_explicit(&names->count, memory_order_relaxed);
  if (len > LAJU_NAME_MAX || number == LAJU_RULE_NUMBERS) return 0;
  memcpy(names->names[number], name, len + 1);
  names->places[place] = number;
  atomic_store_explicit(&names->count, number + 1, memory_order_release);
  return number;
}

uint32_t laju_rule_names_count(const laju_rule_names *names) {
  return atomic_load_explicit(&names->count, memory_order_acquire);
}

const char *laju_rule_names_at(const laju_rule_names *names, uint32_t number) {
  return names->names[number];
}

laju_ledger *laju_ledger_new(void) {
  return calloc(1, sizeof(laju_ledger));
}

void laju_ledger_free(laju_ledger *ledger) {
  free(ledger);
}
