/* Inside `replay` only: what the formats' readers share. */
#ifndef LAJU_REPLAY_ACCESS_LINE_H
#define LAJU_REPLAY_ACCESS_LINE_H

#include "replay/access_log.h"

/* What several of them find wrong. */
#define LAJU_ACCESS_NO_REQUEST "the request is not METHOD TARGET PROTOCOL"
#define LAJU_ACCESS_TOO_LONG "the request is longer than 16000 bytes"
#define LAJU_ACCESS_MANY_HEADERS "more than 100 headers"

/* What a line tells, field by field, as text; `at` is NULL where it does not. */
typedef struct laju_access_raw {
  laju_slice values[LAJU_ROLES]; /* by role; LAJU_ROLE_HEADER's is not used */
  uint8_t ranks[LAJU_ROLES];     /* of the name that told it */
} laju_access_raw;

/* Each returns what laju_access_read does. */
int laju_combined_read(laju_access_reader *reader, char *line, size_t len, laju_access *out);
int laju_json_line_read(laju_access_reader *reader, char *line, size_t len, laju_access *out);
int laju_csv_read(laju_access_reader *reader, char *line, size_t len, laju_access *out);

/* Does this first line name columns for a time and a client? */
bool laju_csv_is_header(const laju_access_names *names, laju_slice line);

/* Keeps a value under what its name stands for, unless a better name has told it. False: a header too many. */
bool laju_access_keep(laju_access_raw *raw, laju_access *out, const laju_access_name *name, laju_slice value);

/* False: one too many. */
bool laju_access_add_header(laju_access *out, laju_slice name, laju_slice value);

/* The request that the texts tell of. 1, or -1. */
int laju_access_finish(laju_access_reader *reader, const laju_access_raw *raw, laju_access *out);

/* "192.0.2.1", with a port too; "unix:" is no address, and fine. */
bool laju_access_client(laju_slice text, laju_access *out);

/* "GET /x HTTP/1.1" */
bool laju_access_request_line(laju_slice text, laju_access *out);

/* Is what was read of the request within what laju's door would take? */
bool laju_access_fits(const laju_access *access);

static inline int laju_access_fail(laju_access_reader *reader, const char *why) {
  reader->why = why;
  return -1;
}

#endif
