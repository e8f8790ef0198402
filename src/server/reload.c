#include "server/reload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"

void laju_reload_init(laju_reload *reload, uv_loop_t *loop, const laju_source *source, const laju_config *running) {
  *reload = (laju_reload){.source = source, .running = running};
  uv_fs_poll_init(loop, &reload->poll);
  uv_timer_init(loop, &reload->settle);
  reload->poll.data = reload->settle.data = reload;
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

bool laju_reload_now(laju_reload *reload, const char *cause) {
  char why[LAJU_WHY_SIZE];
  laju_config fresh;
  if (reload->source == NULL) return refuse(reload, cause, "there is no file to read again");
  if (!can_read_again(reload->source->path, why)) return refuse(reload, cause, why);
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

/* A file that is gone for a moment, or for good, changes nothing; when it is back it has changed. */
static void on_changed(uv_fs_poll_t *poll, int status, const uv_stat_t *before, const uv_stat_t *now) {
  (void)before;
  (void)now;
  laju_reload *reload = poll->data;
  if (status == 0) uv_timer_start(&reload->settle, on_settled, LAJU_RELOAD_SETTLE_MS, 0);
}

void laju_reload_start(laju_reload *reload) {
  if (reload->source == NULL || reload->source->path == NULL) return;
  int err = uv_fs_poll_start(&reload->poll, on_changed, reload->source->path, LAJU_RELOAD_POLL_MS);
  if (err < 0) {
    laju_log(LAJU_LOG_WARN, "the configuration's file cannot be watched: reload by SIGHUP", "why", uv_strerror(err),
             NULL);
  }
}

void laju_reload_stop(laju_reload *reload) {
  uv_close((uv_handle_t *)&reload->poll, NULL);
  uv_close((uv_handle_t *)&reload->settle, NULL);
}
