#include "proto/resp_frame.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hex.h"

#define LENGTH_DIGITS 10 /* of a length: enough for what is allowed, and never near 2^63 */

static laju_resp_step broken(laju_resp_request *out, const char *why) {
  snprintf(out->broken, sizeof out->broken, "%s", why);
  return LAJU_RESP_BROKEN;
}

static laju_resp_step broken_prefix(laju_resp_request *out, char got) {
  bool printable = got >= ' ' && got <= '~';
  snprintf(out->broken, sizeof out->broken, "expected '$', got '%c'", printable ? got : '?');
  return LAJU_RESP_BROKEN;
}

/* ---- arrays ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* A length up to its "\r\n". Returns the bytes it took, 0 where more are needed, -1 where it is no whole number. */
static int read_length(const char *at, const char *end, int64_t *out) {
  const char *from = at;
  bool negative = at < end && *at == '-';
  if (negative) at++;
  const char *digits = at;
  int64_t value = 0;
  for (; at < end && is_digit(*at); at++) {
    if (at - digits == LENGTH_DIGITS || (at > digits && *digits == '0')) return -1;
    value = value * 10 + (*at - '0');
  }
  if (at == end) return 0;
  if (at == digits || *at != '\r') return -1;
  if (at + 1 == end) return 0;
  if (at[1] != '\n') return -1;
  *out = negative ? -value : value;
  return (int)(at + 2 - from);
}

/* An argument's header, "$5\r\n". WHOLE: `len` bytes begin at `body`. */
typedef struct header {
  laju_resp_step step;
  uint32_t len;
  char *body;
} header;

static header read_header(char *at, const char *end, bool stranger, laju_resp_request *out) {
  if (at == end) return (header){.step = LAJU_RESP_PART};
  if (*at != '$') return (header){.step = broken_prefix(out, *at)};
  int64_t value;
  int used = read_length(at + 1, end, &value);
  if (used == 0) return (header){.step = LAJU_RESP_PART};
  if (used < 0 || value < 0 || value > LAJU_RESP_BULK_MAX) return (header){.step = broken(out, "invalid bulk length")};
  if (stranger && value > LAJU_RESP_STRANGER_BULK_MAX) {
    return (header){.step = broken(out, "unauthenticated bulk length")};
  }
  return (header){.step = LAJU_RESP_WHOLE, .len = (uint32_t)value, .body = at + 1 + used};
}

/* The same for up to 99 bytes, in one look: nearly all arguments are so. A NULL body where it is not one, or not here. */
static inline header read_short_header(char *at, const char *end) {
  header none = {.step = LAJU_RESP_PART};
  if (end - at < 8) return none;
  uint64_t word = laju_load64(at);
  uint32_t first = (uint32_t)(word >> 8 & 0xff) - '0', second = (uint32_t)(word >> 16 & 0xff) - '0';
  if (first > 9) return none;
  if ((word & 0xffff00ff) == ('$' | (uint64_t)'\r' << 16 | (uint64_t)'\n' << 24)) {
    return (header){.step = LAJU_RESP_WHOLE, .len = first, .body = at + 4};
  }
  if (first == 0 || second > 9) return none;
  if ((word & 0xffff0000ff) != ('$' | (uint64_t)'\r' << 24 | (uint64_t)'\n' << 32)) return none;
  return (header){.step = LAJU_RESP_WHOLE, .len = first * 10 + second, .body = at + 5};
}

/* Where a walk over arguments stands. */
typedef struct walk {
  char *at;
  const char *end;
  uint32_t left; /* arguments that begin at or after `at` */
  uint32_t done; /* arguments put into argv */
  bool stranger;
} walk;

/* Walks over `on->left` arguments as far as they are all there; into `argv`, where it is not NULL. */
static inline laju_resp_step walk_on(walk *on, laju_resp_argument *argv, laju_resp_request *out) {
  while (on->left > 0) {
    header head = read_short_header(on->at, on->end);
    if (head.body == NULL) {
      head = read_header(on->at, on->end, on->stranger, out);
      if (head.step != LAJU_RESP_WHOLE) return head.step;
      if (head.len > LAJU_RESP_ARGUMENT_MAX) {
        on->at = head.body;
        out->bulk_len = head.len;
        return LAJU_RESP_TOO_LONG;
      }
    }
    if ((size_t)(on->end - head.body) < head.len + 2) return LAJU_RESP_PART;
    char *stop = head.body + head.len;
    if (stop[0] != '\r' || stop[1] != '\n') return broken(out, "expected the end of an argument");
    if (argv != NULL) argv[on->done] = (laju_resp_argument){head.body, head.len};
    on->done++;
    on->left--;
    on->at = stop + 2;
  }
  return LAJU_RESP_WHOLE;
}

