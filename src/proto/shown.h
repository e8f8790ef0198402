/* Keys fit to be shown to operators and written to logs: parts that come from header: and cookie:, and keys of rules that are
 * `secret`, are their first characters (at most LAJU_SHOWN_CHARACTERS, and at most a quarter of them), an ellipsis and 8 hexadecimal
 * digits that are the whole key's and differ from key to key.
 *
 * Which part of a key came from where is known from its policy alone: a key that a check has named is treated as one that was derived,
 * and where it has not as many parts, all of it is hidden. So it is where the policy had other parts when the key was met. Pure; any
 * thread.
 */
#ifndef LAJU_PROTO_SHOWN_H
#define LAJU_PROTO_SHOWN_H

#include "base/siphash.h"
#include "base/slice.h"
#include "proto/service.h"

#define LAJU_SHOWN_CHARACTERS 4
#define LAJU_SHOWN_PART_MAX (4 * LAJU_SHOWN_CHARACTERS + 3 + 8) /* bytes of what stands for a part */
#define LAJU_SHOWN_MAX (LAJU_KEY_MAX + LAJU_PARTS_MAX * LAJU_SHOWN_PART_MAX)

typedef struct laju_shown_key {
  const char *rule;   /* its name, */
  uint32_t number;    /* number (limiter/ledger.h) */
  bool secret;        /* and secrecy, */
  uint16_t veils;     /* and which of its keys' parts were veiled when this key was met */
  laju_slice key;     /* or its beginning */
  bool cut;           /* it is its beginning */
  const uint64_t *id; /* two words, which make the digits: laju_key_id */
} laju_shown_key;

/* A keyed hash of rule and key. `hash_key`: two random words. */
static inline laju_hash laju_key_id(const uint64_t hash_key[2], const laju_rule *rule, const char *key, size_t len) {
  return laju_siphash_prefixed(hash_key[0], hash_key[1], rule->id, key, len);
}

/* Writes what may be shown, by the policy of that name if it is in force; returns its length. `*masked`: it is not all. */
size_t laju_key_show(char to[LAJU_SHOWN_MAX], const laju_terms *terms, const laju_shown_key *key, bool *masked);

#endif
