#include "server/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "base/log.h"

/* ---- in common ----------------------------------------------------------------------------------------------------- */

int laju_sharing_init(laju_sharing *sharing, const laju_config_store *config, laju_service *service, uv_async_t *news,
                      size_t workers) {
  *sharing = (laju_sharing){.service = service, .news = news};
  int err = uv_mutex_init(&sharing->lock);
  if (err < 0) return err;
  sharing->config = config;
  atomic_store_explicit(&sharing->nodes, config->nodes > 0 ? config->nodes : 1, memory_order_relaxed);
  service->stores = laju_sharing_has_store(sharing) ? (uint32_t)workers : 0;
  return 0;
}

void laju_sharing_deinit(laju_sharing *sharing) {
  uv_mutex_destroy(&sharing->lock);
}

/* Is it new, and the last word long enough ago? A store that is still being connected to is neither up nor down. */
static bool is_worth_telling(const laju_sharing *sharing, bool up, const char *why, uint64_t now_ms) {
  uint64_t since_ms = now_ms - sharing->told_ms;
  if (!up && why[0] == '\0') return false;
  if (!sharing->told) return true;
  if (up != sharing->told_up) return since_ms >= LAJU_SHARING_TELL_MS;
  return !up && strcmp(why, sharing->told_why) != 0 && since_ms >= LAJU_SHARING_WHY_MS;
}

/* It is up, and yet does not decide: that would pass unseen where rules allow then. */
static void tell_refusals(laju_sharing *sharing, uint64_t now_ms) {
  char url[LAJU_STORE_SHOWN_SIZE], why[LAJU_TEXT_SIZE], checks[24];
  uv_mutex_lock(&sharing->lock);
  uint64_t refusals = sharing->refusals;
  uv_mutex_unlock(&sharing->lock);
  bool told_before = sharing->told_refusals > 0;
  if (refusals == sharing->told_refusals) return;
  if (told_before && now_ms - sharing->told_refusals_ms < LAJU_SHARING_WHY_MS) return;
  laju_sharing_refusal(sharing, why);
  snprintf(checks, sizeof checks, "%" PRIu64, refusals - sharing->told_refusals);
  sharing->told_refusals = refusals;
  sharing->told_refusals_ms = now_ms;
  laju_store_url_show(url, &sharing->config->url);
  laju_log(LAJU_LOG_WARN, "the shared store answers checks with errors: they go by their on_store_error", "store", url,
           "why", why, "checks", checks, NULL);
}

void laju_sharing_tell(laju_sharing *sharing, uint64_t now_ms) {
  const laju_service *service = sharing->service;
  char url[LAJU_STORE_SHOWN_SIZE], why[LAJU_TEXT_SIZE];
  if (service->stores == 0) return;
  tell_refusals(sharing, now_ms);
  bool up = atomic_load_explicit(&service->stores_up, memory_order_relaxed) == service->stores;
  laju_sharing_why(sharing, why);
  if (!is_worth_telling(sharing, up, why, now_ms)) return;
  sharing->told = true;
  sharing->told_up = up;
  sharing->told_ms = now_ms;
  memcpy(sharing->told_why, why, sizeof why);
  laju_store_url_show(url, &sharing->config->url);
  if (up) {
    laju_log(LAJU_LOG_INFO, "the shared store answers", "store", url, NULL);
  } else {
    laju_log(LAJU_LOG_WARN, "the shared store does not answer: rules go by their on_store_error", "store", url, "why",
             why, NULL);
  }
}

void laju_sharing_why(laju_sharing *sharing, char why[LAJU_TEXT_SIZE]) {
  uv_mutex_lock(&sharing->lock);
  memcpy(why, sharing->why, LAJU_TEXT_SIZE);
  uv_mutex_unlock(&sharing->lock);
}

void laju_sharing_refusal(laju_sharing *sharing, char refusal[LAJU_TEXT_SIZE]) {
  uv_mutex_lock(&sharing->lock);
  memcpy(refusal, sharing->refusal, LAJU_TEXT_SIZE);
  uv_mutex_unlock(&sharing->lock);
}

/* ---- a worker's ---------------------------------------------------------------------------------------------------- */

/* Tells the others how the store is for this worker, where that has changed. */
static void note(laju_shared *shared, bool up, const char *why) {
  laju_sharing *all = shared->all;
  if (up == shared->up && strcmp(why, shared->why) == 0) return;
  if (up && !shared->up) atomic_fetch_add_explicit(&all->service->stores_up, 1, memory_order_relaxed);
  if (!up && shared->up) atomic_fetch_sub_explicit(&all->service->stores_up, 1, memory_order_relaxed);
  shared->up = up;
  snprintf(shared->why, sizeof shared->why, "%s", why);
  if (!up) {
    uv_mutex_lock(&all->lock);
    memcpy(all->why, shared->why, sizeof all->why);
    uv_mutex_unlock(&all->lock);
  }
  uv_async_send(all->news);
}

/* The same of errors that checks were answered with, not at each turn. */
static void note_refusals(laju_shared *shared) {
  laju_sharing *all = shared->all;
  uint64_t refusals = laju_count_read(&laju_store_read_counters(shared->way.store)->refusals);
  uint64_t now_ms = uv_now(shared->turn.loop);
  if (refusals == shared->refusals || now_ms - shared->refusals_ms < LAJU_SHARING_TELL_MS) return;
  uv_mutex_lock(&all->lock);
  all->refusals += refusals - shared->refusals;
  snprintf(all->refusal, sizeof all->refusal, "%s", laju_store_refusal(shared->way.store));
  uv_mutex_unlock(&all->lock);
  shared->refusals = refusals;
  shared->refusals_ms = now_ms;
  uv_async_send(all->news);
}

