#include "config/pattern_set.h"

#include <stdlib.h>
#include <string.h>

#include <laju/laju.h>

/* Where a pattern is looked for: at its longer end. */
typedef enum anchor_kind { EXACT, PREFIX, SUFFIX, BARE } anchor_kind;

typedef struct anchor {
  anchor_kind kind;
  const char *text;
  size_t len;
} anchor;

typedef uint8_t lengths[LAJU_PATTERN_MAX / 8 + 1]; /* a bit for each length that an anchor has */

struct laju_pattern_set {
  const char *patterns;
  size_t stride;
  uint32_t mask;    /* places in `chains` - 1; a power of two, at most half of them taken */
  uint32_t bare;    /* the first of the patterns without an anchor + 1, or 0 */
  uint32_t *chains; /* by anchor: the first pattern that has it + 1, or 0 */
  lengths prefixes, suffixes;
  uint32_t next[]; /* for each pattern: the next one with the same anchor + 1, or 0; ascending */
};

/* ---- anchors ------------------------------------------------------------------------------------------------------- */

/* FNV-1a: it grows by a byte at a time, so that all beginnings of a text are hashed in one pass. The entries are the
 * operator's, so a client that knows the function can do no more than look at the longest run of them. */
#define HASH_START UINT64_C(14695981039346656037)

static uint64_t hash_byte(uint64_t hash, char c) {
  return (hash ^ (unsigned char)c) * UINT64_C(1099511628211);
}

static uint64_t hash_of(const anchor *a) {
  uint64_t hash = HASH_START;
  for (size_t i = 0; i < a->len; i++) hash = hash_byte(hash, a->text[a->kind == SUFFIX ? a->len - 1 - i : i]);
  return hash;
}

static anchor anchor_of(const laju_pattern *pattern) {
  if (pattern->literal) return (anchor){EXACT, pattern->text, pattern->len};
  const char *end = pattern->text + pattern->len;
  const char *first = memchr(pattern->text, '*', pattern->len), *last = memrchr(pattern->text, '*', pattern->len);
  size_t before = (size_t)(first - pattern->text), after = (size_t)(end - last - 1);
  if (before == 0 && after == 0) return (anchor){.kind = BARE};
  return before >= after ? (anchor){PREFIX, pattern->text, before} : (anchor){SUFFIX, last + 1, after};
}

static bool has_length(const lengths set, size_t len) {
  return (set[len / 8] >> len % 8 & 1) != 0;
}

/* ---- chains -------------------------------------------------------------------------------------------------------- */

static const laju_pattern *pattern_at(const laju_pattern_set *set, size_t i) {
  return (const laju_pattern *)(const void *)(set->patterns + i * set->stride);
}