/* Answers that the array at `bytes` is refused, and lets by what is to come of it. */
static laju_resp_step refuse(laju_resp_reader *reader, laju_resp_step step, walk on, const char *bytes,
                             laju_resp_request *out) {
  out->argc = on.done;
  out->size = (size_t)(on.at - bytes);
  *reader = (laju_resp_reader){.skip_arguments = on.left};
  if (step == LAJU_RESP_TOO_LONG) {
    reader->skip_bytes = out->bulk_len + 2;
    reader->skip_arguments = on.left - 1;
  }
  return step;
}

/* The array's own header, "*3\r\n". WHOLE: `out->size` is its bytes, `*count` its arguments, 0 for none. */
static inline laju_resp_step read_array_header(const char *bytes, const char *end, bool stranger, uint32_t *count,
                                               laju_resp_request *out) {
  if (end - bytes >= 4 && is_digit(bytes[1]) && bytes[2] == '\r' && bytes[3] == '\n') { /* nearly always */
    out->size = 4;
    *count = (uint32_t)(bytes[1] - '0');
    return LAJU_RESP_WHOLE;
  }
  int64_t value;
  int used = read_length(bytes + 1, end, &value);
  if (used == 0) return LAJU_RESP_PART;
  if (used < 0 || value > LAJU_RESP_ARRAY_MAX) return broken(out, "invalid multibulk length");
  if (stranger && value > LAJU_RESP_STRANGER_ARRAY_MAX) return broken(out, "unauthenticated multibulk length");
  out->size = 1 + (size_t)used;
  *count = value > 0 ? (uint32_t)value : 0;
  return LAJU_RESP_WHOLE;
}

static laju_resp_step read_array(laju_resp_reader *reader, char *bytes, size_t len, bool stranger,
                                 laju_resp_request *out) {
  const char *end = bytes + len;
  uint32_t count = 0;
  laju_resp_step step = read_array_header(bytes, end, stranger, &count, out);
  if (step != LAJU_RESP_WHOLE) return step;
  bool too_many = count > LAJU_RESP_ARGUMENTS_MAX; /* then only the first argument is looked at, to name the command */
  bool again = reader->left > 0;                   /* looked at before: go on from there, then back for the arguments */
  walk on = {.at = bytes + (again ? reader->seen : out->size),
             .end = end,
             .left = again      ? reader->left
                     : too_many ? 1
                                : count,
             .stranger = stranger};
  out->array_len = count;
  step = walk_on(&on, again ? NULL : out->argv, out);
  if (step == LAJU_RESP_PART) {
    *reader = (laju_resp_reader){.seen = (uint32_t)(on.at - bytes), .left = on.left};
    out->size = 0;
    return step;
  }
  if (step == LAJU_RESP_BROKEN) return step;
  if (again) {
    *reader = (laju_resp_reader){0};
    return read_array(reader, bytes, len, stranger, out);
  }
  if (too_many) {
    on.left += count - 1;
    if (step == LAJU_RESP_WHOLE) step = LAJU_RESP_TOO_MANY;
  }
  if (step != LAJU_RESP_WHOLE) return refuse(reader, step, on, bytes, out);
  out->argc = on.done;
  out->size = (size_t)(on.at - bytes);
  return step;
}

/* ---- a refused request going by ---- */

static laju_resp_step skip(laju_resp_reader *reader, char *bytes, size_t len, bool stranger, laju_resp_request *out) {
  char *at = bytes, *end = bytes + len;
  laju_resp_step step = LAJU_RESP_PART;
  for (;;) {
    size_t here = (size_t)(end - at);
    uint32_t gone = here < reader->skip_bytes ? (uint32_t)here : reader->skip_bytes;
    at += gone;
    reader->skip_bytes -= gone;
    if (reader->skip_bytes > 0) break;
    if (reader->skip_arguments == 0) {
      step = LAJU_RESP_SKIPPED;
      break;
    }
    header head = read_header(at, end, stranger, out);
    if (head.step == LAJU_RESP_BROKEN) return LAJU_RESP_BROKEN;
    if (head.step == LAJU_RESP_PART) break;
    at = head.body;
    reader->skip_bytes = head.len + 2;
    reader->skip_arguments--;
  }
  out->size = (size_t)(at - bytes);
  return step;
}

