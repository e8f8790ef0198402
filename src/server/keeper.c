#include "server/keeper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define SWEEP_TURN_MS 1000
#define BUCKET_BYTES 128 /* of the table; only the pace of the sweep depends on it */

void laju_keeper_init(laju_keeper *keeper, uv_loop_t *loop, laju_service *service, const laju_config *config) {
  *keeper = (laju_keeper){.loop = loop,
                          .limiter = service->limiter,
                          .overlay = service->overlay,
                          .names = service->names,
                          .config = config};
  uv_timer_init(loop, &keeper->snapshot_timer);
  uv_timer_init(loop, &keeper->sweep_timer);
  keeper->snapshot_timer.data = keeper->sweep_timer.data = keeper->work.data = keeper;
}

/* ---- snapshots ----------------------------------------------------------------------------------------------------- */

static int set_aside(const char *path, const char *why) {
  char kept[LAJU_PATH_MAX + 40];
  snprintf(kept, sizeof kept, "%s.corrupt-%" PRId64, path, (int64_t)time(NULL));
  if (rename(path, kept) < 0) {
    laju_log(LAJU_LOG_ERROR, "the snapshot is damaged and cannot be moved aside", "path", path, "why", why, "rename",
             strerror(errno), NULL);
    return -1;
  }
  laju_log(LAJU_LOG_ERROR, "the snapshot is damaged: starting empty", "path", path, "why", why, "kept", kept, NULL);
  return 0;
}

/* Overrides that cannot be read are those of a later laju: keys are worth more than they are. */
static int load(laju_keeper *keeper, const char *path, char why[LAJU_TEXT_SIZE]) {
  laju_buffer rider = {0};
  int err = laju_limiter_load_with(keeper->limiter, path, &rider, why);
  int saved = errno;
  if (err == 0) {
    int64_t now_us = laju_limiter_now_us(keeper->limiter);
    bool good = !rider.failed && laju_overlay_load(keeper->overlay, keeper->names, now_us, rider.data, rider.len) == 0;
    if (!good) laju_log(LAJU_LOG_ERROR, "the snapshot's overrides cannot be read", "path", path, NULL);
  }
  laju_buffer_deinit(&rider);
  errno = saved;
  return err;
}

/* Any thread. */
static int save(laju_keeper *keeper, char why[LAJU_TEXT_SIZE]) {
  laju_buffer rider = {0};
  laju_overlay_save(keeper->overlay, keeper->names, laju_limiter_now_us(keeper->limiter), &rider);
  int err = laju_limiter_save_with(keeper->limiter, keeper->config->snapshot_path, &rider, why);
  laju_buffer_deinit(&rider);
  return err;
}

int laju_keeper_load(laju_keeper *keeper) {
  const char *path = keeper->config->snapshot_path;
  char why[LAJU_TEXT_SIZE] = "";
  if (path[0] == 0) return 0;
  errno = 0;
  int err = load(keeper, path, why);
  if (err == 0) {
    char keys[24];
    laju_table_stats stats;
    laju_table_stats_read(laju_limiter_table(keeper->limiter), &stats);
    snprintf(keys, sizeof keys, "%" PRIu64, stats.keys);
    laju_log(LAJU_LOG_INFO, "snapshot loaded", "path", path, "keys", keys, NULL);
    return 0;
  }
  if (err == LAJU_ERR_SYSTEM && errno == ENOENT) return 0;
  if (err == LAJU_ERR_SNAPSHOT) return set_aside(path, why);
  laju_log(LAJU_LOG_ERROR, "the snapshot cannot be read", "path", path, "why", why, NULL);
  return -1;
}

/* Says it once while the reason stays the same. */
static void tell_result(laju_keeper *keeper, int err, const char *why) {
  const char *path = keeper->config->snapshot_path;
  if (err == 0) {
    if (keeper->failing[0] != 0) laju_log(LAJU_LOG_INFO, "snapshots are written again", "path", path, NULL);
    keeper->failing[0] = 0;
    return;
  }
  if (strcmp(keeper->failing, why) == 0) return;
  snprintf(keeper->failing, sizeof keeper->failing, "%s", why);
  laju_log(LAJU_LOG_ERROR, "cannot write a snapshot", "path", path, "why", why, NULL);
}

static void save_in_thread(uv_work_t *work) {
  laju_keeper *keeper = work->data;
  keeper->save_result = save(keeper, keeper->save_why);
}

static void on_saved(uv_work_t *work, int status) {
  laju_keeper *keeper = work->data;
  keeper->saving = false;
  if (status == 0) tell_result(keeper, keeper->save_result, keeper->save_why);
}

static void on_snapshot_time(uv_timer_t *timer);

static void await_snapshot_time(laju_keeper *keeper) {
  int64_t interval_ms = keeper->config->snapshot_interval_us / 1000;
  uv_timer_start(&keeper->snapshot_timer, on_snapshot_time, interval_ms > 0 ? (uint64_t)interval_ms : 1, 0);
}

static void on_snapshot_time(uv_timer_t *timer) {
  laju_keeper *keeper = timer->data;
  await_snapshot_time(keeper);
  if (keeper->saving) return;
  keeper->save_why[0] = 0;
  keeper->saving = uv_queue_work(keeper->loop, &keeper->work, save_in_thread, on_saved) == 0;
}

int laju_keeper_save(laju_keeper *keeper) {
  char why[LAJU_TEXT_SIZE] = "";
  if (keeper->config->snapshot_path[0] == 0) return 0;
  int err = save(keeper, why);
  tell_result(keeper, err, why);
  return err == 0 ? 0 : -1;
}

/* ---- sweeping ------------------------------------------------------------------------------------------------------ */

void laju_keeper_sweep(laju_keeper *keeper, int64_t now_us) {
  laju_table *table = laju_limiter_table(keeper->limiter);
  laju_table_stats stats;
  laju_overlay_expire(keeper->overlay, now_us);
  laju_table_stats_read(table, &stats);
  if (stats.keys == 0) return; /* an idle table is not even touched */
  uint64_t slice = keeper->config->memory_bytes / BUCKET_BYTES / LAJU_SWEEP_TURNS + 1;
  keeper->sweep_at = laju_table_sweep(table, keeper->sweep_at, slice, now_us);
}

static void on_sweep_time(uv_timer_t *timer) {
  laju_keeper *keeper = timer->data;
  laju_keeper_sweep(keeper, laju_limiter_now_us(keeper->limiter));
}

/* Told at the start, in the words of the first try: with a long interval that would come too late for who set it up. */
static void look_at_folder(laju_keeper *keeper) {
  const char *path = keeper->config->snapshot_path, *slash = strrchr(path, '/');
  char folder[LAJU_PATH_MAX] = ".", why[LAJU_TEXT_SIZE];
  if (slash != NULL) snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1, path);
  if (access(folder, W_OK | X_OK) == 0) return;
  snprintf(why, sizeof why, "cannot create %s.tmp: %s", path, strerror(errno));
  tell_result(keeper, -1, why);
}

void laju_keeper_start(laju_keeper *keeper) {
  uv_timer_start(&keeper->sweep_timer, on_sweep_time, SWEEP_TURN_MS, SWEEP_TURN_MS);
  if (keeper->config->snapshot_path[0] == 0) return;
  look_at_folder(keeper);
  await_snapshot_time(keeper);
}

void laju_keeper_stop(laju_keeper *keeper) {
  uv_close((uv_handle_t *)&keeper->snapshot_timer, NULL);
  uv_close((uv_handle_t *)&keeper->sweep_timer, NULL);
}