static bool same(const anchor *a, const anchor *b) {
  return a->kind == b->kind && a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* FNV leaves texts that differ in their last bytes near to each other. */
static uint32_t spread(uint64_t hash) {
  hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
  return (uint32_t)(hash >> 32);
}

/* The place of this anchor's chain, or the free one where it would be. */
static uint32_t *chain_of(const laju_pattern_set *set, const anchor *wanted, uint64_t hash) {
  uint32_t at = spread(hash + (uint64_t)wanted->kind) & set->mask;
  for (; set->chains[at] != 0; at = (at + 1) & set->mask) {
    anchor found = anchor_of(pattern_at(set, set->chains[at] - 1));
    if (same(&found, wanted)) break;
  }
  return &set->chains[at];
}

static void add(laju_pattern_set *set, size_t i) {
  anchor a = anchor_of(pattern_at(set, i));
  uint32_t *chain = a.kind == BARE ? &set->bare : chain_of(set, &a, hash_of(&a));
  if (a.kind == PREFIX) set->prefixes[a.len / 8] |= (uint8_t)(1U << a.len % 8);
  if (a.kind == SUFFIX) set->suffixes[a.len / 8] |= (uint8_t)(1U << a.len % 8);
  set->next[i] = *chain;
  *chain = (uint32_t)i + 1;
}

int laju_pattern_set_new(laju_pattern_set **out, const laju_pattern *patterns, size_t stride, size_t count) {
  laju_pattern_set *set = calloc(1, sizeof *set + count * sizeof set->next[0]);
  if (set == NULL) return LAJU_ERR_MEMORY;
  uint32_t places = 4;
  while (places < 2 * count) places *= 2;
  set->chains = calloc(places, sizeof *set->chains);
  if (set->chains == NULL) {
    free(set);
    return LAJU_ERR_MEMORY;
  }
  set->mask = places - 1;
  set->patterns = (const char *)patterns;
  set->stride = stride;
  for (size_t i = count; i > 0; i--) add(set, i - 1); /* from the back: a chain begins with the first */
  *out = set;
  return 0;
}

void laju_pattern_set_free(laju_pattern_set *set) {
  if (set == NULL) return;
  free(set->chains);
  free(set);
}

static size_t chain_length(const laju_pattern_set *set, uint32_t chain) {
  size_t length = 0;
  for (uint32_t i = chain; i != 0; i = set->next[i - 1]) length++;
  return length;
}

size_t laju_pattern_set_crowd(const laju_pattern_set *set) {
  size_t most = 0;
  for (size_t at = 0; at <= set->mask; at++) {
    uint32_t chain = set->chains[at];
    if (chain == 0 || pattern_at(set, chain - 1)->literal) continue; /* of one text the first stands for all */
    size_t length = chain_length(set, chain);
    if (length > most) most = length;
  }
  return most + chain_length(set, set->bare);
}

/* ---- finding ------------------------------------------------------------------------------------------------------- */

/* The first of the chain that takes the text, if it comes before `best`. */
static size_t first_of(const laju_pattern_set *set, uint32_t chain, const char *text, size_t len, size_t best) {
  for (uint32_t i = chain; i != 0 && i - 1 < best; i = set->next[i - 1]) {
    if (laju_pattern_takes(pattern_at(set, i - 1), text, len)) return i - 1;
  }
  return best;
}

static size_t find_exact(const laju_pattern_set *set, const char *text, size_t len) {
  anchor whole = {EXACT, text, len};
  return (size_t)*chain_of(set, &whole, hash_of(&whole)) - 1; /* none: LAJU_PATTERN_NONE */
}

static size_t find_by_prefix(const laju_pattern_set *set, const char *text, size_t len, size_t best) {
  uint64_t hash = HASH_START;
  for (size_t i = 0; i < len && i < LAJU_PATTERN_MAX; i++) {
    hash = hash_byte(hash, text[i]);
    if (!has_length(set->prefixes, i + 1)) continue;
    anchor prefix = {PREFIX, text, i + 1};
    best = first_of(set, *chain_of(set, &prefix, hash), text, len, best);
  }
  return best;
}

static size_t find_by_suffix(const laju_pattern_set *set, const char *text, size_t len, size_t best) {
  uint64_t hash = HASH_START;
  for (size_t i = 0; i < len && i < LAJU_PATTERN_MAX; i++) {
    hash = hash_byte(hash, text[len - 1 - i]);
    if (!has_length(set->suffixes, i + 1)) continue;
    anchor suffix = {SUFFIX, text + len - 1 - i, i + 1};
    best = first_of(set, *chain_of(set, &suffix, hash), text, len, best);
  }
  return best;
}

size_t laju_pattern_set_find(const laju_pattern_set *set, const char *text, size_t len) {
  size_t found = len <= LAJU_PATTERN_MAX ? find_exact(set, text, len) : LAJU_PATTERN_NONE;
  if (found != LAJU_PATTERN_NONE) return found;
  size_t best = first_of(set, set->bare, text, len, LAJU_PATTERN_NONE);
  best = find_by_prefix(set, text, len, best);
  return find_by_suffix(set, text, len, best);
}
