#include "proto/json_text.h"

#include <inttypes.h>

#include "base/utf8.h"

static void add_json_byte(laju_buffer *to, unsigned char c) {
  if (c == '"' || c == '\\') {
    laju_buffer_add_format(to, "\\%c", c);
  } else if (c < 0x20 || c == 0x7f) {
    laju_buffer_add_format(to, "\\u%04x", c);
  } else {
    laju_buffer_add(to, &c, 1);
  }
}

void laju_json_add_text(laju_buffer *to, laju_slice text) {
  laju_buffer_add_text(to, "\"");
  for (size_t at = 0; at < text.len;) {
    size_t len = laju_utf8_length(text.at + at, text.len - at);
    if (len == 1) {
      add_json_byte(to, (unsigned char)text.at[at]);
    } else if (len == 0) {
      laju_buffer_add_text(to, "\\ufffd");
    } else {
      laju_buffer_add(to, text.at + at, len);
    }
    at += len > 0 ? len : 1;
  }
  laju_buffer_add_text(to, "\"");
}

void laju_json_add_name(laju_buffer *to, const char *name) {
  char last = to->len > 0 ? to->data[to->len - 1] : '{';
  laju_buffer_add_format(to, "%s\"%s\":", last == '{' ? "" : ",", name);
}

void laju_json_add_count(laju_buffer *to, const char *name, uint64_t value) {
  laju_json_add_name(to, name);
  laju_buffer_add_format(to, "%" PRIu64, value);
}

void laju_json_add_bool(laju_buffer *to, const char *name, bool value) {
  laju_json_add_name(to, name);
  laju_buffer_add_text(to, value ? "true" : "false");
}

void laju_json_add_string(laju_buffer *to, const char *name, laju_slice value) {
  laju_json_add_name(to, name);
  laju_json_add_text(to, value);
}

void laju_json_add_word(laju_buffer *to, const char *name, const char *value) {
  laju_json_add_string(to, name, (laju_slice){value, strlen(value)});
}

/* Behind the bracket that opened the list there is no comma. */
static void separate(laju_buffer *to) {
  if (to->len > 0 && to->data[to->len - 1] != '[') laju_buffer_add_text(to, ",");
}

void laju_json_begin_element(laju_buffer *to) {
  separate(to);
  laju_buffer_add_text(to, "{");
}

void laju_json_add_element(laju_buffer *to, laju_slice text) {
  separate(to);
  laju_json_add_text(to, text);
}
