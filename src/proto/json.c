#include "proto/json.h"

#include <string.h>

#include "base/hex.h"
#include "base/utf8.h"

enum {
  WANT_DOCUMENT,
  WANT_VALUE,
  WANT_VALUE_OR_END,
  WANT_NAME,
  WANT_NAME_OR_END,
  WANT_COMMA_OR_END,
  WANT_NOTHING,
};

void laju_json_init(laju_json *json, char *bytes, size_t len) {
  *json = (laju_json){.begin = bytes, .at = bytes, .end = bytes + len, .want = WANT_DOCUMENT};
}

static laju_json_kind fail(laju_json *json, const char *error) {
  json->error = error;
  json->end = json->at; /* nothing more is read */
  json->want = WANT_VALUE;
  return LAJU_JSON_ERROR;
}

static inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* False at the end of the bytes. */
static inline bool skip_space(laju_json *json) {
  while (json->at < json->end) {
    char c = *json->at;
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return true;
    json->at++;
  }
  return false;
}

/* ---- strings ---- */

static char *put_utf8(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
  } else if (c < 0x800) {
    *to++ = (char)(0xc0 | c >> 6);
    *to++ = (char)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *to++ = (char)(0xe0 | c >> 12);
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  } else {
    *to++ = (char)(0xf0 | c >> 18);
    *to++ = (char)(0x80 | (c >> 12 & 0x3f));
    *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    *to++ = (char)(0x80 | (c & 0x3f));
  }
  return to;
}