/* ---- lines of words ---- */

static bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What a backslash at `at` (with a byte behind it, before `end`) stands for between double quotes; returns its length. */
static int unescape(const char *at, const char *end, char *out) {
  if (at[1] == 'x' && end - at >= 4 && laju_hex_value(at[2]) >= 0 && laju_hex_value(at[3]) >= 0) {
    *out = (char)(laju_hex_value(at[2]) * 16 + laju_hex_value(at[3]));
    return 4;
  }
  switch (at[1]) {
    case 'n': *out = '\n'; break;
    case 'r': *out = '\r'; break;
    case 't': *out = '\t'; break;
    case 'b': *out = '\b'; break;
    case 'a': *out = '\a'; break;
    default: *out = at[1];
  }
  return 2;
}

/* Unquotes a quoted part in place, from behind its opening quote; returns where it ends, behind the closing one, or NULL
 * where that is missing or something other than a space follows. `*to` is where the next byte of the word goes. */
static char *read_quoted(char *at, char *end, char quote, char **to) {
  while (at < end && *at != quote) {
    char c = *at;
    int used = 1;
    if (c == '\\' && at + 1 < end) {
      if (quote == '"') used = unescape(at, end, &c);
      if (quote == '\'' && at[1] == '\'') {
        c = '\'';
        used = 2;
      }
    }
    *(*to)++ = c;
    at += used;
  }
  if (at == end) return NULL;
  at++;
  return at == end || is_space(*at) ? at : NULL;
}

/* Reads one word in place from `at`, which is no space. Returns behind it, or NULL where its quotes are unbalanced. */
static char *read_word(char *at, char *end, laju_resp_argument *word) {
  char *to = at, *from = at;
  while (at < end && !is_space(*at)) {
    if (*at == '"' || *at == '\'') {
      char quote = *at;
      at = read_quoted(at + 1, end, quote, &to);
      if (at == NULL) return NULL;
      break;
    }
    *to++ = *at++;
  }
  *word = (laju_resp_argument){from, (uint32_t)(to - from)};
  return at;
}

/* Splits a whole line, its end taken off. Words too many are counted, not kept; a word too long ends the reading. */
static laju_resp_step read_words(char *at, char *end, laju_resp_request *out) {
  out->argc = 0;
  out->array_len = 0;
  for (;;) {
    while (at < end && is_space(*at)) at++;
    if (at == end) break;
    laju_resp_argument word;
    at = read_word(at, end, &word);
    if (at == NULL) return broken(out, "unbalanced quotes in request");
    out->array_len++;
    if (word.len > LAJU_RESP_ARGUMENT_MAX) {
      out->bulk_len = word.len;
      return LAJU_RESP_TOO_LONG;
    }
    if (out->argc < LAJU_RESP_ARGUMENTS_MAX) out->argv[out->argc++] = word;
  }
  return out->array_len > LAJU_RESP_ARGUMENTS_MAX ? LAJU_RESP_TOO_MANY : LAJU_RESP_WHOLE;
}

static laju_resp_step read_line(laju_resp_reader *reader, char *bytes, size_t len, laju_resp_request *out) {
  char *newline = memchr(bytes + reader->seen, '\n', len - reader->seen);
  size_t line = newline != NULL ? (size_t)(newline + 1 - bytes) : len;
  if (line > LAJU_RESP_LINE_MAX) return broken(out, "too big inline request");
  if (newline == NULL) {
    reader->seen = (uint32_t)len;
    return LAJU_RESP_PART;
  }
  reader->seen = 0;
  out->size = line;
  char *end = newline > bytes && newline[-1] == '\r' ? newline - 1 : newline;
  return read_words(bytes, end, out);
}

laju_resp_step laju_resp_read(laju_resp_reader *reader, char *bytes, size_t len, bool stranger,
                              laju_resp_request *out) {
  out->size = out->argc = 0;
  if (laju_resp_skipping(reader)) return skip(reader, bytes, len, stranger, out);
  if (len == 0) return LAJU_RESP_PART;
  if (bytes[0] == '*') return read_array(reader, bytes, len, stranger, out);
  return read_line(reader, bytes, len, out);
}
