#include <string.h>

#include "load/reply.h"

#define DIGITS_MAX 10

/* The number behind a type's mark. */
static int read_number(const char *line, size_t len, int64_t *out) {
  bool minus = len > 1 && line[1] == '-';
  size_t at = minus ? 2 : 1;
  int64_t value = 0;
  if (len == at || len - at > DIGITS_MAX) return -1;
  for (; at < len; at++) {
    if (line[at] < '0' || line[at] > '9') return -1;
    value = value * 10 + line[at] - '0';
  }
  *out = minus ? -value : value;
  return 0;
}

static void tell(laju_load_reader *reader, const char *text, size_t len) {
  if (reader->tally->error[0] == '\0') laju_load_tally_tell(reader->tally, text, len);
}

/* A value of the reply is over. */
static void end_value(laju_load_reader *reader) {
  static const char undecided[] = "the reply is no decision";
  laju_load_resp *resp = &reader->resp;
  if (--resp->left > 0) return;
  if (resp->verdict == LAJU_LOAD_UNDECIDED && reader->meaning != LAJU_LOAD_ANY) {
    tell(reader, undecided, sizeof undecided - 1);
    resp->verdict = LAJU_LOAD_FAILED;
  }
  laju_load_reader_end(reader, resp->verdict);
}

/* The first integer decides. */
static void take_integer(laju_load_reader *reader, const char *line, size_t len) {
  laju_load_resp *resp = &reader->resp;
  if (resp->verdict != LAJU_LOAD_UNDECIDED || reader->meaning == LAJU_LOAD_ANY) return;
  bool is_one = len == 2 && line[1] == '1';
  resp->verdict = is_one == (reader->meaning == LAJU_LOAD_ONE_ALLOWS) ? LAJU_LOAD_ALLOWED : LAJU_LOAD_DENIED;
}

static int take_array(laju_load_reader *reader, const char *line, size_t len) {
  int64_t elements;
  if (read_number(line, len, &elements) < 0) return -1;
  if (elements > 0) reader->resp.left += (uint64_t)elements;
  if (reader->resp.left > LAJU_LOAD_ELEMENTS_MAX) return -1;
  end_value(reader);
  return 0;
}

static int take_bulk(laju_load_reader *reader, const char *line, size_t len) {
  int64_t bytes;
  if (read_number(line, len, &bytes) < 0 || bytes > LAJU_LOAD_BULK_MAX) return -1;
  if (bytes < 0) {
    end_value(reader);
  } else {
    reader->resp.bulk = (uint64_t)bytes + 2;
  }
  return 0;
}

/* A line of which `len` bytes have come, its '\n' excluded; no more than the first LAJU_LOAD_LINE_MAX are there. */
static int take_line(laju_load_reader *reader, const char *line, size_t len) {
  laju_load_resp *resp = &reader->resp;
  if (len == 0 || (len <= LAJU_LOAD_LINE_MAX && line[len - 1] != '\r')) return -1;
  len = len > LAJU_LOAD_LINE_MAX ? LAJU_LOAD_LINE_MAX : len - 1;
  if (len == 0) return -1;
  bool outermost = resp->left == 0;
  if (outermost) {
    resp->left = 1;
    resp->verdict = LAJU_LOAD_UNDECIDED;
  }
  switch (line[0]) {
    case '*': return take_array(reader, line, len);
    case '$': return take_bulk(reader, line, len);
    case ':': take_integer(reader, line, len); break;
    case '+': break;
    case '-':
      if (!outermost) break;
      tell(reader, line + 1, len - 1);
      resp->verdict = LAJU_LOAD_FAILED;
      break;
    default: return -1;
  }
  end_value(reader);
  return 0;
}

static void hold(laju_load_resp *resp, const char *bytes, size_t len) {
  if (resp->held_len < LAJU_LOAD_LINE_MAX) {
    size_t room = LAJU_LOAD_LINE_MAX - resp->held_len;
    memcpy(resp->held + resp->held_len, bytes, len < room ? len : room);
  }
  resp->held_len += len;
}

/* Most lines of decisions: an integer behind the one that decided, and not the last. Anything else is looked at. */
static bool is_passed_over(const laju_load_resp *resp, const char *line, size_t len) {
  return resp->left > 1 && resp->held_len == 0 && resp->verdict != LAJU_LOAD_UNDECIDED && len > 1 && line[0] == ':' &&
         line[len - 1] == '\r';
}

static size_t skip_bulk(laju_load_reader *reader, size_t len) {
  laju_load_resp *resp = &reader->resp;
  size_t gone = len < resp->bulk ? len : (size_t)resp->bulk;
  resp->bulk -= gone;
  if (resp->bulk == 0) end_value(reader);
  return gone;
}

int laju_load_resp_feed(laju_load_reader *reader, const char *bytes, size_t len) {
  laju_load_resp *resp = &reader->resp;
  const char *at = bytes, *end = bytes + len;
  while (at < end) {
    if (resp->bulk > 0) {
      at += skip_bulk(reader, (size_t)(end - at));
      continue;
    }
    const char *line = at, *line_end = memchr(at, '\n', (size_t)(end - at));
    size_t part = (size_t)((line_end != NULL ? line_end : end) - at);
    if (line_end == NULL || resp->held_len > 0) hold(resp, line, part);
    if (line_end == NULL) return 0;
    at = line_end + 1;
    if (is_passed_over(resp, line, part)) {
      resp->left--;
      continue;
    }
    int error = resp->held_len > 0 ? take_line(reader, resp->held, resp->held_len) : take_line(reader, line, part);
    if (error < 0) return -1;
    resp->held_len = 0;
  }
  return 0;
}
