#include "replay/access_log.h"

#include "replay/access_line.h"
#include "replay/access_time.h"

#include "proto/hops.h"
#include "proto/http.h"

#define HEADER_EXTRA 4 /* bytes of a header in a head beside its name and value: ": " and the line's end */

_Static_assert(LAJU_ACCESS_REQUEST_MAX < LAJU_HTTP_HEAD_MAX, "what the door takes, the readers give");
_Static_assert(LAJU_ACCESS_HEADERS_MAX <= LAJU_HTTP_HEADERS_MAX, "likewise");

static const char *const format_names[] = {NULL, "combined", "json", "csv"};

const char *laju_access_format_name(laju_access_format format) {
  return format > LAJU_FORMAT_UNKNOWN && format <= LAJU_FORMAT_CSV ? format_names[format] : NULL;
}

void laju_access_reader_init(laju_access_reader *reader, laju_access_format format, const laju_access_names *names) {
  *reader = (laju_access_reader){.format = format, .why = ""};
  if (names != NULL) reader->names = *names;
}

/* ---- what the formats share ---- */

bool laju_access_client(laju_slice text, laju_access *out) {
  out->addressed = !(text.len == 5 && memcmp(text.at, "unix:", 5) == 0);
  return !out->addressed || laju_hop_address(text, &out->client);
}

bool laju_access_request_line(laju_slice text, laju_access *out) {
  const char *space = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
  if (space == NULL || space == text.at) return false;
  out->method = (laju_slice){text.at, (size_t)(space - text.at)};
  laju_slice target = {space + 1, text.len - out->method.len - 1};
  const char *last = memrchr(target.at, ' ', target.len);
  size_t behind = last != NULL ? target.len - (size_t)(last + 1 - target.at) : 0;
  if (behind >= 5 && memcmp(last + 1, "HTTP/", 5) == 0) target.len = (size_t)(last - target.at);
  out->target = target;
  return target.len > 0;
}

bool laju_access_add_header(laju_access *out, laju_slice name, laju_slice value) {
  if (out->header_count == LAJU_ACCESS_HEADERS_MAX) return false;
  out->headers[out->header_count++] = (laju_access_header){name, value};
  return true;
}

bool laju_access_keep(laju_access_raw *raw, laju_access *out, const laju_access_name *name, laju_slice value) {
  if (name->role == LAJU_ROLE_NONE) return true;
  if (name->role == LAJU_ROLE_HEADER) {
    return laju_access_add_header(out, (laju_slice){name->header, name->header_len}, value);
  }
  if (raw->values[name->role].at != NULL && raw->ranks[name->role] < name->rank) return true;
  raw->values[name->role] = value;
  raw->ranks[name->role] = name->rank;
  return true;
}

bool laju_access_fits(const laju_access *access) {
  size_t size = access->method.len + access->target.len + access->host.len;
  for (size_t i = 0; i < access->header_count; i++) {
    size += access->headers[i].name.len + access->headers[i].value.len + HEADER_EXTRA;
  }
  return size <= LAJU_ACCESS_REQUEST_MAX;
}

/* What the request's own fields do not tell, its line may. False: it does not, and nothing else tells the target. */
static bool complete(laju_access *out, laju_slice line) {
  laju_slice method = out->method, target = out->target;
  if (line.at == NULL || (method.len > 0 && target.len > 0)) return true;
  if (!laju_access_request_line(line, out)) return target.len > 0;
  if (method.len > 0) out->method = method;
  if (target.len > 0) out->target = target;
  return true;
}

int laju_access_finish(laju_access_reader *reader, const laju_access_raw *raw, laju_access *out) {
  laju_slice time = raw->values[LAJU_ROLE_TIME], client = raw->values[LAJU_ROLE_CLIENT];
  if (time.at == NULL) return laju_access_fail(reader, "no field is known for the time; --fields time=NAME names one");
  if (client.at == NULL)
    return laju_access_fail(reader, "no field is known for the client; --fields client=NAME names one");
  if (laju_access_time_parse(time, &out->time_us) < 0) return laju_access_fail(reader, "the time cannot be read");
  if (!laju_access_client(client, out)) return laju_access_fail(reader, "the client is no address");
  if (raw->values[LAJU_ROLE_METHOD].at != NULL) out->method = raw->values[LAJU_ROLE_METHOD];
  if (raw->values[LAJU_ROLE_TARGET].at != NULL) out->target = raw->values[LAJU_ROLE_TARGET];
  if (raw->values[LAJU_ROLE_HOST].at != NULL) out->host = raw->values[LAJU_ROLE_HOST];
  if (!complete(out, raw->values[LAJU_ROLE_REQUEST])) return laju_access_fail(reader, LAJU_ACCESS_NO_REQUEST);
  return laju_access_fits(out) ? 1 : laju_access_fail(reader, LAJU_ACCESS_TOO_LONG);
}

/* ---- which format ---- */

static bool has_clf_time(laju_slice line) {
  const char *at = line.at, *end = line.at + line.len;
  int64_t time_us;
  while ((at = memchr(at, '[', (size_t)(end - at))) != NULL) {
    if (end - ++at > LAJU_CLF_TIME_LEN && laju_clf_time_parse(at, &time_us) == 0) return true;
  }
  return false;
}

static laju_access_format detect(const laju_access_reader *reader, laju_slice line) {
  if (line.at[0] == '{') return LAJU_FORMAT_JSON;
  if (laju_csv_is_header(&reader->names, line)) return LAJU_FORMAT_CSV;
  return has_clf_time(line) ? LAJU_FORMAT_COMBINED : LAJU_FORMAT_UNKNOWN;
}

int laju_access_read(laju_access_reader *reader, char *line, size_t len, laju_access *out) {
  if (len > 0 && line[len - 1] == '\r') len--;
  if (len == 0) return 0;
  if (len > LAJU_ACCESS_LINE_MAX) return laju_access_fail(reader, "the line is longer than 65536 bytes");
  if (reader->format == LAJU_FORMAT_UNKNOWN) reader->format = detect(reader, (laju_slice){line, len});
  out->header_count = 0;
  out->method = out->target = out->host = (laju_slice){"", 0};
  switch (reader->format) {
    case LAJU_FORMAT_COMBINED: return laju_combined_read(reader, line, len, out);
    case LAJU_FORMAT_JSON: return laju_json_line_read(reader, line, len, out);
    case LAJU_FORMAT_CSV: return laju_csv_read(reader, line, len, out);
    default: return laju_access_fail(reader, "no format is recognised; --format says which");
  }
}
