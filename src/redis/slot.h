/* Which of a cluster's slots a name lives in: CRC-16 (XMODEM) of the name, or of its hash tag, which is what stands between the
 * first '{' and the next '}' if that is not empty. Pure; any thread. */
#ifndef LAJU_REDIS_SLOT_H
#define LAJU_REDIS_SLOT_H

#include <stddef.h>
#include <stdint.h>

#define LAJU_SLOTS 16384

uint16_t laju_slot_of(const char *name, size_t len);

#endif
