/* Is it text? Pure; any thread. */
#ifndef LAJU_BASE_UTF8_H
#define LAJU_BASE_UTF8_H

#include <stddef.h>

/* The length, 1 to 4, of the UTF-8 character at `text`, of which `left` (>= 1) bytes are there; 0 where it is none. */
size_t laju_utf8_length(const char *text, size_t left);

#endif
