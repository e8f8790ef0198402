#include "proto/http_problem.h"

#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"

#define TEXT_MAX 256 /* bytes that are taken of `detail` and `allowed` */

const char *laju_http_reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Unknown";
  }
}

static char *put(char *to, const char *text) {
  size_t len = strlen(text);
  memcpy(to, text, len);
  return to + len;
}

/* A byte that a JSON string cannot hold as it is. */
static char *put_escaped(char *to, unsigned char c) {
  static const char hex[] = "0123456789abcdef";
  to = put(to, "\\u00");
  *to++ = hex[c >> 4];
  *to++ = hex[c & 15];
  return to;
}

/* The inside of a JSON string: at most `max` bytes of the text, whole characters, and "..." where that is not all. */
static char *put_text(char *to, const char *text, size_t len, size_t max) {
  size_t at = 0;
  while (at < len) {
    size_t character = laju_utf8_length(text + at, len - at);
    size_t step = character > 0 ? character : 1;
    if (at + step > max) return put(to, "...");
    unsigned char c = (unsigned char)text[at];
    if (character == 0) {
      *to++ = '?';
    } else if (c < 0x20 || c == 0x7f) {
      to = put_escaped(to, c);
    } else {
      if (c == '"' || c == '\\') *to++ = '\\';
      memcpy(to, text + at, step);
      to += step;
    }
    at += step;
  }
  return to;
}

static char *put_field(char *to, const laju_problem *problem) {
  if (problem->index != LAJU_PROBLEM_NO_INDEX) {
    to = put(to, problem->list);
    *to++ = '[';
    to += laju_decimal(to, (int64_t)problem->index);
    *to++ = ']';
    if (problem->field.len > 0) *to++ = '.';
  }
  return put_text(to, problem->field.text, problem->field.len, LAJU_PROBLEM_SHOWN);
}

static char *put_detail(char *to, const laju_problem *problem) {
  if (problem->field.text != NULL) {
    to = put_field(to, problem);
    *to++ = ' ';
  }
  if (problem->at_byte > 0) to = put(to, "cannot be read: ");
  to = put_text(to, problem->detail, strlen(problem->detail), TEXT_MAX);
  if (problem->at_byte > 0) {
    to = put(to, " at byte ");
    to += laju_decimal(to, (int64_t)problem->at_byte);
  }
  if (problem->allowed == NULL) return to;
  to = put(to, "; allowed: ");
  return put_text(to, problem->allowed, strlen(problem->allowed), TEXT_MAX);
}

static char *put_value(char *to, const laju_problem *problem) {
  to = put(to, ",\"value\":");
  if (problem->literal.text != NULL) {
    memcpy(to, problem->literal.text, problem->literal.len);
    return to + problem->literal.len;
  }
  *to++ = '"';
  to = put_text(to, problem->value.text, problem->value.len, LAJU_PROBLEM_SHOWN);
  *to++ = '"';
  return to;
}

size_t laju_problem_write(const laju_problem *problem, char to[LAJU_PROBLEM_MAX]) {
  char *at = put(to, "{\"type\":\"about:blank\",\"title\":\"");
  at = put(at, laju_http_reason(problem->status));
  at = put(at, "\",\"status\":");
  at += laju_decimal(at, problem->status);
  at = put(at, ",\"detail\":\"");
  at = put_detail(at, problem);
  *at++ = '"';
  if (problem->field.text != NULL) {
    at = put(at, ",\"field\":\"");
    at = put_field(at, problem);
    *at++ = '"';
  }
  if (problem->value.text != NULL || problem->literal.text != NULL) at = put_value(at, problem);
  if (problem->allowed != NULL) {
    at = put(at, ",\"allowed\":\"");
    at = put_text(at, problem->allowed, strlen(problem->allowed), TEXT_MAX);
    *at++ = '"';
  }
  *at++ = '}';
  return (size_t)(at - to);
}
