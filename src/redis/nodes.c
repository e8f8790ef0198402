#include "redis/nodes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/plain.h"

struct laju_nodes {
  laju_store *store;
  uv_timer_t timer;
  laju_store_command command; /* TIME, then MULTI to EXEC */
  laju_buffer buffer;
  _Atomic uint32_t *count;
  pthread_mutex_t lock; /* of `seen` */
  laju_nodes_seen seen;
  size_t name_len;
  char name[LAJU_NODES_NAME_MAX];
  char member[LAJU_NODES_ID_LEN + 1 + LAJU_NODES_VERSION_MAX + 1];
  bool closing;
  int uses; /* by the timer and by a command */
};

static void let_go(laju_nodes *nodes) {
  if (--nodes->uses > 0) return;
  pthread_mutex_destroy(&nodes->lock);
  laju_buffer_deinit(&nodes->buffer);
  free(nodes);
}

static void begin(uv_timer_t *timer);

static void again_in(laju_nodes *nodes, uint64_t ms) {
  if (!nodes->closing) uv_timer_start(&nodes->timer, begin, ms, 0);
}

static laju_nodes *nodes_of(laju_store_command *command) {
  return (laju_nodes *)((char *)command - offsetof(laju_nodes, command));
}

/* Sends what is in the buffer; where it cannot, begins anew later. */
static void send_buffer(laju_nodes *nodes, uint32_t replies, void (*done)(laju_store_command *, const redisReply *)) {
  nodes->command = (laju_store_command){
      .bytes = nodes->buffer.data,
      .len = nodes->buffer.len,
      .key = nodes->name,
      .key_len = nodes->name_len,
      .replies = replies,
      .done = done,
  };
  if (!nodes->closing && !nodes->buffer.failed && laju_store_send(nodes->store, &nodes->command)) {
    nodes->uses++;
  } else {
    again_in(nodes, LAJU_NODES_AGAIN_MS);
  }
}

static void on_who(laju_store_command *command, const redisReply *reply) {
  laju_nodes *nodes = nodes_of(command);
  laju_nodes_seen seen;
  if (reply != NULL && laju_nodes_read_who(reply, &seen) == 0) {
    bool more_may_come = seen.count != nodes->seen.count; /* a fleet that starts does so at about one time */
    pthread_mutex_lock(&nodes->lock);
    nodes->seen = seen;
    pthread_mutex_unlock(&nodes->lock);
    atomic_store_explicit(nodes->count, seen.count, memory_order_relaxed);
    again_in(nodes, more_may_come ? LAJU_NODES_AGAIN_MS : LAJU_NODES_REFRESH_MS);
  } else {
    again_in(nodes, LAJU_NODES_AGAIN_MS);
  }
  let_go(nodes);
}

static void on_time(laju_store_command *command, const redisReply *reply) {
  laju_nodes *nodes = nodes_of(command);
  int64_t now_ms = reply != NULL ? laju_nodes_read_time(reply) : -1;
  if (now_ms >= 0) {
    laju_buffer_clear(&nodes->buffer);
    laju_nodes_ask_who(&nodes->buffer, nodes->name, nodes->name_len, nodes->member, now_ms);
    send_buffer(nodes, LAJU_NODES_REPLIES, on_who);
  } else {
    again_in(nodes, LAJU_NODES_AGAIN_MS);
  }
  let_go(nodes);
}

static void begin(uv_timer_t *timer) {
  laju_nodes *nodes = timer->data;
  laju_buffer_clear(&nodes->buffer);
  laju_nodes_ask_time(&nodes->buffer);
  send_buffer(nodes, 1, on_time);
}

static void timer_closed(uv_handle_t *timer) {
  let_go(timer->data);
}

void laju_nodes_close(laju_nodes *nodes) {
  nodes->closing = true;
  uv_close((uv_handle_t *)&nodes->timer, timer_closed);
}

void laju_nodes_look(laju_nodes *nodes, laju_nodes_seen *out) {
  pthread_mutex_lock(&nodes->lock);
  *out = nodes->seen;
  pthread_mutex_unlock(&nodes->lock);
}

static int name_node(laju_nodes *nodes, const laju_slice *prefix, const char *version) {
  if (!laju_plain(prefix->at, prefix->len) || !laju_nodes_version_valid(version)) return LAJU_ERR_NAME;
  nodes->name_len = laju_nodes_name(prefix->at, prefix->len, nodes->name);
  uint64_t id;
  if (getrandom(&id, sizeof id, 0) != sizeof id) return LAJU_ERR_SYSTEM;
  snprintf(nodes->member, sizeof nodes->member, "%016llx %s", (unsigned long long)id, version);
  return 0;
}

int laju_nodes_new(laju_nodes **out, laju_store *store, uv_loop_t *loop, const laju_slice *prefix, const char *version,
                   _Atomic uint32_t *count) {
  laju_nodes *nodes = calloc(1, sizeof *nodes);
  if (nodes == NULL) return LAJU_ERR_MEMORY;
  int rc = name_node(nodes, prefix, version);
  if (rc < 0) {
    free(nodes);
    return rc;
  }
  nodes->store = store;
  nodes->count = count;
  nodes->uses = 1;
  pthread_mutex_init(&nodes->lock, NULL);
  uv_timer_init(loop, &nodes->timer);
  nodes->timer.data = nodes;
  again_in(nodes, 0);
  *out = nodes;
  return 0;
}
