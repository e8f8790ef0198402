#include "replay/text.h"

#include <string.h>

#include "base/utf8.h"
#include "replay/access_time.h"

/* The length of the printable character at `text`; 0 where it is none. U+0080 to U+009F are control characters too. */
static size_t printable(const char *text, size_t left) {
  size_t len = laju_utf8_length(text, left);
  unsigned char c = (unsigned char)text[0];
  bool control = c < 0x20 || c == 0x7f || (len == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0);
  return control ? 0 : len;
}

void laju_text_add_plain(laju_buffer *to, laju_slice text, size_t max) {
  for (size_t at = 0, shown = 0; at < text.len; shown++) {
    size_t len = printable(text.at + at, text.len - at);
    if (shown == max) {
      laju_buffer_add_text(to, "...");
      return;
    }
    if (len > 0) {
      laju_buffer_add(to, text.at + at, len);
      at += len;
    } else {
      laju_buffer_add_format(to, "\\x%02x", (unsigned char)text.at[at++]);
    }
  }
}

void laju_text_add_xml(laju_buffer *to, laju_slice text) {
  for (size_t at = 0; at < text.len;) {
    size_t len = printable(text.at + at, text.len - at);
    switch (len > 0 ? text.at[at] : '\0') {
      case '\0': laju_buffer_add_text(to, "?"); break;
      case '&': laju_buffer_add_text(to, "&amp;"); break;
      case '<': laju_buffer_add_text(to, "&lt;"); break;
      case '>': laju_buffer_add_text(to, "&gt;"); break;
      default: laju_buffer_add(to, text.at + at, len); break;
    }
    at += len > 0 ? len : 1;
  }
}

void laju_text_add_count(laju_buffer *to, uint64_t count) {
  char digits[20];
  size_t len = 0;
  do {
    digits[len++] = (char)('0' + count % 10);
    count /= 10;
  } while (count > 0);
  while (len > 0) {
    laju_buffer_add(to, &digits[--len], 1);
    if (len > 0 && len % 3 == 0) laju_buffer_add_text(to, ",");
  }
}

void laju_text_add_share(laju_buffer *to, uint64_t part, uint64_t whole) {
  if (whole == 0) {
    laju_buffer_add_text(to, "-");
  } else {
    laju_buffer_add_format(to, "%.2f%%", 100.0 * (double)part / (double)whole);
  }
}

void laju_text_add_time(laju_buffer *to, int64_t time_us) {
  char text[LAJU_TIME_TEXT_SIZE] = "-";
  if (time_us >= 0) laju_time_format(text, time_us);
  laju_buffer_add_text(to, text);
}

size_t laju_text_width(const char *text, size_t len) {
  size_t width = 0;
  for (size_t i = 0; i < len; i++) width += ((unsigned char)text[i] & 0xc0) != 0x80;
  return width;
}
