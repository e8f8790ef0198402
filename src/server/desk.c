#include "server/desk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/store_url.h"
#include "proto/admin.h"
#include "server/metrics.h"
#include "server/page.h"
#include "server/status.h"
#include "server/systemd.h"

#define IDLE_MS 75000

struct laju_desk {
  laju_desk_options options;
  laju_admin admin;
  const laju_gathering *gathering;
  laju_door door;
  laju_crew crew;
  laju_attendance attendance;
  laju_worker *worker; /* NULL until it has started */
  char store_url[LAJU_STORE_SHOWN_SIZE];
  /* its worker's */
  laju_connections *connections;
  laju_overrides *overrides; /* NULL: there is no store */
  uv_timer_t tick;
  laju_readings readings;
  laju_window latency, store_latency;
};

/* ---- what it shows ---- */

static const laju_readings *gather(laju_desk *desk) {
  laju_gather(desk->gathering, &desk->readings);
  return &desk->readings;
}

static void write_metrics(void *owner, laju_buffer *out) {
  laju_desk *desk = owner;
  laju_metrics_write(gather(desk), out);
}

static void add_status(laju_desk *desk, const laju_readings *readings, laju_buffer *out) {
  char why[LAJU_TEXT_SIZE], refusal[LAJU_TEXT_SIZE];
  laju_sharing_why(desk->options.sharing, why);
  laju_sharing_refusal(desk->options.sharing, refusal);
  laju_status status = {
      .readings = readings,
      .service = desk->options.service,
      .latency = laju_window_look(&desk->latency, &readings->latency, readings->now_us),
      .store_latency = laju_window_look(&desk->store_latency, &readings->store.latency, readings->now_us),
      .store_url = desk->store_url,
      .store_why = why,
      .store_refusal = refusal,
  };
  laju_status_write(&status, out);
}

static void write_status(void *owner, laju_buffer *out) {
  laju_desk *desk = owner;
  add_status(desk, gather(desk), out);
}

static bool find_file(const char *path, size_t len, laju_admin_file *out) {
  for (size_t i = 0; i < laju_page_file_count; i++) {
    const laju_page_file *file = &laju_page_files[i];
    if (strlen(file->path) != len || memcmp(file->path, path, len) != 0) continue;
    *out = (laju_admin_file){.type = file->type, .etag = file->etag, .bytes = file->bytes, .len = file->len};
    return true;
  }
  return false;
}

/* ---- overrides ---- */

static void on_changed(void *context) {
  laju_desk *desk = context;
  laju_connections_push(desk->connections);
}

static void change(void *owner, laju_admin_change *wanted) {
  laju_desk *desk = owner;
  if (desk->overrides != NULL) {
    laju_overrides_change(desk->overrides, wanted, on_changed, desk);
    return;
  }
  laju_overlay *overlay = desk->admin.overlay;
  const laju_overlay_entry *entry = &wanted->entry;
  int64_t now_us = laju_limiter_now_us(desk->options.service->limiter);
  wanted->done = true;
  if (wanted->removes) {
    bool known = laju_overlay_remove(overlay, entry->number, entry->key, entry->key_len, now_us);
    wanted->result = known ? LAJU_CHANGE_DONE : LAJU_CHANGE_UNKNOWN;
  } else {
    wanted->result = laju_overlay_put(overlay, entry, now_us) == 0 ? LAJU_CHANGE_DONE : LAJU_CHANGE_FULL;
  }
}

/* ---- once a second ---- */

static void on_tick(uv_timer_t *timer) {
  laju_desk *desk = timer->data;
  laju_admin *admin = &desk->admin;
  const laju_readings *readings = gather(desk);
  laju_window_feed(&desk->latency, &readings->latency, readings->now_us);
  laju_window_feed(&desk->store_latency, &readings->store.latency, readings->now_us);
  if (admin->subscribers == 0) return;
  laju_buffer_clear(&admin->event);
  add_status(desk, readings, &admin->event);
  if (admin->event.failed) return;
  admin->event_number++;
  laju_connections_push(desk->connections);
}

static int attend(void *context, uv_loop_t *loop, laju_connections *connections, laju_shared *shared) {
  laju_desk *desk = context;
  desk->overrides = shared->overrides;
  desk->connections = connections;
  uv_timer_init(loop, &desk->tick);
  desk->tick.data = desk;
  uv_timer_start(&desk->tick, on_tick, 0, LAJU_DESK_TICK_MS);
  return 0;
}

static void leave(void *context) {
  laju_desk *desk = context;
  uv_close((uv_handle_t *)&desk->tick, NULL);
}

/* ---- life ---- */

