#include "redis/servers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

/* ---- what links tell ---- */

static bool is_connected(const laju_server *server) {
  for (size_t i = 0; i < server->link_count; i++) {
    if (server->links[i] != NULL && laju_link_is_connected(server->links[i])) return true;
  }
  return false;
}

static void on_ready(void *owner, laju_link *link) {
  laju_server *server = owner;
  laju_servers *all = server->all;
  (void)link;
  laju_servers_count(all);
  all->on_ready(all->store, server);
  if (all->topology->ready != NULL) all->topology->ready(all, server);
}

/* It speaks against the server only where no other link to it stands. */
static void on_lost(void *owner, laju_link *link, bool greeted) {
  laju_server *server = owner;
  laju_servers *all = server->all;
  snprintf(all->why, sizeof all->why, "%s", laju_link_why(link));
  if (!is_connected(server)) all->on_failure(all->store, server);
  laju_servers_count(all);
  if (all->topology->lost != NULL) all->topology->lost(all, server, greeted);
}

/* ---- links ---- */

static int add_link(laju_server *server) {
  static const laju_link_events events = {.on_ready = on_ready, .on_lost = on_lost};
  laju_servers *all = server->all;
  const laju_store_url *url = &all->options.url;
  laju_link_options options = {
      .unix_path = url->unix_path,
      .place = server->place,
      .user = url->user,
      .password = url->password,
      .database = url->database,
      .tls = url->tls,
      .script = !all->options.transaction,
      .commands_max = all->options.max_inflight + LAJU_SERVER_QUESTIONS_MAX,
  };
  laju_link *link;
  int err = laju_link_new(&link, &all->shared, &options, &events, server);
  if (err < 0) return err;
  server->links[server->link_count++] = link;
  server->open_links++;
  return 0;
}

static bool is_known(const laju_server *server) {
  return server->place.host[0] != '\0' || server->all->options.url.unix_path[0] != '\0';
}

static void add_links(laju_server *server) {
  while (is_known(server) && server->link_count < server->all->options.pool) {
    if (add_link(server) < 0) return; /* one does, and without any the server is down */
  }
}

laju_link *laju_server_link(laju_server *server) {
  for (size_t i = 0; i < server->link_count; i++) {
    laju_link *link = server->links[(server->turn + i) % server->link_count];
    if (laju_link_is_ready(link)) return link;
  }
  return NULL;
}

void laju_server_read(laju_server *server) {
  for (size_t i = 0; i < server->link_count; i++) laju_link_read(server->links[i]);
}

void laju_server_drop(laju_server *server, const char *why) {
  for (size_t i = 0; i < server->link_count; i++) laju_link_drop(server->links[i], why);
}

/* ---- servers ---- */

bool laju_server_is_connected(const laju_server *server) {
  return is_connected(server);
}

bool laju_server_is_up(const laju_server *server) {
  return !laju_breaker_is_open(&server->breaker) && is_connected(server);
}

void laju_servers_count(laju_servers *servers) {
  uint64_t up = 0;
  for (const laju_server *server = servers->first; server != NULL; server = server->next)
    up += laju_server_is_up(server);
  laju_count_set(&servers->counters->servers, servers->count);
  laju_count_set(&servers->counters->servers_up, up);
}

laju_server *laju_server_add(laju_servers *servers, const laju_store_place *place) {
  laju_server *server = servers->count < LAJU_SERVERS_MAX ? calloc(1, sizeof *server) : NULL;
  if (server == NULL) return NULL;
  server->all = servers;
  if (place != NULL) server->place = *place;
  add_links(server);
  if (is_known(server) && server->link_count == 0) {
    free(server);
    return NULL;
  }
  laju_server **at = &servers->first;
  while (*at != NULL) at = &(*at)->next;
  *at = server;
  servers->count++;
  laju_servers_hold(servers);
  laju_servers_count(servers);
  return server;
}

static bool is_same(const laju_store_place *a, const laju_store_place *b) {
  return a->port == b->port && strcmp(a->host, b->host) == 0;
}

void laju_server_move(laju_server *server, const laju_store_place *place) {
  if (is_same(&server->place, place)) return;
  server->place = *place;
  for (size_t i = 0; i < server->link_count; i++) laju_link_move(server->links[i], place);
  add_links(server);
}

static void free_server(laju_server *server) {
  laju_servers *all = server->all;
  laju_pieces_deinit(&server->queue);
  free(server);
  laju_servers_release(all);
}

static void on_link_closed(void *context) {
  laju_server *server = context;
  if (--server->open_links == 0) free_server(server);
}

void laju_server_remove(laju_server *server) {
  laju_servers *all = server->all;
  laju_server **at = &all->first;
  while (*at != server) at = &(*at)->next;
  *at = server->next;
  all->count--;
  server->removed = true;
  laju_servers_count(all);
  all->on_removed(all->store, server);
  if (server->open_links == 0) {
    free_server(server);
    return;
  }
  size_t count = server->link_count;
  server->link_count = 0;
  for (size_t i = 0; i < count; i++) laju_link_close(server->links[i], on_link_closed, server);
}

void laju_servers_hold(laju_servers *servers) {
  servers->holds++;
}

void laju_servers_release(laju_servers *servers) {
  if (--servers->holds == 0) servers->drained(servers->store);
}

/* ---- one server ---- */

static int open_single(laju_servers *servers) {
  return laju_server_add(servers, &servers->options.url.places[0]) != NULL ? 0 : LAJU_ERR_MEMORY;
}

static void close_single(laju_servers *servers) {
  (void)servers; /* has nothing of its own */
}

static laju_server *find_single(laju_servers *servers, const char *key, size_t key_len) {
  (void)key;
  (void)key_len;
  return servers->first;
}

const laju_topology laju_topology_single = {
    .open = open_single,
    .close = close_single,
    .find = find_single,
    .batches = true,
};
