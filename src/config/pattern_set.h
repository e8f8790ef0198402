/* Many patterns, and the one that takes a text: found by what stands before its first `*`, or after its last, without trying
 * them all. Only patterns that begin and end with `*`, or share both their ends, are tried one by one.
 *
 * Immutable once made; any number of threads.
 */
#ifndef LAJU_CONFIG_PATTERN_SET_H
#define LAJU_CONFIG_PATTERN_SET_H

#include "config/policy.h"

typedef struct laju_pattern_set laju_pattern_set;

#define LAJU_PATTERN_NONE SIZE_MAX

/* Of `count` (up to UINT32_MAX - 1) patterns, each `stride` bytes after the last: they may stand in other structs. They must
 * outlive the set and stay where they are. LAJU_ERR_MEMORY. */
int laju_pattern_set_new(laju_pattern_set **out, const laju_pattern *patterns, size_t stride, size_t count);

/* NULL is allowed. */
void laju_pattern_set_free(laju_pattern_set *set);

/* The place of the first pattern without `*` that is this very text, else of the first that takes it, else
 * LAJU_PATTERN_NONE. */
size_t laju_pattern_set_find(const laju_pattern_set *set, const char *text, size_t len);

/* How many patterns, at most, one text may have to be tried with one by one. Linear. */
size_t laju_pattern_set_crowd(const laju_pattern_set *set);

#endif
