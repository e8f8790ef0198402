/* Names of keys in the shared store. Every node makes the same name from the same rule and key, and no two different pairs
 * of rule and key share one.
 *
 *     prefix:{K}:rule:algorithm:period_us           or, with a group, prefix:{G}:K:rule:algorithm:period_us
 *
 * K is the key's text where that is plain (base/plain.h) and the rule is not secret; otherwise '#' and 27 characters
 * of base64url, the first 20 bytes of its SHA-256. G is written likewise. What stands in braces decides the slot in a
 * cluster, so checks that share a key, or a group, can be one request there.
 *
 * Why no two meet: the prefix and K hold no brace, and rule, algorithm and period no ':', so a name can be read back from
 * both ends; what follows the brace has three parts without a group and at least four with one; '#' begins no plain K.
 *
 * A laju_keys belongs to one thread (it holds the hash's working memory). Naming allocates nothing.
 */
#ifndef LAJU_REDIS_KEYS_H
#define LAJU_REDIS_KEYS_H

#include "base/plain.h"
#include <laju/laju.h>

#define LAJU_KEYS_PREFIX_MAX LAJU_PLAIN_MAX              /* bytes of a prefix, which is plain itself */
#define LAJU_KEYS_NAME_MAX (3 * 64 + LAJU_NAME_MAX + 64) /* bytes of the longest name */

typedef struct laju_keys {
  char prefix[LAJU_KEYS_PREFIX_MAX];
  size_t prefix_len;
  void *hash; /* OpenSSL's */
} laju_keys;

/* LAJU_ERR_NAME (the prefix), LAJU_ERR_SYSTEM (libcrypto has no SHA-256 to give), LAJU_ERR_MEMORY. */
int laju_keys_init(laju_keys *out, const char *prefix, size_t prefix_len);
void laju_keys_deinit(laju_keys *keys);

/* Who a name is for, beyond its rule. */
typedef struct laju_keys_subject {
  const char *key; /* 1 to LAJU_KEY_MAX bytes, any */
  size_t key_len;
  const char *group; /* NULL where the rule has none; else 1 to LAJU_KEY_MAX bytes */
  size_t group_len;
  bool secret; /* the rule's texts are never stored: always hashed */
} laju_keys_subject;

/* Writes the name (not terminated) and returns its length, or LAJU_ERR_SYSTEM where libcrypto fails. */
int laju_keys_name(laju_keys *keys, const laju_rule *rule, const laju_keys_subject *subject,
                   char out[LAJU_KEYS_NAME_MAX]);

#endif
