/* CSV with a line of names: access_log.h has its form. */
#include "replay/access_line.h"

/* ---- cells ---- */

/* A cell in quotes, at `at`, brought into its final form where it lies; NULL where its end is missing. */
static char *read_quoted(char *at, char *end, laju_slice *out) {
  char *begin = at + 1, *to = begin;
  for (at = begin; at < end; at++) {
    if (*at == '"' && (at + 1 == end || at[1] != '"')) {
      *out = (laju_slice){begin, (size_t)(to - begin)};
      return at + 1;
    }
    if (*at == '"') at++; /* two stand for one */
    *to++ = *at;
  }
  return NULL;
}

/* The cell at `*at`, which goes on behind its separator, or becomes NULL behind the last. False: quotes that do not end, or end
 * before the cell does. */
static bool read_cell(char **at, char *end, char separator, laju_slice *out) {
  char *next = *at;
  if (next < end && *next == '"') {
    next = read_quoted(next, end, out);
    if (next == NULL || (next < end && *next != separator)) return false;
  } else {
    next = memchr(next, separator, (size_t)(end - next));
    if (next == NULL) next = end;
    *out = (laju_slice){*at, (size_t)(next - *at)};
  }
  *at = next < end ? next + 1 : NULL;
  return true;
}

/* ---- the first line ---- */

static char separator_of(laju_slice line) {
  for (size_t i = 0; i < line.len; i++) {
    if (line.at[i] == ',' || line.at[i] == ';' || line.at[i] == '\t') return line.at[i];
  }
  return ',';
}

/* A name without the space and the quotes around it. */
static laju_slice name_of(laju_slice cell) {
  cell = laju_slice_trim(cell);
  bool quoted = cell.len >= 2 && cell.at[0] == '"' && cell.at[cell.len - 1] == '"';
  return quoted ? (laju_slice){cell.at + 1, cell.len - 2} : cell;
}

/* Calls itself a byte order mark, and is no part of the first name. */
static laju_slice without_mark(laju_slice line) {
  bool marked = line.len >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0;
  return marked ? (laju_slice){line.at + 3, line.len - 3} : line;
}

bool laju_csv_is_header(const laju_access_names *names, laju_slice line) {
  line = without_mark(line);
  char separator = separator_of(line);
  bool has_role[LAJU_ROLES] = {false};
  while (line.at != NULL) {
    laju_access_name name;
    laju_access_names_find(names, name_of(laju_slice_cut(line, separator, &line)), &name);
    has_role[name.role] = true;
  }
  return has_role[LAJU_ROLE_TIME] && has_role[LAJU_ROLE_CLIENT];
}

static int read_names(laju_access_reader *reader, laju_slice line) {
  line = without_mark(line);
  reader->separator = separator_of(line);
  while (line.at != NULL) {
    if (reader->column_count == LAJU_ACCESS_COLUMNS_MAX) break; /* what is beyond is nothing to us */
    laju_slice name = name_of(laju_slice_cut(line, reader->separator, &line));
    laju_access_names_find(&reader->names, name, &reader->columns[reader->column_count++]);
  }
  return 0;
}

/* ---- the others ---- */

int laju_csv_read(laju_access_reader *reader, char *line, size_t len, laju_access *out) {
  if (reader->separator == 0) return read_names(reader, (laju_slice){line, len});
  laju_access_raw raw = {0};
  char *at = line, *end = line + len;
  for (size_t i = 0; i < reader->column_count && at != NULL; i++) {
    laju_slice cell;
    if (!read_cell(&at, end, reader->separator, &cell))
      return laju_access_fail(reader, "quotes do not end where a cell does");
    if (cell.len == 0 || (cell.len == 1 && cell.at[0] == '-')) continue;
    if (!laju_access_keep(&raw, out, &reader->columns[i], cell))
      return laju_access_fail(reader, LAJU_ACCESS_MANY_HEADERS);
  }
  return laju_access_finish(reader, &raw, out);
}
