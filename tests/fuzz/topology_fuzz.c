/* What servers say about who is where: maps of slots, refusals that point elsewhere, sentinels' answers, the register of nodes; and the
 * overrides that they keep. The
 * input is a reply. Whatever it says, a map names only places it has, places have a host and a port, versions are visible, and what
 * cannot be understood leaves everything untouched. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "redis/nodes_reply.h"
#include "redis/overrides_reply.h"
#include "redis/refusal.h"
#include "redis/sentinel_reply.h"
#include "redis/slot_map.h"
#include "reply.h"

static void check_place(const laju_store_place *place, bool may_be_empty) {
  size_t len = strnlen(place->host, sizeof place->host);
  if (len > LAJU_STORE_HOST_MAX || place->port == 0) abort();
  if (!(len == 0 && may_be_empty) && !laju_refusal_host_valid(place->host, len)) abort();
}

static void check_map(const redisReply *reply, bool tls) {
  static const laju_store_place asked = {.host = "seed", .port = 1};
  laju_slot_map map;
  if (laju_slot_map_read(&map, reply, &asked, tls) < 0) return;
  if (map.count == 0 || map.count > LAJU_SLOT_PLACES_MAX) abort();
  for (size_t i = 0; i < map.count; i++) check_place(&map.places[i], false);
  for (size_t i = 0; i < LAJU_SLOTS; i++) {
    if (map.of[i] != LAJU_SLOT_NOBODY && map.of[i] >= map.count) abort();
  }
  laju_slot_map_deinit(&map);
}

static void check_sentinel(const redisReply *reply) {
  laju_store_place place;
  if (laju_sentinel_read_primary(reply, &place)) check_place(&place, false);
  if (laju_sentinel_read_switch(reply, "name", &place)) check_place(&place, false);
  if (laju_sentinel_read_epoch(reply) < -1) abort();
  (void)laju_sentinel_role_is_primary(reply);
}

static void check_refusal(const char *text, size_t len) {
  laju_refusal refusal;
  laju_refusal_read(text, len, &refusal);
  bool names_place = refusal.kind == LAJU_REFUSAL_MOVED || refusal.kind == LAJU_REFUSAL_ASK;
  if (names_place && refusal.slot >= LAJU_SLOTS) abort();
  if (names_place) check_place(&refusal.to, true);
  if (!names_place && (refusal.to.host[0] != '\0' || refusal.to.port != 0)) abort();
}

static void check_nodes(const redisReply *reply) {
  laju_nodes_seen seen;
  if (laju_nodes_read_time(reply) < -1) abort();
  if (laju_nodes_read_who(reply, &seen) < 0) return;
  if (seen.count == 0 || seen.version_count > LAJU_NODES_VERSIONS_MAX) abort();
  for (size_t i = 0; i < seen.version_count; i++) {
    if (!laju_nodes_version_valid(seen.versions[i].text) || seen.versions[i].count == 0) abort();
  }
}

static void check_override(void *context, const laju_kept_override *kept) {
  (void)context;
  if (kept->key.len < 1 || kept->key.len > LAJU_KEY_MAX || kept->rule.len < 1 || kept->rule.len > LAJU_NAME_MAX)
    abort();
  if (kept->expires_ms < 0 || kept->expires_ms > LAJU_TIME_MAX_US / 1000 || (kept->limit > 0 && kept->burst == 0))
    abort();
}

static void check_overrides(const redisReply *reply) {
  if (laju_overrides_read_version(reply) < -1) abort();
  (void)laju_overrides_read_changed(reply);
  if (laju_overrides_read_all(reply, check_override, NULL) < -1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
  check_refusal((const char *)bytes, len);
  redisReply *reply = reply_read(bytes, len);
  if (reply == NULL) return 0;
  if (reply->type == REDIS_REPLY_ERROR) check_refusal(reply->str, reply->len);
  check_map(reply, false);
  check_map(reply, true);
  check_sentinel(reply);
  check_nodes(reply);
  check_overrides(reply);
  freeReplyObject(reply);
  return 0;
}
