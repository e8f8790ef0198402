/* What sentinels say, and what a server says of itself. Pure; any thread. */
#ifndef LAJU_REDIS_SENTINEL_REPLY_H
#define LAJU_REDIS_SENTINEL_REPLY_H

#include <hiredis/hiredis.h>

#include "base/store_url.h"

#define LAJU_SENTINEL_CHANNEL "+switch-master"

/* The reply to SENTINEL get-master-addr-by-name. False where the sentinel knows no such primary, or says something else. */
bool laju_sentinel_read_primary(const redisReply *reply, laju_store_place *out);

/* How new that is: the failover's number in the reply to SENTINEL MASTER; -1 where it says none. */
int64_t laju_sentinel_read_epoch(const redisReply *reply);

/* A message of LAJU_SENTINEL_CHANNEL that says that the primary called `name` is now at `out`. False for any other. */
bool laju_sentinel_read_switch(const redisReply *message, const char *name, laju_store_place *out);

/* The reply to ROLE: is it a primary's? */
bool laju_sentinel_role_is_primary(const redisReply *reply);

#endif