static void on_prepare(uv_prepare_t *turn) {
  laju_shared *shared = turn->data;
  note_refusals(shared);
  bool up = laju_store_is_up(shared->way.store);
  note(shared, up, up ? "" : laju_store_why(shared->way.store));
  shared->on_turn(shared->context);
}

static laju_store_options options_of(const laju_config_store *config) {
  return (laju_store_options){
      .url = config->url,
      .tls_ca = config->tls_ca[0] != '\0' ? config->tls_ca : NULL,
      .tls_cert = config->tls_cert[0] != '\0' ? config->tls_cert : NULL,
      .tls_key = config->tls_key[0] != '\0' ? config->tls_key : NULL,
      .tls_server_name = config->tls_server_name[0] != '\0' ? config->tls_server_name : NULL,
      .timeout_us = config->timeout_us,
      .connect_timeout_us = config->connect_timeout_us,
      .pool = config->pool,
      .max_inflight = config->max_inflight,
      .transaction = config->transaction,
  };
}

static int fail(int error, char why[LAJU_TEXT_SIZE]) {
  snprintf(why, LAJU_TEXT_SIZE, "%s", laju_error_allowed(error));
  return -1;
}

static int take_up(laju_shared *shared, uv_loop_t *loop, laju_duties duties) {
  const laju_config_store *config = shared->all->config;
  laju_slice prefix = {config->prefix, strlen(config->prefix)};
  int error = 0;
  if (duties.registers && config->nodes == 0) {
    error = laju_nodes_new(&shared->nodes, shared->way.store, loop, &prefix, LAJU_VERSION, &shared->all->nodes);
  }
  if (error < 0 || !duties.overrides) return error;
  laju_overrides_options options = {.service = shared->all->service,
                                    .store = shared->way.store,
                                    .prefix = config->prefix,
                                    .transaction = config->transaction};
  error = laju_overrides_new(&shared->overrides, loop, &options);
  if (error < 0 && shared->nodes != NULL) laju_nodes_close(shared->nodes);
  return error;
}

/* With the keys made: the store, and what this worker does for all. */
static int open_store(laju_shared *shared, uv_loop_t *loop, laju_duties duties, char why[LAJU_TEXT_SIZE]) {
  laju_store_options options = options_of(shared->all->config);
  why[0] = '\0';
  int error = laju_store_new(&shared->way.store, loop, &options, why);
  if (error < 0) return why[0] != '\0' ? -1 : fail(error, why);
  error = take_up(shared, loop, duties);
  if (error == 0) return 0;
  laju_store_close(shared->way.store, NULL, NULL);
  return fail(error, why);
}

/* Whoever reads the counters must not meet them half gone. */
static void set_readable(laju_shared *shared, bool readable) {
  uv_mutex_lock(&shared->all->lock);
  shared->readable = readable;
  uv_mutex_unlock(&shared->all->lock);
}

int laju_shared_open(laju_shared *shared, laju_sharing *all, uv_loop_t *loop, laju_duties duties,
                     void (*on_turn)(void *context), void *context, char why[LAJU_TEXT_SIZE]) {
  const laju_config_store *config = all->config;
  *shared = (laju_shared){.all = all, .on_turn = on_turn, .context = context};
  shared->way.limiter = all->service->limiter;
  if (!laju_sharing_has_store(all)) return 0;
  shared->way.nodes = &all->nodes;
  shared->way.deny_cache = config->deny_cache;
  shared->way.transaction = config->transaction;
  int error = laju_keys_init(&shared->way.keys, config->prefix, strlen(config->prefix));
  if (error < 0) return fail(error, why);
  if (open_store(shared, loop, duties, why) < 0) {
    laju_keys_deinit(&shared->way.keys);
    return -1;
  }
  uv_prepare_init(loop, &shared->turn);
  shared->turn.data = shared;
  uv_prepare_start(&shared->turn, on_prepare);
  uv_unref((uv_handle_t *)&shared->turn);
  set_readable(shared, true);
  return 0;
}

void laju_shared_read(laju_shared *shared, laju_readings *readings) {
  uv_mutex_lock(&shared->all->lock);
  if (shared->readable) laju_readings_add_store(readings, laju_store_read_counters(shared->way.store));
  if (shared->readable && shared->nodes != NULL) laju_nodes_look(shared->nodes, &readings->seen);
  uv_mutex_unlock(&shared->all->lock);
}

void laju_shared_close(laju_shared *shared) {
  if (shared->way.store == NULL) return;
  set_readable(shared, false);
  note(shared, false, "");
  uv_close((uv_handle_t *)&shared->turn, NULL);
  if (shared->nodes != NULL) laju_nodes_close(shared->nodes);
  if (shared->overrides != NULL) laju_overrides_close(shared->overrides);
  laju_store_close(shared->way.store, NULL, NULL);
}

void laju_shared_deinit(laju_shared *shared) {
  if (shared->way.store != NULL) laju_keys_deinit(&shared->way.keys);
}
