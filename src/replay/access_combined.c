/* nginx' and Apache's combined format: access_log.h has its form. */
#include "base/percent.h"
#include "replay/access_line.h"
#include "replay/access_time.h"

/* What is left of the line. */
typedef struct cursor {
  char *at, *end;
} cursor;

/* ---- quoted texts ---- */

/* The byte that an escape at `*from` (a backslash) stands for; what is no escape is a backslash. */
static char unescape(char **from, const char *end) {
  static const char letters[] = "\"\\tnrbv", meanings[] = "\"\\\t\n\r\b\v";
  char *at = *from;
  if (end - at >= 4 && at[1] == 'x') {
    int high = laju_hex_value(at[2]), low = laju_hex_value(at[3]);
    if (high >= 0 && low >= 0) {
      *from += 4;
      return (char)(high * 16 + low);
    }
  }
  const char *known = end - at >= 2 && at[1] != '\0' ? strchr(letters, at[1]) : NULL;
  *from += known != NULL ? 2 : 1;
  return known != NULL ? meanings[known - letters] : '\\';
}

/* From the first backslash on, at `at`; the text began at `begin`. */
static bool read_escaped(cursor *c, const char *begin, char *at, laju_slice *out) {
  char *to = at;
  while (at < c->end && *at != '"') {
    if (*at == '\\') {
      *to++ = unescape(&at, c->end);
    } else {
      *to++ = *at++;
    }
  }
  if (at == c->end) return false;
  *out = (laju_slice){begin, (size_t)(to - begin)};
  c->at = at + 1;
  return true;
}

/* The next text in quotes, which is behind one space; a single dash stands for nothing (`at` NULL). False: there is none. */
static bool read_quoted(cursor *c, laju_slice *out) {
  if (c->end - c->at < 2 || c->at[0] != ' ' || c->at[1] != '"') return false;
  char *begin = c->at + 2;
  char *quote = memchr(begin, '"', (size_t)(c->end - begin));
  if (quote == NULL) return false;
  size_t len = (size_t)(quote - begin);
  char *escape = memchr(begin, '\\', len);
  if (escape != NULL) {
    if (!read_escaped(c, begin, escape, out)) return false;
  } else {
    *out = (laju_slice){begin, len};
    c->at = quote + 1;
  }
  if (out->len == 1 && out->at[0] == '-') *out = (laju_slice){NULL, 0};
  return true;
}

/* ---- the line ---- */

static laju_slice read_word(cursor *c) {
  char *space = memchr(c->at, ' ', (size_t)(c->end - c->at));
  char *begin = c->at, *end = space != NULL ? space : c->end;
  c->at = end;
  return (laju_slice){begin, (size_t)(end - begin)};
}

/* The address, or a host and the address. */
static bool read_client(cursor *c, laju_access *out) {
  laju_slice first = read_word(c);
  if (laju_access_client(first, out)) return true;
  if (c->end - c->at < 2) return false;
  c->at++;
  out->host = first;
  return laju_access_client(read_word(c), out);
}

/* The time in brackets, past whatever the user's name is. */
static bool read_time(cursor *c, laju_access *out) {
  char *at = c->at;
  while ((at = memchr(at, '[', (size_t)(c->end - at))) != NULL) {
    at++;
    if (c->end - at <= LAJU_CLF_TIME_LEN) return false;
    if (at[LAJU_CLF_TIME_LEN] != ']' || laju_clf_time_parse(at, &out->time_us) < 0) continue;
    c->at = at + LAJU_CLF_TIME_LEN + 1;
    return true;
  }
  return false;
}

/* Two words behind the request, the status and the bytes, which say nothing to us. */
static void skip_answer(cursor *c) {
  for (int i = 0; i < 2; i++) {
    if (c->end - c->at < 2 || c->at[0] != ' ' || c->at[1] == '"') return;
    c->at++;
    read_word(c);
  }
}

static void read_headers(cursor *c, laju_access *out) {
  static const laju_slice names[] = {{"referer", 7}, {"user-agent", 10}, {"x-forwarded-for", 15}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    laju_slice value;
    if (!read_quoted(c, &value)) return;
    if (value.len > 0) laju_access_add_header(out, names[i], value);
  }
}

int laju_combined_read(laju_access_reader *reader, char *line, size_t len, laju_access *out) {
  cursor c = {line, line + len};
  laju_slice request;
  if (!read_client(&c, out)) return laju_access_fail(reader, "it does not begin with an address");
  if (!read_time(&c, out)) return laju_access_fail(reader, "no time in brackets, as [10/Oct/2026:13:55:36 +0000]");
  if (!read_quoted(&c, &request)) return laju_access_fail(reader, "no request in quotes behind the time");
  if (!laju_access_request_line(request, out)) return laju_access_fail(reader, LAJU_ACCESS_NO_REQUEST);
  skip_answer(&c);
  read_headers(&c, out);
  return laju_access_fits(out) ? 1 : laju_access_fail(reader, LAJU_ACCESS_TOO_LONG);
}
