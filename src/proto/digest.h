/* SHA-256, for what must not be stored as it is, or is too long to be. By OpenSSL; any thread. */
#ifndef LAJU_PROTO_DIGEST_H
#define LAJU_PROTO_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#define LAJU_DIGEST_SIZE 32

/* False where libcrypto has no memory or no SHA-256 to give. A thread's first call allocates what it works in. */
bool laju_digest(unsigned char to[LAJU_DIGEST_SIZE], const void *bytes, size_t len);

#endif
