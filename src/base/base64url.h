/* Bytes as text of [A-Za-z0-9_-], without padding (RFC 4648, section 5). */
#ifndef LAJU_BASE_BASE64URL_H
#define LAJU_BASE_BASE64URL_H

#include <stddef.h>

#define LAJU_BASE64URL_LEN(bytes) (((bytes)*8 + 5) / 6)

/* Writes LAJU_BASE64URL_LEN(len) characters, no terminator; returns how many. Pure. */
size_t laju_base64url(char *to, const unsigned char *bytes, size_t len);

#endif
