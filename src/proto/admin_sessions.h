/* Sessions that were bought with the token: 128 random bits each, which the cookie holds. In memory only: a restart ends them.
 *
 * A session ends LAJU_SESSION_IDLE_US after it was last used, when it is ended, and when the token changes; and where there are
 * LAJU_SESSIONS_MAX, the one that was used longest ago makes room. One thread at a time.
 */
#ifndef LAJU_PROTO_ADMIN_SESSIONS_H
#define LAJU_PROTO_ADMIN_SESSIONS_H

#include "base/slice.h"

#include <stdint.h>

#define LAJU_SESSIONS_MAX 1000
#define LAJU_SESSION_IDLE_US (INT64_C(12) * 3600 * 1000000)
#define LAJU_SESSION_LEN 32 /* hexadecimal digits */

typedef struct laju_session {
  char name[LAJU_SESSION_LEN];
  int64_t used_us; /* 0: none */
} laju_session;

/* All zeros: none. */
typedef struct laju_sessions {
  uint64_t token[2]; /* a hash of the token that bought them, under `hash_key` */
  uint64_t hash_key[2];
  laju_session list[LAJU_SESSIONS_MAX];
} laju_sessions;

/* The token in force; NULL: none. Under another than before nobody has a session any more, and `token` is another. False: no random
 * numbers. */
bool laju_sessions_heed(laju_sessions *sessions, const char *token);

/* Begins one; writes its name. False: no random numbers. */
bool laju_sessions_begin(laju_sessions *sessions, const char *token, int64_t now_us, char name[LAJU_SESSION_LEN]);

/* Is it one, by this token? Then it has been used now. The time taken tells nothing of the names of others. */
bool laju_sessions_use(laju_sessions *sessions, const char *token, laju_slice name, int64_t now_us);

/* Ends it; false where there was none. */
bool laju_sessions_end(laju_sessions *sessions, laju_slice name);

#endif
