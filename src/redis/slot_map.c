#include "redis/slot_map.h"

#include <stdlib.h>
#include <string.h>

#include "redis/refusal.h"

#define PLACES_FIRST 8

void laju_slot_map_init(laju_slot_map *map) {
  for (size_t i = 0; i < LAJU_SLOTS; i++) map->of[i] = LAJU_SLOT_NOBODY;
  map->places = NULL;
  map->count = map->cap = 0;
}

void laju_slot_map_deinit(laju_slot_map *map) {
  free(map->places);
  map->places = NULL;
  map->count = map->cap = 0;
}

bool laju_slot_place_equal(const laju_store_place *a, const laju_store_place *b) {
  return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Places may stand in another order; neighbours in a range are the same pair. */
bool laju_slot_map_equal(const laju_slot_map *a, const laju_slot_map *b) {
  uint16_t last_a = LAJU_SLOT_NOBODY, last_b = LAJU_SLOT_NOBODY;
  for (size_t i = 0; i < LAJU_SLOTS; i++) {
    if (a->of[i] == last_a && b->of[i] == last_b) continue;
    last_a = a->of[i];
    last_b = b->of[i];
    if (last_a == LAJU_SLOT_NOBODY || last_b == LAJU_SLOT_NOBODY) {
      if (last_a != last_b) return false;
    } else if (!laju_slot_place_equal(&a->places[last_a], &b->places[last_b])) {
      return false;
    }
  }
  return true;
}

static bool grow(laju_slot_map *map) {
  size_t cap = map->cap == 0 ? PLACES_FIRST : 2 * map->cap;
  laju_store_place *places = realloc(map->places, cap * sizeof *places);
  if (places == NULL) return false;
  map->places = places;
  map->cap = cap;
  return true;
}

/* The last place first: the ranges of one server are often told one after another. */
static int index_of(laju_slot_map *map, const laju_store_place *place) {
  for (size_t i = map->count; i > 0; i--) {
    if (laju_slot_place_equal(&map->places[i - 1], place)) return (int)(i - 1);
  }
  if (map->count == LAJU_SLOT_PLACES_MAX) return -1;
  if (map->count == map->cap && !grow(map)) return -1;
  map->places[map->count] = *place;
  return (int)map->count++;
}

int laju_slot_map_move(laju_slot_map *map, uint16_t slot, const laju_store_place *to) {
  int index = index_of(map, to);
  if (index >= 0) map->of[slot] = (uint16_t)index;
  return index;
}

/* ---- parts of replies ---- */

static bool is_text(const redisReply *reply) {
  return reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS;
}

static bool says(const redisReply *reply, const char *word) {
  return is_text(reply) && strcmp(reply->str, word) == 0;
}

/* The element at `index`, where there is one of that type. */
static const redisReply *part_of(const redisReply *reply, size_t index, int type) {
  if (reply->type != REDIS_REPLY_ARRAY || index >= reply->elements) return NULL;
  return reply->element[index]->type == type ? reply->element[index] : NULL;
}

/* The value behind a name, in an array of names and values. */
static const redisReply *value_of(const redisReply *pairs, const char *name) {
  for (size_t i = 0; pairs->type == REDIS_REPLY_ARRAY && i + 1 < pairs->elements; i += 2) {
    if (says(pairs->element[i], name)) return pairs->element[i + 1];
  }
  return NULL;
}

static bool set_range(laju_slot_map *map, const redisReply *from, const redisReply *to, uint16_t index) {
  if (from->type != REDIS_REPLY_INTEGER || to->type != REDIS_REPLY_INTEGER) return false;
  if (from->integer < 0 || from->integer > to->integer || to->integer >= LAJU_SLOTS) return false;
  for (long long slot = from->integer; slot <= to->integer; slot++) map->of[slot] = index;
  return true;
}

/* A server that tells no host means the one that was asked; one that does not know a host's name says "?". */
static bool read_host(const redisReply *name, const redisReply *address, const laju_store_place *asked,
                      laju_store_place *out) {
  if (name == NULL || name->type == REDIS_REPLY_NIL || says(name, "")) {
    memcpy(out->host, asked->host, sizeof out->host);
    return true;
  }
  if (says(name, "?")) name = address;
  if (name == NULL || !is_text(name) || !laju_refusal_host_valid(name->str, name->len)) return false;
  memcpy(out->host, name->str, name->len);
  out->host[name->len] = '\0';
  return true;
}

static bool read_port(const redisReply *port, laju_store_place *out) {
  if (port == NULL || port->type != REDIS_REPLY_INTEGER || port->integer < 1 || port->integer > UINT16_MAX)
    return false;
  out->port = (uint16_t)port->integer;
  return true;
}

/* ---- CLUSTER SHARDS ---- */

/* After a failover the old primary may still be told as one, failed. */
static const redisReply *primary_of(const redisReply *nodes) {
  const redisReply *primary = NULL;
  for (size_t i = 0; i < nodes->elements; i++) {
    const redisReply *role = value_of(nodes->element[i], "role");
    const redisReply *health = value_of(nodes->element[i], "health");
    if (role == NULL || !says(role, "master")) continue;
    if (health != NULL && says(health, "online")) return nodes->element[i];
    if (primary == NULL) primary = nodes->element[i];
  }
  return primary;
}

static bool read_shard(laju_slot_map *map, const redisReply *shard, const laju_store_place *asked, bool tls) {
  const redisReply *slots = value_of(shard, "slots"), *nodes = value_of(shard, "nodes");
  if (slots == NULL || slots->type != REDIS_REPLY_ARRAY || slots->elements % 2 != 0) return false;
  if (nodes == NULL || nodes->type != REDIS_REPLY_ARRAY) return false;
  if (slots->elements == 0) return true;
  const redisReply *primary = primary_of(nodes);
  if (primary == NULL) return true; /* nobody serves these now */
  laju_store_place place;
  const redisReply *port = value_of(primary, tls ? "tls-port" : "port");
  if (!read_host(value_of(primary, "endpoint"), value_of(primary, "ip"), asked, &place)) return false;
  if (!read_port(port, &place)) return false;
  int index = index_of(map, &place);
  if (index < 0) return false;
  for (size_t i = 0; i < slots->elements; i += 2) {
    if (!set_range(map, slots->element[i], slots->element[i + 1], (uint16_t)index)) return false;
  }
  return true;
}

/* ---- CLUSTER SLOTS ---- */

/* from, to, the primary (host, port, id, names and values), its replicas */
static bool read_slots(laju_slot_map *map, const redisReply *range, const laju_store_place *asked) {
  const redisReply *from = part_of(range, 0, REDIS_REPLY_INTEGER), *to = part_of(range, 1, REDIS_REPLY_INTEGER);
  const redisReply *primary = part_of(range, 2, REDIS_REPLY_ARRAY);
  if (from == NULL || to == NULL || primary == NULL || primary->elements < 2) return false;
  const redisReply *more = part_of(primary, 3, REDIS_REPLY_ARRAY);
  laju_store_place place;
  if (!read_host(primary->element[0], more != NULL ? value_of(more, "ip") : NULL, asked, &place)) return false;
  if (!read_port(primary->element[1], &place)) return false;
  int index = index_of(map, &place);
  return index >= 0 && set_range(map, from, to, (uint16_t)index);
}

static bool read_all(laju_slot_map *map, const redisReply *reply, const laju_store_place *asked, bool tls) {
  if (reply->type != REDIS_REPLY_ARRAY) return false;
  for (size_t i = 0; i < reply->elements; i++) {
    const redisReply *part = reply->element[i];
    bool slots = part_of(part, 0, REDIS_REPLY_INTEGER) != NULL;
    if (!(slots ? read_slots(map, part, asked) : read_shard(map, part, asked, tls))) return false;
  }
  return map->count > 0;
}

int laju_slot_map_read(laju_slot_map *out, const redisReply *reply, const laju_store_place *asked, bool tls) {
  laju_slot_map map;
  laju_slot_map_init(&map);
  if (!read_all(&map, reply, asked, tls)) {
    laju_slot_map_deinit(&map);
    return -1;
  }
  *out = map;
  return 0;
}
