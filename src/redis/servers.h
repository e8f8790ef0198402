/* Inside `redis`: the servers behind one store, and how it is known which of them a check goes to.
 *
 * A server is an address, `pool` links to it, a breaker, and a queue of what waits to be sent there. The topology (one server;
 * the primary that Sentinel names; a cluster) makes servers, moves and removes them, and answers which one a key lives on.
 * The store (store.c) does the rest alike for all: batching, deadlines, errors. So a topology sees no check, and the store no
 * Sentinel.
 *
 * One thread, the store's.
 */
#ifndef LAJU_REDIS_SERVERS_H
#define LAJU_REDIS_SERVERS_H

#include "redis/breaker.h"
#include "redis/link.h"
#include "redis/pieces.h"
#include "redis/store.h"

#define LAJU_SERVERS_MAX 1024 /* of a cluster */

typedef struct laju_servers laju_servers;

typedef struct laju_server {
  laju_servers *all;
  laju_store_place place; /* host "" while it is not known: then it has no links, and what is for it waits */
  laju_link *links[LAJU_STORE_POOL_MAX];
  size_t link_count, open_links;
  size_t turn;     /* whose turn it is among the links */
  uint32_t number; /* the topology's */
  bool removed;
  struct laju_server *next; /* in servers->first */

  /* The store's. */
  laju_breaker breaker;
  laju_pieces queue;                   /* waits to be sent */
  struct laju_parcel *oldest, *newest; /* sent, and neither answered nor late */
  laju_link_command preparing; /* SCRIPT LOAD after NOSCRIPT, or TIME before transactions: the queue waits for it */
  laju_link_command probe;     /* a call for no check, while the breaker is open and nobody asks */
  bool is_preparing, is_probing;
  bool knows_time;
  int64_t ahead_us;  /* its clock, of ours, as laju_store_now_us tells it */
  int64_t asked_us;  /* when something was sent last */
  int64_t probed_us; /* when `probe` was */
} laju_server;

#define LAJU_SERVER_QUESTIONS_MAX 16 /* commands of a link beyond max_inflight: the topology's and the store's own */

/* What becomes of a command that a server answered with an error as a whole. */
typedef struct laju_redirect {
  laju_server *to; /* NULL: it fails */
  bool asking;     /* with ASKING before it */
  bool later;      /* after LAJU_REDIRECT_LATER_MS, and with ASKING if it was so before */
} laju_redirect;

#define LAJU_REDIRECTS_MAX 5 /* of one command, those that are later not counted: its deadline ends them */

#define LAJU_REDIRECT_LATER_MS 5

/* A way to know the servers. `servers->state` is its own. */
typedef struct laju_topology {
  /* Makes the first servers. 0, LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM. */
  int (*open)(laju_servers *servers);

  /* Closes what is its own; servers it leaves alone. What goes on after that holds `servers` (laju_servers_hold). */
  void (*close)(laju_servers *servers);

  /* The server that a key lives on. Never NULL: where it cannot be known, one that will say where. */
  laju_server *(*find)(laju_servers *servers, const char *key, size_t key_len);

  /* May these keys be one command? NULL: always. */
  bool (*together)(const laju_script_ask *asks, size_t count);

  /* A server answered a whole command with an error: should it go elsewhere? NULL: never. It has not run, where the answer
   * names a server. Not called for NOSCRIPT. */
  laju_redirect (*redirect)(laju_servers *servers, laju_server *server, const char *error);

  /* A link to it takes commands (again). NULL: nothing to do. */
  void (*ready)(laju_servers *servers, laju_server *server);

  /* A connection to it is gone, could not be made (`greeted` false), or was given up because it was READONLY. NULL: nothing to
   * do, the link comes again by itself. */
  void (*lost)(laju_servers *servers, laju_server *server, bool greeted);

  bool batches; /* requests of one turn share commands; false: a command a run of joined asks */
} laju_topology;

struct laju_servers {
  laju_link_shared shared;
  laju_store_options options; /* with its texts, which are the store's */
  laju_store_counters *counters;
  const laju_topology *topology;
  void *state;
  laju_server *first;
  size_t count;
  size_t holds;                 /* what is not closed yet */
  char why[LAJU_LINK_WHY_SIZE]; /* the last connection's end */

  /* What the store wants to hear. `drained` is called once all is closed. */
  void *store;
  void (*on_ready)(void *store, laju_server *server);
  void (*on_failure)(void *store, laju_server *server);
  void (*on_removed)(void *store, laju_server *server); /* it is freed soon: what waits for it goes elsewhere */
  void (*drained)(void *store);
};

/* The topology of a URL's kind. */
extern const laju_topology laju_topology_single, laju_topology_sentinel, laju_topology_cluster;

/* A new server. `place` NULL: not known yet. NULL: no memory, or LAJU_SERVERS_MAX. */
laju_server *laju_server_add(laju_servers *servers, const laju_store_place *place);

/* It is elsewhere now: links go there. What waits for it waits on. The same place as before changes nothing. */
void laju_server_move(laju_server *server, const laju_store_place *place);

/* It is none any more. What was sent fails as with any lost connection; what waits is found another place. */
void laju_server_remove(laju_server *server);

/* A link that takes a command now, or NULL: for the topology's own questions. */
laju_link *laju_server_link(laju_server *server);

/* Takes what has come from it and was not looked at yet. */
void laju_server_read(laju_server *server);

/* Gives up all its connections. */
void laju_server_drop(laju_server *server, const char *why);

/* Does a connection to it stand; and, is its breaker closed, too? */
bool laju_server_is_connected(const laju_server *server);
bool laju_server_is_up(const laju_server *server);

/* Tells `servers`, `servers_up` anew. */
void laju_servers_count(laju_servers *servers);

/* Something of the topology's closes later: the store does not go before. */
void laju_servers_hold(laju_servers *servers);
void laju_servers_release(laju_servers *servers);

#endif
