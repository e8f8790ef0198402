/* A growing run of bytes, for replies and files. Owned by one thread; its memory is its own.
 *
 * Running out of memory is remembered, not returned: appending to a failed buffer does nothing, and `failed` is checked
 * once, where the bytes are used. A buffer that is reused (laju_buffer_clear) stops allocating once it is warm.
 */
#ifndef LAJU_BASE_BUFFER_H
#define LAJU_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct laju_buffer {
  char *data; /* `len` bytes, not terminated; NULL while nothing was appended */
  size_t len, cap;
  bool failed; /* memory ran out: the bytes are incomplete */
} laju_buffer; /* all zeros is an empty buffer */

void laju_buffer_deinit(laju_buffer *buffer);

/* Keeps the memory, forgets the bytes and the failure. */
void laju_buffer_clear(laju_buffer *buffer);

/* Room for `more` bytes after `len`; NULL where memory ran out. The caller writes there and adds to `len`. */
char *laju_buffer_reserve(laju_buffer *buffer, size_t more);

void laju_buffer_add(laju_buffer *buffer, const void *bytes, size_t len);
void laju_buffer_add_text(laju_buffer *buffer, const char *text);
void laju_buffer_add_int(laju_buffer *buffer, int64_t value);
void laju_buffer_add_format(laju_buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes `value` in decimal at `to` (at least 20 bytes, of which all may be written); returns the bytes that count. No
 * terminator. */
size_t laju_decimal(char *to, int64_t value);

#endif
