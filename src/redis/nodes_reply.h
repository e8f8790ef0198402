/* The register of laju nodes, as commands and replies: a sorted set of "id version", by the time when each was last seen.
 *
 * Its name, prefix:{!nodes}, is no key's: '!' stands in no text and begins no digest (redis/keys.h).
 * Pure; any thread.
 */
#ifndef LAJU_REDIS_NODES_REPLY_H
#define LAJU_REDIS_NODES_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "redis/keys.h"

#define LAJU_NODES_FORGET_MS 15000 /* a node that was not seen for so long is none */
#define LAJU_NODES_LISTED_MAX 1000 /* nodes whose versions are looked at */
#define LAJU_NODES_VERSIONS_MAX 16 /* different ones; nodes of further ones are counted, their versions not told */
#define LAJU_NODES_ID_LEN 16       /* hexadecimal digits */
#define LAJU_NODES_VERSION_MAX 32  /* bytes, none of them a space */
#define LAJU_NODES_NAME_MAX (LAJU_KEYS_PREFIX_MAX + 16)

typedef struct laju_nodes_version {
  char text[LAJU_NODES_VERSION_MAX + 1];
  uint32_t count; /* nodes that run it */
} laju_nodes_version;

typedef struct laju_nodes_seen {
  uint32_t count; /* nodes, at least 1 */
  size_t version_count;
  laju_nodes_version versions[LAJU_NODES_VERSIONS_MAX]; /* as they were first met */
} laju_nodes_seen;

/* Writes the register's name (not terminated); its length. */
size_t laju_nodes_name(const char *prefix, size_t prefix_len, char out[LAJU_NODES_NAME_MAX]);

/* 1 to LAJU_NODES_VERSION_MAX bytes of visible ASCII. */
bool laju_nodes_version_valid(const char *version);

/* Appends the command TIME; its reply in milliseconds, or -1 where it is none. */
void laju_nodes_ask_time(laju_buffer *to);
int64_t laju_nodes_read_time(const redisReply *reply);

/* Appends MULTI to EXEC, LAJU_NODES_REPLIES replies: this node was seen now; those not seen for LAJU_NODES_FORGET_MS, or by a
 * clock that far ahead, are forgotten; who is there? */
#define LAJU_NODES_REPLIES 8
void laju_nodes_ask_who(laju_buffer *to, const char *name, size_t name_len, const char *member, int64_t now_ms);

/* The reply to that EXEC. -1 where it is none. */
int laju_nodes_read_who(const redisReply *reply, laju_nodes_seen *out);

#endif
