/* What operators have set for single keys, as the shared store keeps it: commands and replies.
 *
 * A hash, prefix:{!overrides}, whose fields are "RULE:KEY" (a rule's name has no colon) and whose values are "LIMIT BURST EXPIRES_MS"; and
 * beside it prefix:{!overrides}:version, which every change raises. Neither is a key's name: '!' stands in no text and begins no digest
 * (redis/keys.h). Pure; any thread.
 */
#ifndef LAJU_REDIS_OVERRIDES_REPLY_H
#define LAJU_REDIS_OVERRIDES_REPLY_H

#include <hiredis/hiredis.h>

#include "base/buffer.h"
#include "base/slice.h"
#include "redis/keys.h"

#define LAJU_OVERRIDES_NAME_MAX (LAJU_KEYS_PREFIX_MAX + 32)
#define LAJU_OVERRIDES_REPLIES 4 /* that a change brings, MULTI to EXEC */

typedef struct laju_overrides_names {
  char hash[LAJU_OVERRIDES_NAME_MAX], version[LAJU_OVERRIDES_NAME_MAX];
  size_t hash_len, version_len;
} laju_overrides_names;

void laju_overrides_name(laju_overrides_names *out, const char *prefix, size_t prefix_len);

typedef struct laju_kept_override {
  laju_slice rule, key;
  uint32_t limit, burst;
  int64_t expires_ms;      /* since the epoch */
  uint16_t veils;          /* limiter/overlay.h; written where there are some */
  laju_slice field, value; /* as they were read */
} laju_kept_override;

/* ---- commands ---- */

void laju_overrides_ask_version(laju_buffer *to, const laju_overrides_names *names);
void laju_overrides_ask_all(laju_buffer *to, const laju_overrides_names *names);

/* Sets one, or takes one away, and raises the version: LAJU_OVERRIDES_REPLIES replies. */
void laju_overrides_ask_put(laju_buffer *to, const laju_overrides_names *names, const laju_kept_override *override);
void laju_overrides_ask_remove(laju_buffer *to, const laju_overrides_names *names, laju_slice rule, laju_slice key);

/* Takes a field away, by a script, where its value is still this one. */
void laju_overrides_ask_forget(laju_buffer *to, const laju_overrides_names *names, laju_slice field, laju_slice value);

/* ---- replies ---- */

/* 0 where there is none yet; -1 where it cannot be read. */
int64_t laju_overrides_read_version(const redisReply *reply);

/* Calls `take` with each that can be read. Returns how many fields there are, or -1. */
int64_t laju_overrides_read_all(const redisReply *reply,
                                void (*take)(void *context, const laju_kept_override *override), void *context);

/* EXEC's: how many fields were taken away or are new; -1 where it was not done. */
int64_t laju_overrides_read_changed(const redisReply *reply);

#endif
