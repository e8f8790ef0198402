#include "proto/fields.h"

#include <strings.h>

bool laju_field_named(laju_slice name, const char *other, size_t other_len) {
  return name.len == other_len && strncasecmp(name.at, other, other_len) == 0;
}

bool laju_fields_next(const laju_fields *fields, const char *name, size_t name_len, size_t *at, laju_slice *value) {
  while (*at < fields->count) {
    size_t i = (*at)++;
    if (!laju_field_named(laju_field_name(fields, i), name, name_len)) continue;
    *value = laju_field_value(fields, i);
    if (value->len > 0) return true;
  }
  return false;
}
