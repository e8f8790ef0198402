/* A request's header fields, as they lie in its head. Found by name; several lines of one name in their order. Pure. */
#ifndef LAJU_PROTO_FIELDS_H
#define LAJU_PROTO_FIELDS_H

#include <stdint.h>

#include "base/slice.h"

/* One line; offsets count from the request's first byte, and a head is at most 16 KiB. */
typedef struct laju_field {
  uint16_t name_at, name_len, value_at, value_len;
} laju_field;

typedef struct laju_fields {
  const char *bytes; /* the request's */
  const laju_field *list;
  size_t count;
} laju_fields;

static inline laju_slice laju_field_name(const laju_fields *fields, size_t i) {
  return (laju_slice){fields->bytes + fields->list[i].name_at, fields->list[i].name_len};
}

/* Without the space around it. */
static inline laju_slice laju_field_value(const laju_fields *fields, size_t i) {
  return laju_slice_trim((laju_slice){fields->bytes + fields->list[i].value_at, fields->list[i].value_len});
}

/* Is this the name (case does not matter)? */
bool laju_field_named(laju_slice name, const char *other, size_t other_len);

/* The value of the first line from `*at` on that has this name and is not empty; `*at` goes on behind it. False: no more. */
bool laju_fields_next(const laju_fields *fields, const char *name, size_t name_len, size_t *at, laju_slice *value);

/* The first cookie of this name that has a value, as it was sent; `at` NULL: none. */
laju_slice laju_fields_cookie(const laju_fields *fields, const char *name);

#endif
