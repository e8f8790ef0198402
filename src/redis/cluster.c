/* The topology of a cluster: a map of slots, which any node tells and every MOVED corrects, and a server for each primary that is
 * needed.
 *
 * The map is asked for again when something says that it is wrong (MOVED, CLUSTERDOWN, a connection lost), at most every
 * REFRESH_GAP_MS and one at a time, of one node after another; more seldom while it says the same again and again, for a server
 * may be away for long and the map of many is large; and every REFRESH_IDLE_MS, so that what nobody told is found. A
 * server that two maps in a row do not name, and no redirection meanwhile, is forgotten. Seeds are servers like others: they come
 * back when nobody else can be asked.
 */
#include <stdlib.h>
#include <string.h>

#include "redis/refusal.h"
#include "redis/servers.h"
#include "redis/slot_map.h"

#define REFRESH_GAP_MS 100
#define REFRESH_GAP_MAX_MS 500
#define REFRESH_IDLE_MS 10000

#define ASK_SHARDS "*2\r\n$7\r\nCLUSTER\r\n$6\r\nSHARDS\r\n"
#define ASK_SLOTS "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n"

typedef struct cluster {
  laju_servers *servers;
  laju_slot_map map;
  laju_server *serving[LAJU_SLOT_PLACES_MAX]; /* of the map's places; NULL: not made yet */
  uint32_t loads;                             /* of maps; a server's `number` is the last that named it */

  uv_timer_t timer; /* the next question */
  laju_link_command question;
  laju_store_place asked; /* who it went to */
  uint64_t asked_ms, gap_ms;
  size_t turn;      /* whom to ask next */
  bool asking;      /* it is under way */
  bool wanted;      /* a map newer than the one that is under way */
  bool slots_alone; /* they do not know CLUSTER SHARDS */
  bool closing;
  int uses; /* by the timer and by the question; gone with the last */
} cluster;

/* ---- servers ---- */

static laju_server *known(const cluster *c, const laju_store_place *place) {
  for (laju_server *server = c->servers->first; server != NULL; server = server->next) {
    if (laju_slot_place_equal(&server->place, place)) return server;
  }
  return NULL;
}

/* NULL: no memory, or too many. */
static laju_server *known_or_new(cluster *c, const laju_store_place *place) {
  laju_server *server = known(c, place);
  if (server == NULL) server = laju_server_add(c->servers, place);
  if (server != NULL) server->number = c->loads;
  return server;
}

static bool add_seeds(cluster *c) {
  const laju_store_url *url = &c->servers->options.url;
  bool all = true;
  for (size_t i = 0; i < url->place_count; i++) all = known_or_new(c, &url->places[i]) != NULL && all;
  return all;
}

static void forget_old(cluster *c) {
  for (laju_server *server = c->servers->first, *next; server != NULL; server = next) {
    next = server->next;
    if (c->servers->count > 1 && server->number + 1 < c->loads) laju_server_remove(server);
  }
}

/* Somebody who answers, another one each time; NULL where nobody is connected. */
static laju_server *anybody(cluster *c) {
  size_t skip = c->servers->count > 0 ? c->turn++ % c->servers->count : 0;
  laju_server *before = NULL;
  for (laju_server *server = c->servers->first; server != NULL; server = server->next) {
    bool asked_now = laju_server_link(server) != NULL && laju_server_is_up(server);
    if (asked_now && skip == 0) return server;
    if (asked_now) before = server;
    if (skip > 0) skip--;
  }
  return before;
}

/* ---- the map ---- */

static void refresh(uv_timer_t *timer);

static void refresh_in(cluster *c, uint64_t ms) {
  uv_timer_start(&c->timer, refresh, ms, 0);
}

static void refresh_soon(cluster *c) {
  uint64_t since = uv_now(c->servers->shared.loop) - c->asked_ms;
  refresh_in(c, since >= c->gap_ms ? 0 : c->gap_ms - since);
}

static void want_map(cluster *c) {
  if (c->wanted || c->closing) return;
  c->wanted = true;
  if (!c->asking) refresh_soon(c);
}

static void take_map(cluster *c, const laju_slot_map *map) {
  c->gap_ms = laju_slot_map_equal(&c->map, map) ? 2 * c->gap_ms : REFRESH_GAP_MS;
  if (c->gap_ms > REFRESH_GAP_MAX_MS) c->gap_ms = REFRESH_GAP_MAX_MS;
  laju_slot_map_deinit(&c->map);
  c->map = *map;
  c->loads++;
  for (size_t i = 0; i < map->count; i++) {
    c->serving[i] = known(c, &map->places[i]);
    if (c->serving[i] != NULL) c->serving[i]->number = c->loads;
  }
}

static bool read_map(cluster *c, laju_link_fate fate, const redisReply *reply) {
  if (fate != LAJU_LINK_REPLIED) return false;
  laju_slot_map map;
  if (laju_slot_map_read(&map, reply, &c->asked, c->servers->options.url.tls) == 0) {
    take_map(c, &map);
    return true;
  }
  if (reply->type == REDIS_REPLY_ERROR) c->slots_alone = !c->slots_alone;
  return false;
}

static void let_go(cluster *c) {
  if (--c->uses > 0) return;
  laju_servers *servers = c->servers;
  laju_slot_map_deinit(&c->map);
  free(c);
  laju_servers_release(servers);
}

