/* Reads JSON where it lies, token by token, without memory of its own.
 *
 * What it accepts and refuses is what jansson's json_loadb does without flags: an object or an array at the top, UTF-8
 * throughout, no U+0000 in strings, whole numbers within int64_t, reals within a double, nothing behind the document (a zero
 * byte right behind a number or a word is passed over, as it is there); and besides, nothing nested deeper than
 * LAJU_JSON_DEPTH_MAX. Whether a name comes twice in one object is the caller's to see, who knows
 * the names that it takes.
 *
 * Strings are unescaped in place: a token's text lies in the bytes that were given, which must stay while it is used. After
 * LAJU_JSON_ERROR nothing more is read. Pure; one thread at a time.
 */
#ifndef LAJU_PROTO_JSON_H
#define LAJU_PROTO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_JSON_DEPTH_MAX 8 /* arrays and objects, one in another */

typedef enum laju_json_kind {
  LAJU_JSON_ERROR, /* `error` and `at` say what and where */
  LAJU_JSON_END,   /* the document is over, and nothing but space follows */
  LAJU_JSON_OBJECT,
  LAJU_JSON_OBJECT_END,
  LAJU_JSON_ARRAY,
  LAJU_JSON_ARRAY_END,
  LAJU_JSON_NAME,    /* of a member, in `text`; its value comes next */
  LAJU_JSON_STRING,  /* in `text`, unescaped */
  LAJU_JSON_INTEGER, /* in `integer`; as written in `text` */
  LAJU_JSON_REAL,    /* as written in `text` */
  LAJU_JSON_TRUE,
  LAJU_JSON_FALSE,
  LAJU_JSON_NULL,
} laju_json_kind;

typedef struct laju_json {
  char *begin, *at, *end; /* `at`: the next byte to read */
  const char *text;       /* the last token's, `text_len` bytes, not terminated */
  size_t text_len;
  int64_t integer;
  const char *error; /* a static string, such as "a comma or the end is missing" */
  unsigned depth;
  unsigned objects; /* bit 0: the innermost container is an object; bit 1: the one around it; ... */
  int want;         /* what may come next: json.c knows */
} laju_json;

void laju_json_init(laju_json *json, char *bytes, size_t len);

laju_json_kind laju_json_next(laju_json *json);

#endif
