#include "redis/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "redis/store_parts.h"

#define PROBE_EVERY_MS LAJU_BREAKER_PROBE_MS
#define HANDLES 5

/* ---- breakers ---- */

static void on_probe(uv_timer_t *timer) {
  laju_store *store = timer->data;
  bool open = false;
  for (laju_server *server = store->servers.first; server != NULL; server = server->next) {
    if (!laju_breaker_is_open(&server->breaker)) continue;
    laju_store_probe(server);
    open = true;
  }
  if (!open) uv_timer_stop(timer);
}

void laju_store_blame(laju_server *server, const char *why) {
  laju_store *store = server->all->store;
  if (why != NULL) snprintf(store->why, sizeof store->why, "%s", why);
  if (store->closing || !laju_breaker_fail(&server->breaker, laju_store_now_us())) return;
  laju_count(&store->counters.breaker_opened);
  laju_servers_count(&store->servers);
  uv_timer_start(&store->probe, on_probe, PROBE_EVERY_MS, PROBE_EVERY_MS);
}

void laju_store_praise(laju_server *server) {
  if (laju_breaker_succeed(&server->breaker)) laju_servers_count(server->all);
}

/* ---- what the servers tell ---- */

static void on_ready(void *context, laju_server *server) {
  laju_store *store = context;
  store->dirty = true;
  if (!laju_breaker_is_open(&server->breaker)) return;
  laju_breaker_hurry(&server->breaker, laju_store_now_us());
  laju_store_probe(server);
}

static void on_failure(void *context, laju_server *server) {
  laju_store *store = context;
  laju_store_blame(server, NULL);
  store->dirty = true; /* what came back unsent has its place in a queue */
}

static void on_removed(void *context, laju_server *server) {
  laju_store *store = context;
  for (size_t i = 0; i < store->later_count; i++) {
    if (store->later[i].server == server) store->later[i].server = NULL;
  }
  const laju_piece *first;
  while ((first = laju_pieces_first(&server->queue)) != NULL) {
    laju_piece piece = *first;
    laju_pieces_pop(&server->queue);
    laju_store_requeue(store, &piece, NULL);
  }
}

/* ---- time ---- */

static void on_deadline(uv_timer_t *timer) {
  laju_store *store = timer->data;
  /* It may be this process that stood still, while the answers lie here: timers come before sockets in a turn. */
  for (laju_server *server = store->servers.first; server != NULL; server = server->next) laju_server_read(server);
  int64_t now_us = laju_store_now_us();
  /* First the breakers, so that what follows on an owner's `done` finds them as they are. */
  for (laju_server *server = store->servers.first; server != NULL; server = server->next) {
    laju_store_count_late(server, now_us);
  }
  laju_store_expire(store, now_us, false);
  laju_store_watch(store);
}

void laju_store_watch(laju_store *store) {
  uint64_t number;
  const laju_slot *slot = laju_slots_oldest(&store->slots, &number);
  if (slot == NULL || store->closing || uv_is_active((uv_handle_t *)&store->deadline)) return;
  int64_t due_us = slot->since_us + store->servers.options.timeout_us;
  uint64_t due_ms = (uint64_t)(due_us + 999) / 1000, now_ms = uv_now(store->servers.shared.loop);
  uv_timer_start(&store->deadline, on_deadline, due_ms > now_ms ? due_ms - now_ms : 1, 0);
}

static void end_turn(laju_store *store) {
  if (store->dirty) laju_store_send_queues(store);
}

static void on_prepare(uv_prepare_t *prepare) {
  end_turn(prepare->data);
}

static void on_check(uv_check_t *check) {
  end_turn(check->data);
}

/* ---- coming and going ---- */

static void free_texts(laju_store_options *options) {
  free((char *)options->tls_ca);
  free((char *)options->tls_cert);
  free((char *)options->tls_key);
  free((char *)options->tls_server_name);
}

static bool copy_text(const char **text) {
  if (*text == NULL) return true;
  *text = strdup(*text);
  return *text != NULL;
}

/* The texts of `to` are its own afterwards, or NULL. */
static bool copy_options(laju_store_options *to, const laju_store_options *from) {
  *to = *from;
  bool all = copy_text(&to->tls_ca);
  all = copy_text(&to->tls_cert) && all;
  all = copy_text(&to->tls_key) && all;
  return copy_text(&to->tls_server_name) && all;
}

static void free_store(laju_store *store) {
  while (store->spare != NULL) {
    laju_parcel *parcel = store->spare;
    store->spare = parcel->newer;
    free(parcel);
  }
  laju_slots_deinit(&store->slots);
  free(store->later);
  laju_tls_client_free(store->servers.shared.tls);
  free(store->servers.shared.read_buffer);
  free_texts(&store->servers.options);
  free(store);
}

