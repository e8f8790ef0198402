/* JSON lines: an object a line. */
#include "proto/json.h"
#include "replay/access_line.h"

/* Names that mean nothing are remembered only in the first half, so that a log with ever new ones leaves room for the others. */
#define UNKNOWN_MAX (LAJU_ACCESS_COLUMNS_MAX / 2)

typedef struct parsing {
  laju_access_reader *reader;
  laju_json json;
  laju_access_raw raw;
  laju_access *out;
  size_t next; /* the name that most likely comes now */
  const char *why;
} parsing;

static bool is(const laju_access_name *name, laju_slice text) {
  return name->len == text.len && memcmp(name->text, text.at, text.len) == 0;
}

/* What a member's name stands for; NULL for nothing. A log's lines mostly have the same members in the same order. */
static const laju_access_name *find(parsing *p, laju_slice text) {
  laju_access_reader *reader = p->reader;
  if (p->next < reader->column_count && is(&reader->columns[p->next], text)) return &reader->columns[p->next++];
  for (size_t i = 0; i < reader->column_count; i++) {
    if (!is(&reader->columns[i], text)) continue;
    p->next = i + 1;
    return &reader->columns[i];
  }
  laju_access_name name;
  laju_access_names_find(&reader->names, text, &name);
  size_t most = name.role == LAJU_ROLE_NONE ? UNKNOWN_MAX : LAJU_ACCESS_COLUMNS_MAX;
  if (name.len != text.len || reader->column_count >= most) return NULL;
  reader->columns[reader->column_count] = name;
  p->next = reader->column_count + 1;
  return &reader->columns[reader->column_count++];
}

static laju_slice text_of(const laju_json *json) {
  return (laju_slice){json->text, json->text_len};
}

/* Passes over the array or object that has just begun. */
static bool skip(laju_json *json) {
  unsigned depth = json->depth;
  while (json->depth >= depth) {
    if (laju_json_next(json) == LAJU_JSON_ERROR) return false;
  }
  return true;
}

static bool add_header(parsing *p, laju_slice name, laju_slice value) {
  if (value.len == 0 || laju_access_add_header(p->out, name, value)) return true;
  p->why = LAJU_ACCESS_MANY_HEADERS;
  return false;
}

/* A header's value, which is a text or a list of texts. */
static bool read_header(parsing *p, laju_slice name) {
  laju_json_kind kind = laju_json_next(&p->json);
  if (kind == LAJU_JSON_STRING) return add_header(p, name, text_of(&p->json));
  if (kind == LAJU_JSON_OBJECT) return skip(&p->json);
  if (kind != LAJU_JSON_ARRAY) return kind != LAJU_JSON_ERROR;
  while ((kind = laju_json_next(&p->json)) != LAJU_JSON_ARRAY_END) {
    if (kind == LAJU_JSON_ERROR) return false;
    if (kind == LAJU_JSON_STRING && !add_header(p, name, text_of(&p->json))) return false;
    if ((kind == LAJU_JSON_ARRAY || kind == LAJU_JSON_OBJECT) && !skip(&p->json)) return false;
  }
  return true;
}

/* The members of `headers`, which has just begun. */
static bool read_headers(parsing *p) {
  laju_json_kind kind;
  while ((kind = laju_json_next(&p->json)) == LAJU_JSON_NAME) {
    if (!read_header(p, text_of(&p->json))) return false;
  }
  return kind == LAJU_JSON_OBJECT_END;
}

static bool keep(parsing *p, const laju_access_name *name, laju_slice value) {
  if (name == NULL || value.len == 0 || (value.len == 1 && value.at[0] == '-')) return true;
  if (laju_access_keep(&p->raw, p->out, name, value)) return true;
  p->why = LAJU_ACCESS_MANY_HEADERS;
  return false;
}

static bool read_value(parsing *p, const laju_access_name *name) {
  laju_access_role role = name != NULL ? (laju_access_role)name->role : LAJU_ROLE_NONE;
  switch (laju_json_next(&p->json)) {
    case LAJU_JSON_ERROR: return false;
    case LAJU_JSON_STRING:
    case LAJU_JSON_INTEGER:
    case LAJU_JSON_REAL: return keep(p, name, text_of(&p->json));
    case LAJU_JSON_ARRAY: return skip(&p->json);
    case LAJU_JSON_OBJECT:
      if (role == LAJU_ROLE_HEADERS) return read_headers(p);
      return role == LAJU_ROLE_REQUEST || skip(&p->json); /* its members are read as if they stood here */
    default: return true;
  }
}

static bool read_line(parsing *p) {
  if (laju_json_next(&p->json) != LAJU_JSON_OBJECT) return false;
  for (;;) {
    laju_json_kind kind = laju_json_next(&p->json);
    if (kind == LAJU_JSON_END) return true;
    if (kind == LAJU_JSON_ERROR) return false;
    if (kind == LAJU_JSON_NAME && !read_value(p, find(p, text_of(&p->json)))) return false;
  }
}

int laju_json_line_read(laju_access_reader *reader, char *line, size_t len, laju_access *out) {
  parsing p = {.reader = reader, .out = out};
  laju_json_init(&p.json, line, len);
  if (read_line(&p)) return laju_access_finish(reader, &p.raw, out);
  if (p.why != NULL) return laju_access_fail(reader, p.why);
  return laju_access_fail(reader, p.json.error != NULL ? p.json.error : "an object is missing");
}
