/* JSON into a buffer, piece by piece: whoever writes it opens and closes objects and lists by hand, and commas come by themselves.
 * Pure; any thread. */
#ifndef LAJU_PROTO_JSON_TEXT_H
#define LAJU_PROTO_JSON_TEXT_H

#include "base/buffer.h"
#include "base/slice.h"

/* A text of a stranger's, in quotes; bytes that are no UTF-8 as U+FFFD. */
void laju_json_add_text(laju_buffer *to, laju_slice text);

/* `"name":`, behind a comma where something stands before it in its object. */
void laju_json_add_name(laju_buffer *to, const char *name);

/* The same and a value. */
void laju_json_add_count(laju_buffer *to, const char *name, uint64_t value);
void laju_json_add_bool(laju_buffer *to, const char *name, bool value);
void laju_json_add_string(laju_buffer *to, const char *name, laju_slice value);
void laju_json_add_word(laju_buffer *to, const char *name, const char *value); /* terminated */

/* `{` or a text, as an element of a list: behind a comma where it is not the first. */
void laju_json_begin_element(laju_buffer *to);
void laju_json_add_element(laju_buffer *to, laju_slice text);

#endif