static void on_drained(void *context) {
  laju_store *store = context;
  void (*closed)(void *) = store->closed;
  void *closed_context = store->closed_context;
  free_store(store);
  if (closed != NULL) closed(closed_context);
}

static void on_handle_closed(uv_handle_t *handle) {
  laju_store *store = handle->data;
  laju_servers_release(&store->servers);
}

static const laju_topology *topology_of(laju_store_kind kind) {
  switch (kind) {
    case LAJU_STORE_SENTINEL: return &laju_topology_sentinel;
    case LAJU_STORE_CLUSTER: return &laju_topology_cluster;
    default: return &laju_topology_single;
  }
}

static int prepare_servers(laju_store *store, uv_loop_t *loop, const laju_store_options *options,
                           char why[LAJU_TEXT_SIZE]) {
  laju_servers *servers = &store->servers;
  servers->topology = topology_of(options->url.kind);
  servers->counters = &store->counters;
  servers->store = store;
  servers->on_ready = on_ready;
  servers->on_failure = on_failure;
  servers->on_removed = on_removed;
  servers->drained = on_drained;
  servers->shared = (laju_link_shared){
      .loop = loop,
      .connect_timeout_us = options->connect_timeout_us,
      .timeout_us = options->timeout_us,
      .counters = &store->counters,
      .read_buffer = malloc(LAJU_LINK_READ_SIZE),
  };
  if (!copy_options(&servers->options, options) || servers->shared.read_buffer == NULL) return LAJU_ERR_MEMORY;
  if (uv_random(NULL, NULL, &servers->shared.random, sizeof servers->shared.random, 0, NULL) < 0)
    return LAJU_ERR_SYSTEM;
  servers->shared.random |= 1;
  if (!options->url.tls) return 0;
  const laju_tls_client_options tls = {
      .ca = options->tls_ca,
      .cert = options->tls_cert,
      .key = options->tls_key,
      .server_name = options->tls_server_name,
  };
  return laju_tls_client_new(&servers->shared.tls, &tls, why);
}

static void init_handles(laju_store *store, uv_loop_t *loop) {
  uv_prepare_init(loop, &store->prepare);
  uv_check_init(loop, &store->check);
  uv_timer_init(loop, &store->deadline);
  uv_timer_init(loop, &store->later_timer);
  uv_timer_init(loop, &store->probe);
  store->prepare.data = store->check.data = store->deadline.data = store->later_timer.data = store->probe.data = store;
  uv_prepare_start(&store->prepare, on_prepare);
  uv_check_start(&store->check, on_check);
  for (int i = 0; i < HANDLES; i++) laju_servers_hold(&store->servers);
}

int laju_store_new(laju_store **out, uv_loop_t *loop, const laju_store_options *options, char why[LAJU_TEXT_SIZE]) {
  laju_store *store = calloc(1, sizeof *store);
  if (store == NULL) return LAJU_ERR_MEMORY;
  snprintf(why, LAJU_TEXT_SIZE, "no memory, or nothing random to be had");
  laju_slots_init(&store->slots);
  int err = prepare_servers(store, loop, options, why);
  if (err == 0) err = laju_script_init(&store->script);
  if (err < 0) {
    free_store(store);
    return err;
  }
  store->parcel_size = store->servers.topology->batches ? LAJU_STORE_BATCH : 1;
  init_handles(store, loop);
  err = store->servers.topology->open(&store->servers);
  store->opened = err == 0;
  if (err < 0) {
    laju_store_close(store, NULL, NULL);
    return err;
  }
  *out = store;
  return 0;
}

void laju_store_close(laju_store *store, void (*closed)(void *context), void *context) {
  store->closed = closed;
  store->closed_context = context;
  store->closing = true;
  laju_store_expire(store, 0, true);
  if (store->opened) store->servers.topology->close(&store->servers);
  while (store->servers.first != NULL) laju_server_remove(store->servers.first);
  uv_close((uv_handle_t *)&store->prepare, on_handle_closed);
  uv_close((uv_handle_t *)&store->check, on_handle_closed);
  uv_close((uv_handle_t *)&store->deadline, on_handle_closed);
  uv_close((uv_handle_t *)&store->later_timer, on_handle_closed);
  uv_close((uv_handle_t *)&store->probe, on_handle_closed);
}

/* ---- what it tells ---- */

const laju_store_counters *laju_store_read_counters(const laju_store *store) {
  return &store->counters;
}

bool laju_store_is_up(const laju_store *store) {
  return laju_count_read(&store->counters.servers_up) > 0;
}

const char *laju_store_refusal(const laju_store *store) {
  return store->refusal;
}

const char *laju_store_why(const laju_store *store) {
  if (laju_store_is_up(store)) return "";
  for (const laju_server *server = store->servers.first; server != NULL; server = server->next) {
    if (laju_server_is_connected(server)) return store->why;
  }
  return store->servers.why;
}
