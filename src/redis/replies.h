/* Inside `redis`: replies out of a connection's bytes. hiredis' reader, with memory of its own that is used again for each reply, so
 * that reading allocates nothing once it is warm.
 *
 * Bytes are the server's and may be anything: what is none of the protocol, nests deeper than hiredis reads (7), or is larger than
 * LAJU_REPLIES_BYTES_MAX or LAJU_REPLIES_MEMORY_MAX breaks the reader, for good. One thread.
 */
#ifndef LAJU_REDIS_REPLIES_H
#define LAJU_REDIS_REPLIES_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#define LAJU_REPLIES_BYTES_MAX (4 << 20)   /* of one reply on the wire */
#define LAJU_REPLIES_MEMORY_MAX (64 << 20) /* of what is made of it: an integer of 4 bytes becomes 56 */

typedef struct laju_reply_block laju_reply_block;

typedef struct laju_replies {
  redisReader *reader;
  laju_reply_block *blocks; /* the newest first */
  laju_reply_block *spare;  /* used before, free again */
  size_t memory;            /* bytes of all blocks */
  size_t bytes;             /* fed and not yet part of a reply that was given */
  bool given;               /* the last reply is the caller's until the next call */
} laju_replies;

/* LAJU_ERR_MEMORY. It stays where it is until deinit. */
int laju_replies_init(laju_replies *out);
void laju_replies_deinit(laju_replies *replies);

/* False: no memory, or broken before. */
bool laju_replies_feed(laju_replies *replies, const char *bytes, size_t len);

/* 1: a reply, good until the next call of any of these. 0: more bytes are needed. -1: broken. */
int laju_replies_next(laju_replies *replies, const redisReply **out);

/* In words, once it is broken. */
const char *laju_replies_why(const laju_replies *replies);

#endif
