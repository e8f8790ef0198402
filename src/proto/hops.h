/* Who sent a request that came through proxies: X-Forwarded-For and Forwarded (RFC 7239), read from the right.
 *
 *     laju_hops hops = {.known = false};
 *     laju_hops_add_list(&hops, terms, line), ...          each line of the field, in order
 *     hops.known ? hops.client : the peer itself
 *
 * The right-most hop was written by the trusted peer; where it is itself trusted, so is what it wrote, the hop left of it, and
 * so on. The client is the first that is not trusted; where all are, the left-most. A hop that is no address ("unknown",
 * "_hidden", garbage) ends the reading, and the client is the hop right of it, or the peer where there is none.
 *
 * Lines are fed from the left, though: what the reading from the right would find is kept up to date, so that no list of hops
 * has to be stored. A quoted string never reaches beyond its line. Pure.
 */
#ifndef LAJU_PROTO_HOPS_H
#define LAJU_PROTO_HOPS_H

#include "base/slice.h"
#include "proto/service.h"

typedef struct laju_hops {
  bool known; /* false: no hop, or the last one is no address */
  laju_ip client;
} laju_hops; /* zeros: no hop yet */

/* One line of X-Forwarded-For: addresses with or without a port, IPv6 with or without brackets. */
void laju_hops_add_list(laju_hops *hops, const laju_terms *terms, laju_slice line);

/* One line of Forwarded; of its parameters only `for` counts, and an element without it is no address. */
void laju_hops_add_forwarded(laju_hops *hops, const laju_terms *terms, laju_slice line);

/* An address as such a field has it: "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80". */
bool laju_hop_address(laju_slice text, laju_ip *out);

/* Do this address's forwarding fields count? */
bool laju_terms_trust(const laju_terms *terms, const laju_ip *address);

#endif
