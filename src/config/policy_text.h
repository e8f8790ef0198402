/* The pieces of a policy as people write them: patterns, parts of keys, methods, exemptions. Each reader takes `len` bytes
 * of text and adds what they say to the policy that `policy` points to (void: they are handed on as laju_reader_add).
 *
 * All return 0, or -1 with `why` as config/value.h has it; the policy is then as it was. What they add, it owns. Pure; any
 * thread with a policy of its own.
 */
#ifndef LAJU_CONFIG_POLICY_TEXT_H
#define LAJU_CONFIG_POLICY_TEXT_H

#include "config/policy.h"

/* match: a host, in lower case, without scheme, port and brackets; a path, from its first `/` or `*` on; a method. */
int laju_policy_add_host(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_policy_add_path(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_policy_add_method(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* key: "ip", "header:X-User-Id", ... A header's name is put in lower case. */
int laju_policy_add_part(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* group: parts of the same kinds. */
int laju_policy_add_group_part(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* mode: "embedded", "exact"; on_store_error: "allow", "deny", "local". Of the rule itself, not yet of its overrides. */
int laju_policy_set_mode(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);
int laju_policy_set_on_store_error(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* exempt: an address, a network, or "key:PATTERN". */
int laju_policy_add_exempt(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* missing: "ip", "skip", "deny", "shared". */
int laju_policy_set_missing(void *policy, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* wait: server, for a rule of the policy or of its overrides: a leaky bucket that holds nothing back for longer than
 * LAJU_POLICY_WAIT_MAX_US. */
#define LAJU_POLICY_WAIT_MAX_US INT64_C(60000000)
int laju_policy_wait_verify(const laju_rule *rule, char why[LAJU_TEXT_SIZE]);

/* An override's key: 1 to LAJU_PATTERN_MAX bytes without control characters. The caller frees `out->text`. */
int laju_pattern_read(laju_pattern *out, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* An address or a network. Where it is none, `hint` (or NULL) is what else was probably meant, and `allowed` what may stand
 * there; bits beyond the prefix have a guess of their own. */
int laju_network_read(laju_network *out, const char *text, size_t len, const char *hint, const char *allowed,
                      char why[LAJU_TEXT_SIZE]);

#endif
