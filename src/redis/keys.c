#include "redis/keys.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/base64url.h"
#include "base/buffer.h"
#include "base/plain.h"
#include "core/rule.h"

#define HASHED_BYTES 20

/* prefix ':' '{' G '}' ':' K ':' rule ':' algorithm ':' period */
_Static_assert(LAJU_KEYS_NAME_MAX >= LAJU_KEYS_PREFIX_MAX + 2 * LAJU_PLAIN_MAX + LAJU_NAME_MAX + 7 + 22 + 20,
               "the longest name has room");

int laju_keys_init(laju_keys *out, const char *prefix, size_t prefix_len) {
  if (!laju_plain(prefix, prefix_len)) return LAJU_ERR_NAME;
  EVP_MD_CTX *hash = EVP_MD_CTX_new();
  if (hash == NULL) return LAJU_ERR_MEMORY;
  if (EVP_DigestInit_ex(hash, EVP_sha256(), NULL) != 1) {
    EVP_MD_CTX_free(hash);
    return LAJU_ERR_SYSTEM;
  }
  memcpy(out->prefix, prefix, prefix_len);
  out->prefix_len = prefix_len;
  out->hash = hash;
  return 0;
}

void laju_keys_deinit(laju_keys *keys) {
  EVP_MD_CTX_free(keys->hash);
  keys->hash = NULL;
}

static char *add(char *to, const char *text, size_t len) {
  memcpy(to, text, len);
  return to + len;
}

/* K or G; NULL where libcrypto fails. */
static char *add_subject(char *to, const laju_keys *keys, const char *text, size_t len, bool secret) {
  if (!secret && laju_plain(text, len)) return add(to, text, len);
  unsigned char digest[EVP_MAX_MD_SIZE];
  /* No type given: the context keeps its own, and nothing is allocated. */
  if (EVP_DigestInit_ex(keys->hash, NULL, NULL) != 1 || EVP_DigestUpdate(keys->hash, text, len) != 1 ||
      EVP_DigestFinal_ex(keys->hash, digest, NULL) != 1) {
    return NULL;
  }
  *to++ = '#';
  return to + laju_base64url(to, digest, HASHED_BYTES);
}

int laju_keys_name(laju_keys *keys, const laju_rule *rule, const laju_keys_subject *subject,
                   char out[LAJU_KEYS_NAME_MAX]) {
  char *to = add(out, keys->prefix, keys->prefix_len);
  to = add(to, ":{", 2);
  if (subject->group != NULL) {
    to = add_subject(to, keys, subject->group, subject->group_len, subject->secret);
    if (to == NULL) return LAJU_ERR_SYSTEM;
    to = add(to, "}:", 2);
  }
  to = add_subject(to, keys, subject->key, subject->key_len, subject->secret);
  if (to == NULL) return LAJU_ERR_SYSTEM;
  if (subject->group == NULL) *to++ = '}';
  *to++ = ':';
  to = add(to, rule->name, strlen(rule->name));
  *to++ = ':';
  const char *algorithm = laju_algorithm_name(rule->algorithm);
  to = add(to, algorithm, strlen(algorithm));
  *to++ = ':';
  to += laju_decimal(to, laju_rule_period_us(rule));
  return (int)(to - out);
}
