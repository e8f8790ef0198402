/* Texts from strangers, fit to be shown: on a terminal, in XML. Numbers and times as people read them. */
#ifndef LAJU_REPLAY_TEXT_H
#define LAJU_REPLAY_TEXT_H

#include "base/buffer.h"
#include "base/slice.h"

/* At most `max` characters, and `...` where that is not all; what is no printable UTF-8 as \xHH. */
void laju_text_add_plain(laju_buffer *to, laju_slice text, size_t max);

/* Fit for an element's content; what is no printable UTF-8 as `?`. */
void laju_text_add_xml(laju_buffer *to, laju_slice text);

/* 1,234,567 */
void laju_text_add_count(laju_buffer *to, uint64_t count);

/* "12.34%" of `whole`; "-" of nothing */
void laju_text_add_share(laju_buffer *to, uint64_t part, uint64_t whole);

/* "2026-10-10T13:55:36Z"; "-" for a negative one */
void laju_text_add_time(laju_buffer *to, int64_t time_us);

/* How many columns a terminal gives a text that laju_text_add_plain wrote. */
size_t laju_text_width(const char *text, size_t len);

#endif