/* The four hex digits of \uXXXX, whose backslash is at `from`; -1 where it is none. */
static int32_t hex_escape(const char *from, const char *end) {
  if (end - from < 6 || from[0] != '\\' || from[1] != 'u') return -1;
  int32_t value = 0;
  for (int i = 2; i < 6; i++) {
    int digit = laju_hex_value(from[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/* A \uXXXX, or the two of a surrogate pair, at `*from`, written at `*to`. */
static bool unescape_hex(char **from, const char *end, char **to) {
  int32_t value = hex_escape(*from, end);
  if (value <= 0 || (value >= 0xdc00 && value <= 0xdfff)) return false;
  *from += 6;
  uint32_t c = (uint32_t)value;
  if (value >= 0xd800 && value <= 0xdbff) {
    int32_t low = hex_escape(*from, end);
    if (low < 0xdc00 || low > 0xdfff) return false;
    *from += 6;
    c = 0x10000 + ((uint32_t)(value - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
  }
  *to = put_utf8(*to, c);
  return true;
}

static bool unescape(char **from, const char *end, char **to) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  if (end - *from < 2) return false;
  char letter = (*from)[1];
  if (letter == 'u') return unescape_hex(from, end, to);
  const char *known = letter != '\0' ? strchr(letters, letter) : NULL;
  if (known == NULL) return false;
  *(*to)++ = meanings[known - letters];
  *from += 2;
  return true;
}

/* The part of a string that begins with something else than plain ASCII, at `at`. */
static bool read_string_rest(laju_json *json, char *at) {
  char *to = at, *end = json->end;
  while (at < end && *at != '"') {
    json->at = at;
    if (*at == '\\') {
      if (!unescape(&at, end, &to)) return fail(json, "an escape that JSON does not have, or half of a surrogate pair");
      continue;
    }
    if ((unsigned char)*at < 0x20) return fail(json, "a control character in a string");
    size_t len = laju_utf8_length(at, (size_t)(end - at));
    if (len == 0) return fail(json, "bytes that are not UTF-8");
    memmove(to, at, len);
    to += len;
    at += len;
  }
  json->at = at;
  if (at == end) return fail(json, "a string that does not end");
  json->text_len = (size_t)(to - json->text);
  json->at++;
  return true;
}

/* At the opening quote. Most strings are plain, and are left as they lie. */
static inline bool read_string(laju_json *json) {
  char *at = json->at + 1;
  json->text = at;
  while (at < json->end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\') at++;
  if (at == json->end || *at != '"') return read_string_rest(json, at);
  json->text_len = (size_t)(at - json->text);
  json->at = at + 1;
  return true;
}

/* ---- numbers and words ---- */

/* The token from json->at to `end`. jansson looks one byte beyond a number or a word, and where that is 0 it forgets it. */
static inline laju_json_kind take(laju_json *json, char *end, laju_json_kind kind) {
  json->text = json->at;
  json->text_len = (size_t)(end - json->at);
  json->at = end < json->end && *end == '\0' ? end + 1 : end;
  return kind;
}

/* 2^1024 - 2^970, the least number that rounds to infinity: its first digit stands for 10^308. */
static const char infinite[] =
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797758720709633028641669288"
    "79109465555478519404026306574886715058206819089020007083836762738548458117115317644757302700698555713669596228429148"
    "19860834936475292719074168444365510704342711559699508093042880";

/* Would the number (sign skipped) round to infinity? Exact: the digits are compared, none is computed with. */
static bool overflows(const char *text, const char *end, int64_t exponent) {
  const char *at = text;
  while (at < end && (*at == '0' || *at == '.')) at++;
  if (at == end || !is_digit(*at)) return false; /* zero */
  const char *point = memchr(text, '.', (size_t)(end - text));
  const char *mantissa_end = end;
  for (const char *e = text; e < end; e++) {
    if (*e == 'e' || *e == 'E') mantissa_end = e;
  }
  if (point == NULL) point = mantissa_end;
  /* The power of ten that the first digit stands for. */
  int64_t power = exponent + (at < point ? point - at - 1 : point - at);
  if (power != 308) return power > 308;
  size_t i = 0;
  for (; at < mantissa_end && i < sizeof infinite - 1; at++) {
    if (*at == '.') continue;
    if (*at != infinite[i]) return *at > infinite[i];
    i++;
  }
  for (; i < sizeof infinite - 1; i++) {
    if (infinite[i] != '0') return false;
  }
  return true;
}

/* Digits at `at`, at least one; NULL where there is none. */
static char *skip_digits(char *at, const char *end) {
  if (at == end || !is_digit(*at)) return NULL;
  while (at < end && is_digit(*at)) at++;
  return at;
}

/* "+12" as a number. No text is long enough to make up for an exponent beyond 10^12, so it stops growing there. */
static int64_t exponent_of(const char *at, const char *end) {
  bool negative = *at == '-';
  int64_t value = 0;
  for (at += *at == '-' || *at == '+'; at < end; at++) {
    if (value < INT64_C(1000000000000)) value = value * 10 + (*at - '0');
  }
  return negative ? -value : value;
}

/* From the point or the e on, at `at`; the number began at json->at. */
static laju_json_kind read_real(laju_json *json, char *at) {
  char *end = json->end;
  int64_t exponent = 0;
  if (*at == '.') {
    at = skip_digits(at + 1, end);
    if (at == NULL) return fail(json, "a number without digits behind its point");
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    char *from = ++at;
    if (at < end && (*at == '+' || *at == '-')) at++;
    at = skip_digits(at, end);
    if (at == NULL) return fail(json, "a number without digits in its exponent");
    exponent = exponent_of(from, at);
  }
  if (overflows(json->at + (*json->at == '-'), at, exponent)) return fail(json, "a number that is too large");
  return take(json, at, LAJU_JSON_REAL);
}

static laju_json_kind read_number(laju_json *json) {
  char *at = json->at, *end = json->end;
  bool negative = *at == '-';
  at += negative;
  char *digits = at;
  uint64_t value = 0;
  for (; at < end && is_digit(*at); at++) value = value * 10 + (uint64_t)(*at - '0');
  if (at == digits) return fail(json, "a number without digits");
  if (*digits == '0' && at - digits > 1) return fail(json, "a number that begins with 0");
  if (at < end && (*at == '.' || *at == 'e' || *at == 'E')) return read_real(json, at);
  if (at - digits > 19 || value > (uint64_t)INT64_MAX + negative) return fail(json, "a whole number that is too large");
  json->integer = negative ? (int64_t)(0 - value) : (int64_t)value;
  return take(json, at, LAJU_JSON_INTEGER);
}

static laju_json_kind read_word(laju_json *json, const char *word, size_t len, laju_json_kind kind) {
  if ((size_t)(json->end - json->at) < len || memcmp(json->at, word, len) != 0) {
    return fail(json, "a word that JSON does not have");
  }
  return take(json, json->at + len, kind);
}

/* ---- structure ---- */

static laju_json_kind enter(laju_json *json, bool object) {
  if (json->depth == LAJU_JSON_DEPTH_MAX) return fail(json, "nested deeper than 8");
  json->at++;
  json->depth++;
  json->objects = json->objects << 1 | object;
  json->want = object ? WANT_NAME_OR_END : WANT_VALUE_OR_END;
  return object ? LAJU_JSON_OBJECT : LAJU_JSON_ARRAY;
}

static laju_json_kind leave(laju_json *json) {
  bool object = json->objects & 1;
  json->at++;
  json->depth--;
  json->objects >>= 1;
  json->want = json->depth > 0 ? WANT_COMMA_OR_END : WANT_NOTHING;
  return object ? LAJU_JSON_OBJECT_END : LAJU_JSON_ARRAY_END;
}

static laju_json_kind read_value(laju_json *json) {
  json->want = WANT_COMMA_OR_END;
  switch (*json->at) {
    case '{': return enter(json, true);
    case '[': return enter(json, false);
    case '"': return read_string(json) ? LAJU_JSON_STRING : LAJU_JSON_ERROR;
    case 't': return read_word(json, "true", 4, LAJU_JSON_TRUE);
    case 'f': return read_word(json, "false", 5, LAJU_JSON_FALSE);
    case 'n': return read_word(json, "null", 4, LAJU_JSON_NULL);
    case '-':
    case '0' ... '9': return read_number(json);
    default: return fail(json, "a value is missing");
  }
}

static laju_json_kind read_name(laju_json *json) {
  if (*json->at != '"') return fail(json, "a member's name is missing");
  if (!read_string(json)) return LAJU_JSON_ERROR;
  if (!skip_space(json) || *json->at != ':') return fail(json, "a colon is missing");
  json->at++;
  json->want = WANT_VALUE;
  return LAJU_JSON_NAME;
}

laju_json_kind laju_json_next(laju_json *json) {
  if (!skip_space(json)) {
    if (json->want == WANT_NOTHING) return LAJU_JSON_END;
    return json->error != NULL ? LAJU_JSON_ERROR : fail(json, "the text ends too early");
  }
  char closing = json->objects & 1 ? '}' : ']';
  switch (json->want) {
    case WANT_NOTHING: return fail(json, "something follows the document");
    case WANT_DOCUMENT:
      if (*json->at != '{' && *json->at != '[') return fail(json, "an object or an array is missing");
      return read_value(json);
    case WANT_COMMA_OR_END:
      if (*json->at == closing) return leave(json);
      if (*json->at != ',') return fail(json, "a comma or the end is missing");
      json->at++;
      if (!skip_space(json)) return fail(json, "the text ends too early");
      return json->objects & 1 ? read_name(json) : read_value(json);
    case WANT_NAME_OR_END: return *json->at == closing ? leave(json) : read_name(json);
    case WANT_VALUE_OR_END: return *json->at == closing ? leave(json) : read_value(json);
    default: return read_value(json);
  }
}
