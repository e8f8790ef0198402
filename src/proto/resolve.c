#include "proto/resolve.h"

#include "proto/key.h"

size_t laju_override_name(const laju_rule *rule, const char *key, size_t len, char to[LAJU_KEY_MAX]) {
  if (!rule->secret || laju_key_is_hash(key, len)) {
    memcpy(to, key, len);
    return len;
  }
  int kept = laju_key_hash(key, len, to);
  if (kept > 0) return (size_t)kept;
  to[0] = '%'; /* no key's name: it could not be hashed */
  return 1;
}

const laju_rule *laju_terms_find_override(const laju_terms *terms, const laju_rule *rule, const char *key, size_t len,
                                          laju_rule *place) {
  char name[LAJU_KEY_MAX];
  if (!rule->secret) return laju_overlay_apply(terms->overlay, rule, key, len, place);
  return laju_overlay_apply(terms->overlay, rule, name, laju_override_name(rule, key, len, name), place);
}

bool laju_terms_look_override(const laju_terms *terms, const laju_rule *rule, const char *key, size_t len,
                              int64_t now_us, laju_overlay_entry *out) {
  char name[LAJU_KEY_MAX];
  if (terms->overlay == NULL || rule->number == 0) return false;
  return laju_overlay_look(terms->overlay, rule->number, name, laju_override_name(rule, key, len, name), now_us, out);
}
