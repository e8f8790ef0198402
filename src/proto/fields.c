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

laju_slice laju_fields_cookie(const laju_fields *fields, const char *name) {
  size_t at = 0;
  laju_slice line, wanted = {name, strlen(name)};
  while (laju_fields_next(fields, "cookie", 6, &at, &line)) {
    while (line.at != NULL) {
      laju_slice value, pair = laju_slice_cut(line, ';', &line);
      if (!laju_slice_equal(laju_slice_trim(laju_slice_cut(pair, '=', &value)), wanted)) continue;
      value = laju_slice_trim(value);
      if (value.len > 0) return value;
    }
  }
  return (laju_slice){NULL, 0};
}
