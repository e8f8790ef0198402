/* The checks that a request stands for: which policies of the rules in force apply to it, and the key that each makes of it.
 *
 * All that match apply (match:), in the order of the file; or those that are named, whatever they match. A policy whose part is
 * missing and that then skips does not apply. More than LAJU_CHECKS_MAX cannot be decided as one, and leaving some out would
 * decide something else: such a request is an error.
 *
 * A key that is exempt, by its text or by the client's address, is only looked at: its check costs nothing. Pure but for the
 * hash; nothing is allocated.
 */
#ifndef LAJU_PROTO_MATCH_H
#define LAJU_PROTO_MATCH_H

#include "proto/batch.h"
#include "proto/key.h"
#include "proto/service.h"

_Static_assert(LAJU_KEY_SCRATCH + LAJU_ORIGIN_SCRATCH <= LAJU_BATCH_SCRATCH, "a request's work fits");

typedef enum laju_match_error {
  LAJU_MATCH_MANY = -1,   /* more than LAJU_CHECKS_MAX policies apply */
  LAJU_MATCH_DENIED = -2, /* a part is missing, and the policy refuses the request then */
  LAJU_MATCH_BROKEN = -3, /* a key could not be hashed */
} laju_match_error;

typedef struct laju_matched {
  size_t count;   /* checks, behind the batch's last one */
  size_t key_len; /* bytes of keys and groups, behind the batch's last ones */
  uint16_t waits; /* laju_ask's: whose delays are to be waited out */
  /* where DENIED: by whom and for want of what */
  const laju_policy *policy;
  const laju_part *missing;
} laju_matched;

/* Writes the checks of all policies that match; or of these, where `named_count` is above 0 (at most LAJU_CHECKS_MAX). They and
 * their keys are written where laju_batch_has_room says that there is room, and not counted in. 0, or a laju_match_error. */
int laju_match_request(laju_matched *out, const laju_terms *terms, const laju_asker *asker,
                       const laju_policy *const *named, size_t named_count, laju_batch *batch);

#endif