static int open_door(laju_desk *desk, int fd, char why[LAJU_TEXT_SIZE]) {
  const char *address = desk->options.config->listen_admin;
  int err = fd >= 0 ? laju_door_adopt(&desk->door, &laju_admin_codec, fd, 1, why)
                    : laju_door_open(&desk->door, &laju_admin_codec, address, 1, why);
  if (err < 0) return -1;
  desk->door.idle_ms = IDLE_MS;
  if (!desk->door.is_unix) desk->door.tls = desk->options.tls;
  desk->admin.secure = desk->door.tls != NULL;
  desk->admin.exposed = !desk->door.local;
  if (desk->door.local || laju_service_terms(desk->options.service)->admin_token != NULL) return 0;
  laju_door_close(&desk->door);
  snprintf(why, LAJU_TEXT_SIZE, "others than this machine reach the admin door, and admin.token is not set");
  return -1;
}

static void fill(laju_desk *desk, const laju_desk_options *options) {
  desk->options = *options;
  desk->admin.owner = desk;
  desk->admin.write_metrics = write_metrics;
  desk->admin.write_status = write_status;
  desk->admin.find_file = find_file;
  desk->admin.change = change;
  desk->admin.names = options->service->names;
  desk->admin.overlay = options->service->overlay;
  memcpy(desk->admin.hash_key, options->hash_key, sizeof desk->admin.hash_key);
  desk->attendance = (laju_attendance){.open = attend, .close = leave, .context = desk};
  desk->crew = (laju_crew){.service = options->service,
                           .sharing = options->sharing,
                           .doors = &desk->door,
                           .door_count = 1,
                           .connections_max = LAJU_DESK_CONNECTIONS_MAX,
                           .news = options->news,
                           .is_desk = true,
                           .minds_overrides = true,
                           .attendance = &desk->attendance};
  if (options->config->store.url.kind != LAJU_STORE_NONE)
    laju_store_url_show(desk->store_url, &options->config->store.url);
}

int laju_desk_open(laju_desk **out, const laju_desk_options *options, char why[LAJU_TEXT_SIZE]) {
  int fd = laju_systemd_socket(laju_admin_codec.name);
  *out = NULL;
  if (fd == LAJU_SYSTEMD_SEVERAL) {
    snprintf(why, LAJU_TEXT_SIZE, "more than one socket was handed over under the name admin");
    return -1;
  }
  if (fd < 0 && options->config->listen_admin[0] == '\0') return 0;
  laju_desk *desk = calloc(1, sizeof *desk);
  if (desk == NULL) {
    snprintf(why, LAJU_TEXT_SIZE, "out of memory");
    return -1;
  }
  fill(desk, options);
  if (open_door(desk, fd, why) < 0) {
    free(desk);
    return -1;
  }
  options->service->admin = &desk->admin;
  *out = desk;
  return 0;
}

const laju_door *laju_desk_door(const laju_desk *desk) {
  return &desk->door;
}

int laju_desk_start(laju_desk *desk, const laju_gathering *gathering, laju_top *const *tops, char why[LAJU_TEXT_SIZE]) {
  desk->gathering = gathering;
  desk->admin.ledgers = gathering->ledgers;
  desk->admin.tops = tops;
  desk->admin.account_count = gathering->worker_count;
  return laju_worker_new(&desk->worker, &desk->crew, 0, why);
}

void laju_desk_publish(laju_desk *desk, uint64_t epoch) {
  if (desk == NULL) return;
  atomic_store_explicit(&desk->crew.epoch, epoch, memory_order_release);
  if (desk->worker != NULL) laju_worker_nudge(desk->worker);
}

uint64_t laju_desk_epoch(const laju_desk *desk) {
  return desk == NULL || desk->worker == NULL ? UINT64_MAX : laju_worker_epoch(desk->worker);
}

void laju_desk_drain(laju_desk *desk) {
  if (desk != NULL && desk->worker != NULL) laju_worker_drain(desk->worker);
}

void laju_desk_cut(laju_desk *desk) {
  if (desk != NULL && desk->worker != NULL) laju_worker_cut(desk->worker);
}

bool laju_desk_has_ended(const laju_desk *desk) {
  return desk == NULL || desk->worker == NULL || laju_worker_has_ended(desk->worker);
}

void laju_desk_stop(laju_desk *desk) {
  if (desk == NULL) return;
  laju_worker_free(desk->worker);
  desk->worker = NULL;
}

void laju_desk_free(laju_desk *desk) {
  if (desk == NULL) return;
  laju_door_close(&desk->door);
  laju_buffer_deinit(&desk->admin.event);
  free(desk);
}
