/* A YAML file as a stream of events, read once from front to back, and complaints that say where in it they are: what the
 * readers of settings, rules and overrides share. Anchors, aliases and tags are refused where they stand, so that a short
 * file stays a short one.
 *
 * All functions return 0 or more, or -1 after a complaint in `why`. One thread.
 */
#ifndef LAJU_CONFIG_READER_H
#define LAJU_CONFIG_READER_H

#include <yaml.h>

#include "config/config.h"

#define LAJU_READER_PATH_SIZE 128 /* of a key in full: "rules[9999].overrides[9999].limit" */

typedef struct laju_reader {
  yaml_parser_t parser;
  yaml_event_t event; /* the current one; owned */
  const char *name;   /* of the file, in messages */
  const char *text;
  size_t len;
  char *why; /* LAJU_WHY_SIZE */
} laju_reader;

/* Begins with `len` bytes of text, which must outlive the reader, as must `name` and `why`. Deinit is due in any case. */
int laju_reader_init(laju_reader *reader, const char *name, const char *text, size_t len, char *why);
void laju_reader_deinit(laju_reader *reader);

/* `NAME:LINE:COLUMN: ...` into `why`; returns -1. */
int laju_reader_fail(laju_reader *reader, yaml_mark_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Steps to the next event. */
int laju_reader_next(laju_reader *reader);

/* Is the current event a scalar that says nothing: empty, `~` or `null`? */
bool laju_reader_at_null(const laju_reader *reader);

/* The current event must be one value: a scalar, and where `plain` is asked for not one in quotes. */
int laju_reader_expect_value(laju_reader *reader, const char *path, bool plain);

/* Takes one value, and complains of it without saying where: the reader adds that. */
typedef int (*laju_reader_take)(void *to, const char *text, size_t len, char why[LAJU_TEXT_SIZE]);

/* Hands the current event, which must be one value, to `take`; nothing at all counts as empty text. */
int laju_reader_value(laju_reader *reader, const char *path, bool plain, laju_reader_take take, void *to);

/* Hands each value of a list to `take`, or the one value where there is no list. Returns how many. */
int laju_reader_values(laju_reader *reader, const char *path, laju_reader_take take, void *to);

/* ---- mappings ---- */

#define LAJU_MAPPING_KEYS_MAX 24
#define LAJU_MAPPING_END 1000 /* instead of a key */

/* A mapping whose keys are known, each at most once. */
typedef struct laju_mapping {
  const char *prefix;       /* of the keys in messages: "", "listen.", "rules[3]." */
  const char *const *words; /* the keys that are known, `count` (at most LAJU_MAPPING_KEYS_MAX) */
  size_t count;
  const char *example; /* what stands in the message where there is no mapping; NULL: the words themselves */
  uint32_t given;      /* a bit for each key that was read */
  yaml_mark_t at;      /* where it begins, and where each key and its value stand */
  yaml_mark_t keys[LAJU_MAPPING_KEYS_MAX], values[LAJU_MAPPING_KEYS_MAX];
} laju_mapping;

/* The current event must begin a mapping. */
int laju_mapping_begin(laju_reader *reader, laju_mapping *mapping);

/* Steps to the next key's value, which is then the current event: the key's place in `words`, or LAJU_MAPPING_END. */
int laju_mapping_next(laju_reader *reader, laju_mapping *mapping);

static inline bool laju_mapping_has(const laju_mapping *mapping, size_t key) {
  return (mapping->given >> key & 1) != 0;
}

/* Where to point for a fault of this key: at its value, or at the mapping where it is missing. */
static inline yaml_mark_t laju_mapping_mark(const laju_mapping *mapping, size_t key) {
  return laju_mapping_has(mapping, key) ? mapping->values[key] : mapping->at;
}

#endif
