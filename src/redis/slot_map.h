/* Who serves which slot of a cluster, as CLUSTER SHARDS (Redis 7) or CLUSTER SLOTS (before it, Valkey) tell it.
 *
 * Only primaries that serve slots are in it, each once; replicas are not asked. A place whose host the server does not tell
 * (NULL, empty) has the host that was asked; one whose name is unknown ("?") has its address.
 *
 * Belongs to one thread. Reading may take memory: 260 bytes for each place.
 */
#ifndef LAJU_REDIS_SLOT_MAP_H
#define LAJU_REDIS_SLOT_MAP_H

#include <hiredis/hiredis.h>

#include "base/store_url.h"
#include "redis/slot.h"

#define LAJU_SLOT_PLACES_MAX 1000
#define LAJU_SLOT_NOBODY UINT16_MAX

typedef struct laju_slot_map {
  uint16_t of[LAJU_SLOTS];  /* an index of `places`, or LAJU_SLOT_NOBODY */
  laju_store_place *places; /* `count`, all different */
  size_t count, cap;
} laju_slot_map;

/* Nobody serves anything. */
void laju_slot_map_init(laju_slot_map *map);
void laju_slot_map_deinit(laju_slot_map *map);

/* Makes `out` from the reply to CLUSTER SHARDS or CLUSTER SLOTS. `asked` is who gave it; `tls` picks which of a server's ports is
 * meant. -1, and `out` untouched, where the reply is neither, is malformed, names more than LAJU_SLOT_PLACES_MAX places or nobody
 * for any slot, or memory ran out. */
int laju_slot_map_read(laju_slot_map *out, const redisReply *reply, const laju_store_place *asked, bool tls);

/* One slot has moved. The index of its place, which may be new (the last); -1 where there is no room for one more. */
int laju_slot_map_move(laju_slot_map *map, uint16_t slot, const laju_store_place *to);

/* Does everybody serve the same in both? */
bool laju_slot_map_equal(const laju_slot_map *a, const laju_slot_map *b);

bool laju_slot_place_equal(const laju_store_place *a, const laju_store_place *b);

#endif
