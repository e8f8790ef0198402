#include "redis/cluster_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redis/ports.h"

#define SLOTS 16384
#define TRIES 1000 /* of 10 ms */

static void give_up(const char *why) {
  fprintf(stderr, "cluster: %s\n", why);
  exit(1);
}

static void node_start(cluster_node *node, const certificates *files) {
  const char *arguments[REDIS_ARGUMENTS_MAX + 1] = {"--port",
                                                    node->port_text,
                                                    "--bind",
                                                    "127.0.0.1",
                                                    "--cluster-enabled",
                                                    "yes",
                                                    "--cluster-node-timeout",
                                                    "700",
                                                    "--repl-diskless-sync-delay",
                                                    "0",
                                                    "--cluster-replica-validity-factor",
                                                    "0"};
  const char *const by_tls[] = {"--tls-port", node->tls_port_text, "--tls-cluster", "yes"};
  node->port = port_take();
  node->tls_port = files != NULL ? port_take() : 0;
  snprintf(node->port_text, sizeof node->port_text, "%u", node->port);
  snprintf(node->tls_port_text, sizeof node->tls_port_text, "%u", node->tls_port);
  if (files != NULL) {
    memcpy(arguments + 12, by_tls, sizeof by_tls);
    memcpy(arguments + 16,
           (const char *const[]){"--tls-cert-file", files->server_cert, "--tls-key-file", files->server_key,
                                 "--tls-ca-cert-file", files->ca},
           6 * sizeof *arguments);
  }
  redis_start_with(&node->server, arguments);
  redisReply *id = redis_command(&node->server, "CLUSTER MYID");
  snprintf(node->id, sizeof node->id, "%s", id->str);
  freeReplyObject(id);
}

/* Where its likes reach it. */
static uint16_t peer_port(const cluster_node *node) {
  return node->tls_port != 0 ? node->tls_port : node->port;
}

static void ok(redisReply *reply) {
  if (reply->type == REDIS_REPLY_ERROR) give_up(reply->str);
  freeReplyObject(reply);
}

static bool says(cluster_node *node, const char *command, const char *word) {
  redisReply *reply = redisCommand(node->server.link, command);
  bool has = reply != NULL && reply->type != REDIS_REPLY_ERROR && strstr(reply->str, word) != NULL;
  freeReplyObject(reply);
  return has;
}

static void wait_for(cluster_nodes *c, size_t from, const char *command, const char *word) {
  for (size_t i = from; i < c->count; i++) {
    for (int tries = 0; !says(&c->nodes[i], command, word); tries++) {
      if (tries == TRIES) give_up(word);
      usleep(10000);
    }
  }
}

static uint16_t first_slot(size_t primary) {
  return (uint16_t)(primary * SLOTS / PRIMARIES);
}

void cluster_start(cluster_nodes *c, bool replicas, const certificates *files) {
  c->count = replicas ? CLUSTER_NODES : PRIMARIES;
  for (size_t i = 0; i < c->count; i++) {
    redis_server *server = &c->nodes[i].server;
    node_start(&c->nodes[i], files);
    ok(redis_command(server, "CLUSTER SET-CONFIG-EPOCH %d", (int)i + 1));
    if (i < PRIMARIES) ok(redis_command(server, "CLUSTER ADDSLOTSRANGE %d %d", first_slot(i), first_slot(i + 1) - 1));
    if (i > 0) ok(redis_command(server, "CLUSTER MEET 127.0.0.1 %d", peer_port(&c->nodes[0])));
  }
  char known[32];
  snprintf(known, sizeof known, "cluster_known_nodes:%zu", c->count);
  wait_for(c, 0, "CLUSTER INFO", known);
  wait_for(c, 0, "CLUSTER INFO", "cluster_state:ok");
  for (size_t i = PRIMARIES; i < c->count; i++) {
    ok(redis_command(&c->nodes[i].server, "CLUSTER REPLICATE %s", c->nodes[i - PRIMARIES].id));
  }
  wait_for(c, PRIMARIES, "INFO replication", "master_link_status:up");
}

void cluster_stop(cluster_nodes *c) {
  for (size_t i = 0; i < c->count; i++) redis_stop(&c->nodes[i].server);
}

laju_store_url cluster_url(const cluster_nodes *c, bool all) {
  laju_store_url url = {.kind = LAJU_STORE_CLUSTER, .place_count = all ? PRIMARIES : 1};
  for (size_t i = 0; i < url.place_count; i++) {
    snprintf(url.places[i].host, sizeof url.places[i].host, "127.0.0.1");
    url.places[i].port = c->nodes[i].port;
  }
  return url;
}

static size_t node_at(const cluster_nodes *c, long long port) {
  for (size_t i = 0; i < c->count; i++) {
    if (c->nodes[i].port == port) return i;
  }
  give_up("a node that is none of ours");
  return 0;
}

size_t cluster_owner(cluster_nodes *c, uint16_t slot) {
  size_t asked = 0, owner = CLUSTER_NODES;
  while (c->nodes[asked].server.link == NULL) asked++;
  redisReply *ranges = redis_command(&c->nodes[asked].server, "CLUSTER SLOTS");
  for (size_t i = 0; i < ranges->elements; i++) {
    redisReply *const *range = ranges->element[i]->element;
    if (range[0]->integer <= slot && slot <= range[1]->integer) owner = node_at(c, range[2]->element[1]->integer);
  }
  freeReplyObject(ranges);
  if (owner == CLUSTER_NODES) give_up("a slot of nobody's");
  return owner;
}

void cluster_slot_begin(cluster_nodes *c, uint16_t slot, size_t to) {
  cluster_node *from = &c->nodes[cluster_owner(c, slot)];
  ok(redis_command(&c->nodes[to].server, "CLUSTER SETSLOT %d IMPORTING %s", slot, from->id));
  ok(redis_command(&from->server, "CLUSTER SETSLOT %d MIGRATING %s", slot, c->nodes[to].id));
}

void cluster_slot_move_keys(cluster_nodes *c, uint16_t slot, size_t from, size_t to) {
  redisReply *keys = redis_command(&c->nodes[from].server, "CLUSTER GETKEYSINSLOT %d 1000", slot);
  for (size_t i = 0; i < keys->elements; i++) {
    ok(redis_command(&c->nodes[from].server, "MIGRATE 127.0.0.1 %d %s 0 5000", peer_port(&c->nodes[to]),
                     keys->element[i]->str));
  }
  freeReplyObject(keys);
}

void cluster_slot_end(cluster_nodes *c, uint16_t slot, size_t to) {
  ok(redis_command(&c->nodes[to].server, "CLUSTER SETSLOT %d NODE %s", slot, c->nodes[to].id));
  for (size_t i = 0; i < PRIMARIES; i++) {
    if (i != to) ok(redis_command(&c->nodes[i].server, "CLUSTER SETSLOT %d NODE %s", slot, c->nodes[to].id));
  }
}
