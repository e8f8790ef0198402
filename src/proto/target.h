/* What a request is for, in one form: so that no two ways to write one path or one host pass a rule by.
 *
 *   path   no query, no fragment; percent-decoded once; no empty and no dot segments, those that were encoded neither; begins
 *          with `/`; ends with one where it did, or where a dot segment was its last. "/a//b/./%63/../d" is "/a/b/d".
 *          Bytes are bytes: a backslash, a NUL, what is no valid encoding stay as they are.
 *   host   lower case, without port, brackets and the dots at its end. "[::1]:80" is "::1"
 *
 * Pure; any thread. Nothing here refuses anything.
 */
#ifndef LAJU_PROTO_TARGET_H
#define LAJU_PROTO_TARGET_H

#include "base/slice.h"

/* The parts of a target as they were written; `at` is NULL where there is no such part. */
typedef struct laju_target {
  laju_slice authority; /* of "http://host:port/x"; without what is before an `@` */
  laju_slice path;      /* may be empty */
  laju_slice query;     /* without its `?` */
} laju_target;

/* Takes origin-form ("/x?y") and absolute-form ("http://host/x?y"); anything else is a path. */
laju_target laju_target_split(laju_slice text);

/* Writes the path, at most path.len + 1 bytes; returns how many. `to` may not overlap it. */
size_t laju_path_normalise(char *to, laju_slice path);

/* Writes the host, at most host.len bytes; returns how many. `to` may not overlap it. */
size_t laju_host_normalise(char *to, laju_slice host);

#endif
