/* A key's state, as the law keeps it and as its bytes are the same everywhere (little endian).
 *
 * The four algorithms of constant size keep a laju_state of 16 bytes. All zeros is "never seen", and means the same as a
 * key that is as good as new. The sliding log keeps a laju_log (core/log.h).
 */
#ifndef LAJU_CORE_STATE_H
#define LAJU_CORE_STATE_H

#include <stdint.h>

typedef union laju_state {
  struct {
    uint64_t used; /* missing from the token bucket, or standing in the leaky one's queue; a token is P units; < 2^52 */
    uint64_t last; /* the last admission, in ticks; < 2^53 */
  } bucket;
  struct {
    uint64_t window; /* the window's number since the epoch; < 2^44 */
    uint32_t curr;   /* tokens admitted in it */
    uint32_t prev;   /* and in the one before; 0 in a fixed window */
  } window;
  uint64_t words[2]; /* the bytes, as stores keep them */
} laju_state;

_Static_assert(sizeof(laju_state) == 16, "a state's bytes are part of the contract");

#endif
