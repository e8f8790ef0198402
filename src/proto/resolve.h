/* The rule that decides a key: the policy's, one of its overrides', or what an operator has set for the key (limiter/overlay.h).
 *
 * An operator's override names a key as its state does: as a check names it, or as forward-auth makes it (key.h). Of a rule that is
 * secret it names the key's hash, so that neither a snapshot nor a store holds the text. Any thread.
 */
#ifndef LAJU_PROTO_RESOLVE_H
#define LAJU_PROTO_RESOLVE_H

#include "limiter/overlay.h"
#include "proto/service.h"

/* Writes the name under which the key's override is kept; returns its length, 1 to LAJU_KEY_MAX. */
size_t laju_override_name(const laju_rule *rule, const char *key, size_t len, char to[LAJU_KEY_MAX]);

/* Inside: there are overrides of an operator's. */
const laju_rule *laju_terms_find_override(const laju_terms *terms, const laju_rule *rule, const char *key, size_t len,
                                          laju_rule *place);

/* `rule`, or what an operator has put over it for this key, made in `place`. */
static inline const laju_rule *laju_terms_override(const laju_terms *terms, const laju_rule *rule, const char *key,
                                                   size_t len, laju_rule *place) {
  if (terms->overlay == NULL || laju_overlay_count(terms->overlay) == 0 || rule->number == 0) return rule;
  return laju_terms_find_override(terms, rule, key, len, place);
}

/* What an operator has put over it, if anything. */
bool laju_terms_look_override(const laju_terms *terms, const laju_rule *rule, const char *key, size_t len,
                              int64_t now_us, laju_overlay_entry *out);

#endif
