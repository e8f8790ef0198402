/* The key that a policy makes of a request: its parts, joined so that no two different lists of parts give one key.
 *
 *   one part        the value as it is; a `%` at its beginning is written `%25`
 *   several parts   in each `%` is written `%25` and `:` is written `%3A`; joined by `:`
 *   missing part    `%ip=ADDRESS` or `%shared`, which no value can be; an empty value is a missing one
 *   long or secret  `%sha256=` and 43 characters: base64url of the SHA-256 of what the above gives
 *
 * Values:
 *   ip       the client's address, cut to the prefix that counts as one client: "192.0.2.1", "2001:db8:1:2::/64"; "unix" where
 *            a client came through a unix socket and no proxy told its address; never missing
 *   header   all lines of that name that have a value, in order, joined by ", "
 *   cookie   as it was written; the first of that name that has a value
 *   query    percent-decoded once, `+` is a space, so is the name; the first of that name that has a value
 *   path, host, method   those of origin.h
 *
 * Pure but for the hash (digest.h). Nothing is allocated.
 */
#ifndef LAJU_PROTO_KEY_H
#define LAJU_PROTO_KEY_H

#include "config/policy.h"
#include "proto/fields.h"
#include "proto/origin.h"

/* Room for any derived key before it is hashed: a part comes from one head, and each of its bytes may take three. */
#define LAJU_KEY_SCRATCH (LAJU_PARTS_MAX * (3 * LAJU_HTTP_HEAD_MAX + 64))

typedef struct laju_asker {
  const laju_origin *origin;
  const laju_fields *fields;
  uint8_t prefix_v4, prefix_v6; /* of laju_terms */
} laju_asker;

typedef enum laju_derived {
  LAJU_KEY_DERIVED,
  LAJU_KEY_SKIPPED, /* a part is missing, and the policy does not apply then */
  LAJU_KEY_DENIED,  /* a part is missing, and the request is refused then */
} laju_derived;

/* Writes the key, not yet hashed: what overrides and exemptions are matched against. Where it is not DERIVED, `*missing` is the
 * part that the request lacks. */
laju_derived laju_key_derive(const laju_policy *policy, const laju_asker *asker, char to[LAJU_KEY_SCRATCH], size_t *len,
                             const laju_part **missing);

/* The same for the key's group, of a policy that has one (`group:`): of its parts, as of the key's own. */
laju_derived laju_group_derive(const laju_policy *policy, const laju_asker *asker, char to[LAJU_KEY_SCRATCH],
                               size_t *len, const laju_part **missing);

/* Writes the key, or the group, as it is stored. Returns its length, 1 to LAJU_KEY_MAX, or LAJU_ERR_SYSTEM where it could not be hashed. */
int laju_key_keep(const laju_policy *policy, const char *key, size_t len, char to[LAJU_KEY_MAX]);

/* Writes a key that is long or secret; the same errors. */
int laju_key_hash(const char *key, size_t len, char to[LAJU_KEY_MAX]);

/* Is this what laju_key_hash writes? */
bool laju_key_is_hash(const char *key, size_t len);

#endif
