/* A query as it stands behind a target's `?`: "name=value&name=value", percent-encoded, `+` a space. What is no valid encoding stays
 * as it is. Pure; any thread. */
#ifndef LAJU_PROTO_QUERY_H
#define LAJU_PROTO_QUERY_H

#include "base/slice.h"

/* The decoded byte at `*at`, which goes on behind it. `*at` is below text.len. */
char laju_query_byte(laju_slice text, size_t *at);

/* Is this, decoded, the name? */
bool laju_query_is_named(laju_slice encoded, const char *name);

/* Writes it decoded, at most `encoded.len` bytes; returns how many. `to` may be where it lies. */
size_t laju_query_decode(char *to, laju_slice encoded);

#endif
