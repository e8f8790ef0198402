#include "server/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"

void laju_reload_init(laju_reload *reload, uv_loop_t *loop, const laju_source *source, const laju_config *running,
                      laju_rule_names *names) {
  *reload = (laju_reload){.source = source, .running = running, .names = names};
  uv_timer_init(loop, &reload->look);
  uv_timer_init(loop, &reload->settle);
  reload->look.data = reload->settle.data = reload->asking.data = reload;
}

/* ---- reading again ------------------------------------------------------------------------------------------------- */

static bool refuse(laju_reload *reload, const char *cause, const char *why) {
  char refused[24];
  snprintf(refused, sizeof refused, "%" PRIu64, ++reload->refused);
  laju_log(LAJU_LOG_ERROR, "the new configuration is refused: the running one stays", "cause", cause, "why", why,
           "refused", refused, NULL);
  return false;
}

/* A pipe would be waited for, or be empty by now, which is not "no rules"; a device may never end. */
static bool can_read_again(const char *path, char why[LAJU_WHY_SIZE]) {
  struct stat file;
  bool found = path == NULL || stat(path, &file) == 0;
  if (found && (path == NULL || S_ISREG(file.st_mode))) return true;
  snprintf(why, LAJU_WHY_SIZE, "%.512s: cannot be read again: %s", path, found ? "it is not a file" : strerror(errno));
  return false;
}

static bool replace(laju_reload *reload, const char *cause, laju_config *fresh) {
  char why[LAJU_WHY_SIZE];
  laju_terms *terms;
  if (laju_config_restart_needed(reload->running, fresh, why) != 0) return refuse(reload, cause, why);
  laju_terms_number(fresh, reload->names);
  int error = laju_terms_new(&terms, fresh);
  if (error < 0) return refuse(reload, cause, laju_error_allowed(error));
  char rules[24], done[24];
  snprintf(rules, sizeof rules, "%zu", laju_ruleset_count(terms->rules));
  if (!reload->publish(reload, terms, fresh)) {
    laju_terms_free(terms);
    return refuse(reload, cause, "memory ran out");
  }
  snprintf(done, sizeof done, "%" PRIu64, ++reload->done);
  laju_log(LAJU_LOG_INFO, "configuration reloaded", "cause", cause, "rules", rules, "reloaded", done, NULL);
  return true;
}

/* What is about to be read needs no second reading for having changed; what changes from now on does. */
static void look_again_from_here(laju_reload *reload) {
  if (reload->source->path == NULL) return;
  reload->seen = laju_sighting_of(reload->source->path);
  reload->is_overtaken = reload->is_asking;
  uv_timer_stop(&reload->settle);
}

bool laju_reload_now(laju_reload *reload, const char *cause) {
  char why[LAJU_WHY_SIZE];
  laju_config fresh;
  if (reload->source == NULL) return refuse(reload, cause, "there is no file to read again");
  if (!can_read_again(reload->source->path, why)) return refuse(reload, cause, why);
  look_again_from_here(reload);
  laju_config_init(&fresh);
  bool done = reload->source->load(reload->source->context, &fresh, why) < 0 ? refuse(reload, cause, why)
                                                                             : replace(reload, cause, &fresh);
  laju_config_deinit(&fresh);
  return done;
}

/* ---- watching ------------------------------------------------------------------------------------------------------ */

static void on_settled(uv_timer_t *timer) {
  laju_reload_now(timer->data, "file");
}

static int64_t nanoseconds(int64_t seconds, int64_t rest) {
  return seconds * 1000000000 + rest;
}

laju_sighting laju_sighting_of(const char *path) {
  struct stat file;
  if (stat(path, &file) < 0) return (laju_sighting){0};
  return (laju_sighting){.device = file.st_dev,
                         .inode = file.st_ino,
                         .size = (uint64_t)file.st_size,
                         .modified_ns = nanoseconds(file.st_mtim.tv_sec, file.st_mtim.tv_nsec),
                         .changed_ns = nanoseconds(file.st_ctim.tv_sec, file.st_ctim.tv_nsec)};
}

static laju_sighting sighting_from(const uv_stat_t *file) {
  return (laju_sighting){.device = file->st_dev,
                         .inode = file->st_ino,
                         .size = file->st_size,
                         .modified_ns = nanoseconds(file->st_mtim.tv_sec, file->st_mtim.tv_nsec),
                         .changed_ns = nanoseconds(file->st_ctim.tv_sec, file->st_ctim.tv_nsec)};
}

static bool is_same(const laju_sighting *a, const laju_sighting *b) {
  return a->device == b->device && a->inode == b->inode && a->size == b->size && a->modified_ns == b->modified_ns &&
         a->changed_ns == b->changed_ns;
}

/* A file that is gone for a moment, or for good, changes nothing; when it is back it has changed. */
static void on_looked(uv_fs_t *asking) {
  laju_reload *reload = asking->data;
  laju_sighting now = asking->result == 0 ? sighting_from(&asking->statbuf) : (laju_sighting){0};
  bool gone = asking->result < 0;
  uv_fs_req_cleanup(asking);
  reload->is_asking = false;
  bool overtaken = reload->is_overtaken;
  reload->is_overtaken = false;
  if (overtaken || uv_is_closing((uv_handle_t *)&reload->settle)) return;
  if (!gone && !is_same(&now, &reload->seen)) {
    uv_timer_start(&reload->settle, on_settled, LAJU_RELOAD_SETTLE_MS, 0);
  }
  reload->seen = now;
}

/* Asked in a thread of libuv's: a file system that hangs must not hold up the loop. */
static void on_look(uv_timer_t *timer) {
  laju_reload *reload = timer->data;
  if (reload->is_asking) return;
  reload->is_asking = uv_fs_stat(timer->loop, &reload->asking, reload->source->path, on_looked) == 0;
}

void laju_reload_start(laju_reload *reload) {
  if (reload->source == NULL || reload->source->path == NULL) return;
  reload->seen = reload->source->seen;
  uv_timer_start(&reload->look, on_look, 0, LAJU_RELOAD_POLL_MS);
}

void laju_reload_stop(laju_reload *reload) {
  if (reload->is_asking) uv_cancel((uv_req_t *)&reload->asking); /* where it has begun, the loop waits for it */
  uv_close((uv_handle_t *)&reload->look, NULL);
  uv_close((uv_handle_t *)&reload->settle, NULL);
}
