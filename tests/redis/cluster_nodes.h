/* A real cluster of the test's own: primaries and their replicas, on ports of 127.0.0.1 that were free. */
#ifndef TESTS_REDIS_CLUSTER_NODES_H
#define TESTS_REDIS_CLUSTER_NODES_H

#include "base/store_url.h"
#include "redis/certificates.h"
#include "redis/redis_server.h"

#define PRIMARIES 3
#define CLUSTER_NODES (2 * PRIMARIES) /* a replica for each, PRIMARIES behind it */

typedef struct cluster_node {
  redis_server server;
  uint16_t port, tls_port; /* the latter 0 where it speaks plainly alone */
  char port_text[8], tls_port_text[8], id[48];
} cluster_node;

typedef struct cluster_nodes {
  cluster_node nodes[CLUSTER_NODES];
  size_t count; /* PRIMARIES, or CLUSTER_NODES */
} cluster_nodes;

/* Slots are spread evenly. Returns when all nodes agree. With certificates they also listen by TLS, speak it among themselves, and
 * let in who shows a certificate of the same authority. */
void cluster_start(cluster_nodes *c, bool replicas, const certificates *files);
void cluster_stop(cluster_nodes *c);

/* The first primary alone, or all of them, as a URL tells them. */
laju_store_url cluster_url(const cluster_nodes *c, bool all);

/* The node that serves a slot, as the first living node knows it. */
size_t cluster_owner(cluster_nodes *c, uint16_t slot);

/* Takes one slot from its node to another: begins (then the keys are still where they were, and ASK is answered for those that are
 * not), moves the keys, and ends. */
void cluster_slot_begin(cluster_nodes *c, uint16_t slot, size_t to);
void cluster_slot_move_keys(cluster_nodes *c, uint16_t slot, size_t from, size_t to);
void cluster_slot_end(cluster_nodes *c, uint16_t slot, size_t to);

#endif