static void answered(laju_link_command *question, laju_link_fate fate, const redisReply *reply) {
  cluster *c = (cluster *)((char *)question - offsetof(cluster, question));
  c->asking = false;
  if (!c->closing) {
    if (!read_map(c, fate, reply)) c->wanted = true;
    if (c->wanted) {
      refresh_soon(c);
    } else {
      refresh_in(c, REFRESH_IDLE_MS);
    }
  }
  let_go(c);
}

static bool ask(cluster *c, laju_server *server) {
  c->asked_ms = uv_now(c->servers->shared.loop);
  laju_link *link = laju_server_link(server);
  const char *words = c->slots_alone ? ASK_SLOTS : ASK_SHARDS;
  laju_buffer_add(laju_link_out(link), words, strlen(words));
  c->question = (laju_link_command){
      .done = answered,
      .deadline_us = (int64_t)(uv_hrtime() / 1000) + c->servers->options.connect_timeout_us,
      .replies = 1,
  };
  if (!laju_link_add(link, &c->question)) return false;
  c->asked = server->place;
  c->asking = true;
  c->wanted = false;
  c->uses++;
  laju_link_flush(link);
  return true;
}

static void refresh(uv_timer_t *timer) {
  cluster *c = timer->data;
  if (c->asking) return; /* its answer sets the timer */
  forget_old(c);
  laju_server *server = anybody(c);
  if (server != NULL && ask(c, server)) return;
  add_seeds(c);
  c->wanted = true;
  refresh_in(c, REFRESH_GAP_MS);
}

/* ---- what the store asks ---- */

static void closed(uv_handle_t *timer) {
  let_go(timer->data);
}

static void close_cluster(laju_servers *servers) {
  cluster *c = servers->state;
  c->closing = true;
  uv_close((uv_handle_t *)&c->timer, closed);
}

static int open_cluster(laju_servers *servers) {
  cluster *c = calloc(1, sizeof *c);
  if (c == NULL) return LAJU_ERR_MEMORY;
  c->servers = servers;
  c->uses = 1;
  c->gap_ms = REFRESH_GAP_MS;
  c->turn = (size_t)servers->shared.random;
  laju_slot_map_init(&c->map);
  uv_timer_init(servers->shared.loop, &c->timer);
  c->timer.data = c;
  servers->state = c;
  laju_servers_hold(servers);
  if (!add_seeds(c)) {
    close_cluster(servers);
    return LAJU_ERR_MEMORY;
  }
  c->wanted = true;
  refresh_in(c, REFRESH_GAP_MS);
  return 0;
}

/* The first one that can be asked is asked at once: checks that come before the map go about by MOVED. */
static void ready(laju_servers *servers, laju_server *server) {
  cluster *c = servers->state;
  if (c->loads == 0 && !c->asking && !c->closing && laju_server_link(server) != NULL) ask(c, server);
}

static void lost(laju_servers *servers, laju_server *server, bool greeted) {
  (void)server;
  (void)greeted;
  want_map(servers->state);
}

static laju_server *find(laju_servers *servers, const char *key, size_t key_len) {
  cluster *c = servers->state;
  uint16_t index = c->map.of[laju_slot_of(key, key_len)];
  if (index != LAJU_SLOT_NOBODY) {
    if (c->serving[index] == NULL) c->serving[index] = known_or_new(c, &c->map.places[index]);
    if (c->serving[index] != NULL) return c->serving[index];
  }
  laju_server *server = anybody(c);
  return server != NULL ? server : servers->first;
}

static bool together(const laju_script_ask *asks, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (laju_slot_of(asks[i].name, asks[i].name_len) != laju_slot_of(asks[0].name, asks[0].name_len)) return false;
  }
  return true;
}

static laju_redirect follow(cluster *c, laju_server *server, laju_refusal *refusal) {
  if (refusal->to.host[0] == '\0') memcpy(refusal->to.host, server->place.host, sizeof refusal->to.host);
  laju_server *to = known_or_new(c, &refusal->to);
  if (refusal->kind == LAJU_REFUSAL_ASK) return (laju_redirect){.to = to, .asking = true};
  c->gap_ms = REFRESH_GAP_MS;
  int index = to != NULL ? laju_slot_map_move(&c->map, refusal->slot, &refusal->to) : -1;
  if (index >= 0) c->serving[index] = to;
  want_map(c);
  return (laju_redirect){.to = to};
}

static laju_redirect redirect(laju_servers *servers, laju_server *server, const char *error) {
  cluster *c = servers->state;
  laju_refusal refusal;
  laju_refusal_read(error, strlen(error), &refusal);
  switch (refusal.kind) {
    case LAJU_REFUSAL_MOVED:
    case LAJU_REFUSAL_ASK: return follow(c, server, &refusal);
    case LAJU_REFUSAL_TRYAGAIN: return (laju_redirect){.to = server, .later = true};
    case LAJU_REFUSAL_NONE: return (laju_redirect){.to = NULL};
    default: want_map(c); return (laju_redirect){.to = NULL};
  }
}

const laju_topology laju_topology_cluster = {
    .open = open_cluster,
    .close = close_cluster,
    .find = find,
    .together = together,
    .redirect = redirect,
    .ready = ready,
    .lost = lost,
};
