#include "server/server.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/count.h"
#include "base/log.h"
#include "limiter/overlay.h"
#include "server/certs.h"
#include "server/cpus.h"
#include "server/crash.h"
#include "server/decisions.h"
#include "server/desk.h"
#include "server/keeper.h"
#include "server/reload.h"
#include "server/systemd.h"
#include "server/terms.h"
#include "server/worker.h"

#define CONNECTIONS_MAX (1 << 20)
#define CONNECTIONS_MIN 16
#define DESCRIPTORS_KEPT 64       /* for files, loops and what libraries open */
#define DESCRIPTORS_PER_WORKER 16 /* its loop and its listening sockets */
#define HTTP_IDLE_MS 75000
#define WATCH_MS 10000
#define MAPPED_FROM (128 * 1024) /* bytes of an allocation that gets pages of its own */

/* Terms that were replaced. They go when every worker has noted the epoch. */
typedef struct retired_terms {
  struct retired_terms *next;
  laju_terms *terms;
  uint64_t epoch;
} retired_terms;

typedef struct server {
  laju_config *config;
  const laju_source *source;
  laju_limiter *limiter;
  laju_terms *terms;
  laju_service service;
  laju_sharing sharing;
  laju_certs certs;
  laju_door doors[LAJU_DOORS_MAX];
  laju_crew crew;
  size_t workers_wanted;
  size_t worker_count; /* those that have been started */
  laju_worker **workers;
  laju_ledger **ledgers; /* theirs, */
  laju_top **tops;       /* and who they refused */
  laju_gathering gathering;
  laju_desk *desk; /* NULL: there is no admin door */
  laju_crash_stack crash_stack;
  laju_keeper keeper;
  uv_loop_t loop;
  uv_async_t news; /* of the workers: one has ended, or has turned */
  laju_reload reload;
  retired_terms *retired; /* terms that a worker may still use, the newest first */
  uv_poll_t signals;
  int signals_fd;
  uv_timer_t drain_timer, watch_timer;
  uint64_t draining_since_ms; /* by the loop's clock */
  laju_counters seen;         /* what was last told of */
} server;

static const char *number(char text[24], uint64_t value) {
  snprintf(text, 24, "%" PRIu64, value);
  return text;
}

/* ---- the limits that were met -------------------------------------------------------------------------------------- */

static void sum_counters(const server *self, laju_counters *sum) {
  *sum = (laju_counters){0};
  for (size_t i = 0; i < self->worker_count; i++) laju_worker_counters_add(self->workers[i], sum);
}

/* A limit that bites must be seen, but a flood must not flood the log: one line at most every WATCH_MS. */
static void watch(server *self) {
  laju_counters now;
  sum_counters(self, &now);
  const laju_counters *seen = &self->seen;
  bool met = laju_count_read(&now.refused) > laju_count_read(&seen->refused) ||
             laju_count_read(&now.accept_errors) > laju_count_read(&seen->accept_errors) ||
             laju_count_read(&now.slow) > laju_count_read(&seen->slow) ||
             laju_count_read(&now.stuck) > laju_count_read(&seen->stuck) ||
             laju_count_read(&now.oversized) > laju_count_read(&seen->oversized) ||
             laju_count_read(&now.starved) > laju_count_read(&seen->starved) ||
             laju_count_read(&now.unheld) > laju_count_read(&seen->unheld) ||
             laju_count_read(&now.cut) > laju_count_read(&seen->cut);
  if (!met) return;
  char refused[24], errors[24], slow[24], stuck[24], oversized[24], starved[24], unheld[24], cut[24];
  laju_log(LAJU_LOG_WARN, "connections met limits (totals since the start)", "refused",
           number(refused, laju_count_read(&now.refused)), "accept_errors",
           number(errors, laju_count_read(&now.accept_errors)), "slow", number(slow, laju_count_read(&now.slow)),
           "stuck", number(stuck, laju_count_read(&now.stuck)), "oversized",
           number(oversized, laju_count_read(&now.oversized)), "starved",
           number(starved, laju_count_read(&now.starved)), "unheld", number(unheld, laju_count_read(&now.unheld)),
           "cut", number(cut, laju_count_read(&now.cut)), NULL);
  self->seen = now;
}

static void on_watch(uv_timer_t *timer) {
  server *self = timer->data;
  watch(self);
  laju_sharing_tell(&self->sharing, uv_now(&self->loop));
}

/* ---- terms that are replaced ---------------------------------------------------------------------------------------- */

static uint64_t slowest_epoch(const server *self) {
  uint64_t slowest = UINT64_MAX;
  for (size_t i = 0; i < self->worker_count; i++) {
    uint64_t epoch = laju_worker_epoch(self->workers[i]);
    if (epoch < slowest) slowest = epoch;
  }
  uint64_t desk = laju_desk_epoch(self->desk);
  return desk < slowest ? desk : slowest;
}

static void free_retired(server *self) {
  uint64_t noted = slowest_epoch(self);
  retired_terms **at = &self->retired;
  while (*at != NULL && (*at)->epoch > noted) at = &(*at)->next;
  retired_terms *gone = *at;
  *at = NULL;
  while (gone != NULL) {
    retired_terms *next = gone->next;
    laju_terms_free(gone->terms);
    free(gone);
    gone = next;
  }
}

/* The time that has passed of an interval that stays is not lost, however often we reload. */
static void take_interval(server *self, int64_t interval_us) {
  if (self->config->snapshot_interval_us == interval_us) return;
  self->config->snapshot_interval_us = interval_us;
  laju_keeper_start(&self->keeper);
}

/* From here on workers take the new terms; what they have begun they end by the old ones. */
static bool publish(laju_reload *reload, laju_terms *fresh, const laju_config *settings) {
  server *self = reload->owner;
  retired_terms *old = malloc(sizeof *old);
  if (old == NULL) return false;
  uint64_t epoch = atomic_load_explicit(&self->crew.epoch, memory_order_relaxed) + 1;
  *old = (retired_terms){.next = self->retired, .terms = self->terms, .epoch = epoch};
  self->retired = old;
  self->terms = fresh;
  fresh->overlay = self->service.overlay;
  atomic_store_explicit(&self->service.terms, fresh, memory_order_release);
  atomic_store_explicit(&self->crew.epoch, epoch, memory_order_release);
  for (size_t i = 0; i < self->worker_count; i++) laju_worker_nudge(self->workers[i]);
  laju_desk_publish(self->desk, epoch);
  laju_log_set_format(settings->log.json ? LAJU_LOG_JSON : LAJU_LOG_LOGFMT);
  take_interval(self, settings->snapshot_interval_us);
  return true;
}

/* ---- ending -------------------------------------------------------------------------------------------------------- */

static void close_handles(server *self) {
  laju_keeper_stop(&self->keeper);
  laju_reload_stop(&self->reload);
  laju_certs_stop(&self->certs);
  uv_close((uv_handle_t *)&self->news, NULL);
  uv_close((uv_handle_t *)&self->signals, NULL);
  uv_close((uv_handle_t *)&self->drain_timer, NULL);
  uv_close((uv_handle_t *)&self->watch_timer, NULL);
}

static void on_news(uv_async_t *async) {
  server *self = async->data;
  if (uv_is_closing((uv_handle_t *)async)) return;
  free_retired(self);
  laju_sharing_tell(&self->sharing, uv_now(&self->loop));
  for (size_t i = 0; i < self->worker_count; i++) {
    if (!laju_worker_has_ended(self->workers[i])) return;
  }
  if (!laju_desk_has_ended(self->desk)) {
    laju_desk_drain(self->desk); /* it was to see the others end */
  } else {
    close_handles(self);
  }
}

static void cut(server *self) {
  for (size_t i = 0; i < self->worker_count; i++) laju_worker_cut(self->workers[i]);
  laju_desk_cut(self->desk);
}

static void on_drain_over(uv_timer_t *timer) {
  cut(timer->data);
}

static void drain(server *self) {
  laju_systemd_tell_stopping();
  atomic_store_explicit(&self->service.stage, LAJU_DRAINING, memory_order_relaxed);
  for (size_t i = 0; i < self->worker_count; i++) laju_worker_drain(self->workers[i]);
  uv_timer_start(&self->drain_timer, on_drain_over, LAJU_DRAIN_MS, 0);
}

static void end(server *self, const char *name) {
  if (atomic_load_explicit(&self->service.stage, memory_order_relaxed) != LAJU_DRAINING) {
    laju_log(LAJU_LOG_INFO, "draining", "signal", name, NULL);
    self->draining_since_ms = uv_now(&self->loop);
    drain(self);
  } else if (uv_now(&self->loop) - self->draining_since_ms >= LAJU_SIGNAL_ECHO_MS) {
    laju_log(LAJU_LOG_INFO, "not waiting for connections any longer", "signal", name, NULL);
    cut(self);
  }
}

/* The kernel gives SIGHUP before the others, and more may come while we reload: one reload for all, and after the rest. */
static void on_signals(uv_poll_t *poll, int status, int events) {
  server *self = poll->data;
  struct signalfd_siginfo signal;
  bool hung_up = false;
  (void)status;
  (void)events;
  while (read(self->signals_fd, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGHUP) {
      hung_up = true;
    } else {
      end(self, signal.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
    }
  }
  if (!hung_up) return;
  laju_systemd_tell_reloading();
  laju_reload_now(&self->reload, "SIGHUP");
  laju_certs_reload(&self->certs);
  laju_systemd_tell_ready();
}

/* ---- starting ------------------------------------------------------------------------------------------------------ */

static int fail(const char *message, const char *why) {
  laju_log(LAJU_LOG_ERROR, message, "why", why, NULL);
  return -1;
}

/* Nothing is wrong with the configuration where a port is taken: so say which setting names another. */
static int fail_door(const char *name, const char *why) {
  char setting[64];
  snprintf(setting, sizeof setting, "listen.%s or --%s names another address", name, name);
  laju_log(LAJU_LOG_ERROR, "cannot open a door", "door", name, "why", why, "hint", setting, NULL);
  return -1;
}

/* As many descriptors as the system lets us have, less what is needed for other things. */
static uint64_t connections_max(size_t workers, bool has_desk) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) < 0) return CONNECTIONS_MIN;
  if (files.rlim_cur < files.rlim_max) {
    struct rlimit raised = {.rlim_cur = files.rlim_max, .rlim_max = files.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) files = raised;
  }
  uint64_t kept = DESCRIPTORS_KEPT + workers * DESCRIPTORS_PER_WORKER;
  if (has_desk) kept += DESCRIPTORS_PER_WORKER + LAJU_DESK_CONNECTIONS_MAX;
  if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur > CONNECTIONS_MAX + kept) return CONNECTIONS_MAX;
  return files.rlim_cur > kept + CONNECTIONS_MIN ? files.rlim_cur - kept : CONNECTIONS_MIN;
}

/* A socket that the service manager hands over stands in the place of the configuration's address. */
static int open_door(server *self, const laju_codec *codec, const char *address, uint64_t idle_ms, laju_tls *tls) {
  char why[LAJU_TEXT_SIZE] = "";
  laju_door *door = &self->doors[self->crew.door_count];
  int fd = laju_systemd_socket(codec->name), err;
  if (fd == LAJU_SYSTEMD_SEVERAL) return fail("more than one socket was handed over under one name", codec->name);
  if (fd >= 0) {
    err = laju_door_adopt(door, codec, fd, self->workers_wanted, why);
  } else if (address[0] != '\0') {
    err = laju_door_open(door, codec, address, self->workers_wanted, why);
  } else {
    return 0;
  }
  if (err < 0) return fail_door(codec->name, why);
  door->idle_ms = idle_ms;
  if (!door->is_unix) door->tls = tls;
  self->crew.door_count++;
  return 0;
}

static int read_certs(server *self) {
  char why[LAJU_TEXT_SIZE];
  return laju_certs_init(&self->certs, &self->config->tls, why) < 0 ? fail("cannot speak TLS", why) : 0;
}

static int open_doors(server *self) {
  const laju_config *config = self->config;
  laju_tls *http = config->tls.http ? self->certs.http : NULL, *resp = config->tls.resp ? self->certs.resp : NULL;
  if (open_door(self, &laju_http_codec, config->listen_http, HTTP_IDLE_MS, http) < 0) return -1;
  if (open_door(self, &laju_resp_codec, config->listen_resp, 0, resp) < 0) return -1;
  if (self->crew.door_count == 0) return fail("there is no door to open", "neither listen.http nor listen.resp is set");
  return 0;
}

static int open_desk(server *self) {
  char why[LAJU_TEXT_SIZE] = "";
  laju_desk_options options = {.config = self->config,
                               .service = &self->service,
                               .sharing = &self->sharing,
                               .news = &self->news,
                               .hash_key = self->crew.top_key,
                               .tls = self->config->tls.admin ? self->certs.http : NULL};
  return laju_desk_open(&self->desk, &options, why) == 0 ? 0 : fail_door("admin", why);
}

static int make_limiter(server *self) {
  const laju_config *config = self->config;
  laju_limiter_options options = {.memory_bytes = config->memory_bytes,
                                  .memory_logs_bytes = config->memory_logs_bytes,
                                  .huge_pages = config->huge_pages};
  bool remembers = config->store.url.kind != LAJU_STORE_NONE && config->store.deny_cache;
  int err = remembers ? laju_limiter_new_shared(&self->limiter, &options) : laju_limiter_new(&self->limiter, &options);
  if (err < 0) return fail("cannot make the table", laju_error_allowed(err));
  self->service.names = laju_rule_names_new();
  if (self->service.names == NULL) return fail("cannot count by rule", laju_error_allowed(LAJU_ERR_MEMORY));
  laju_terms_number(self->config, self->service.names);
  err = laju_terms_new(&self->terms, self->config);
  if (err < 0) return fail("cannot take the rules", laju_error_allowed(err));
  err = laju_decisions_new(&self->service.decisions, self->crew.top_key);
  if (err < 0) return fail("cannot log decisions", laju_error_allowed(err));
  err = laju_overlay_new(&self->service.overlay);
  if (err < 0) return fail("cannot keep overrides", laju_error_allowed(err));
  self->service.limiter = self->limiter;
  self->terms->overlay = self->service.overlay;
  atomic_store_explicit(&self->service.terms, self->terms, memory_order_release);
  return 0;
}

/* Signals are read, not handled: blocked here, before any other thread starts and inherits that, they interrupt nobody, and a
 * SIGHUP that comes while we start does not end us. */
static int open_signals(void) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGHUP);
  if (pthread_sigmask(SIG_BLOCK, &wanted, NULL) != 0) return -1;
  return signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* The handles of the main thread's loop. None of them can fail but for lack of memory or descriptors. */
static int init_handles(server *self) {
  int err = uv_async_init(&self->loop, &self->news, on_news);
  if (err < 0) return err;
  err = uv_poll_init(&self->loop, &self->signals, self->signals_fd);
  if (err < 0) {
    uv_close((uv_handle_t *)&self->news, NULL);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    return err;
  }
  uv_timer_init(&self->loop, &self->drain_timer);
  uv_timer_init(&self->loop, &self->watch_timer);
  self->signals.data = self->news.data = self->drain_timer.data = self->watch_timer.data = self;
  laju_keeper_init(&self->keeper, &self->loop, &self->service, self->config);
  laju_reload_init(&self->reload, &self->loop, self->source, self->config, self->service.names);
  laju_certs_start(&self->certs, &self->loop);
  self->reload.publish = publish;
  self->reload.owner = self;
  uv_poll_start(&self->signals, UV_READABLE, on_signals);
  return 0;
}

static int init_loop(server *self) {
  int err = uv_loop_init(&self->loop);
  if (err < 0) return err;
  err = init_handles(self);
  if (err < 0) uv_loop_close(&self->loop);
  return err;
}

static int start_desk(server *self) {
  char why[LAJU_TEXT_SIZE];
  if (self->desk == NULL) return 0;
  self->gathering = (laju_gathering){.service = &self->service,
                                     .sharing = &self->sharing,
                                     .crew = &self->crew,
                                     .reload = &self->reload,
                                     .workers = self->workers,
                                     .ledgers = self->ledgers,
                                     .worker_count = self->worker_count,
                                     .started_us = laju_limiter_now_us(self->limiter)};
  return laju_desk_start(self->desk, &self->gathering, self->tops, why) == 0 ? 0 : fail("cannot start a worker", why);
}

static int start_workers(server *self) {
  self->workers = calloc(self->workers_wanted, sizeof *self->workers);
  self->ledgers = calloc(self->workers_wanted, sizeof(laju_ledger *));
  self->tops = calloc(self->workers_wanted, sizeof(laju_top *));
  bool has_room = self->workers != NULL && self->ledgers != NULL && self->tops != NULL;
  if (!has_room) return fail("cannot start the workers", "out of memory");
  while (self->worker_count < self->workers_wanted) {
    char why[LAJU_TEXT_SIZE];
    size_t i = self->worker_count;
    if (laju_worker_new(&self->workers[i], &self->crew, i, why) < 0) return fail("cannot start a worker", why);
    self->ledgers[i] = laju_worker_account(self->workers[i])->ledger;
    self->tops[i] = laju_worker_account(self->workers[i])->top;
    self->worker_count++;
  }
  return start_desk(self);
}

static const char *scheme_of(const laju_door *door) {
  bool secure = door->tls != NULL;
  if (door->is_unix) return "";
  if (door->codec == &laju_resp_codec) return secure ? "rediss://" : "redis://";
  return secure ? "https://" : "http://";
}

static void tell_door(const server *self, const laju_door *door) {
  bool is_http = door->codec != &laju_resp_codec;
  char at[LAJU_ENDPOINT_TEXT_SIZE], url[LAJU_ENDPOINT_TEXT_SIZE + 16];
  laju_endpoint_format(&door->bound, at);
  snprintf(url, sizeof url, "%s%s", scheme_of(door), at);
  laju_log(LAJU_LOG_INFO, "listening", door->codec->name, url, NULL);
  if (!is_http && self->terms->resp_password == NULL && !door->local) {
    laju_log(LAJU_LOG_WARN, "this door is open to others and asks for no password: set resp_password", "resp", url,
             NULL);
  }
}

static void tell_start(const server *self) {
  char workers[24], rules[24], connections[24];
  for (size_t i = 0; i < self->crew.door_count; i++) tell_door(self, &self->doors[i]);
  if (self->desk != NULL) tell_door(self, laju_desk_door(self->desk));
  laju_log(LAJU_LOG_INFO, "serving", "version", LAJU_VERSION, "workers", number(workers, self->worker_count), "rules",
           number(rules, laju_ruleset_count(self->terms->rules)), "connections_max",
           number(connections, self->crew.connections_max), NULL);
}

static void tell_end(const server *self) {
  laju_counters sum;
  char accepted[24], idle[24], cut_off[24];
  sum_counters(self, &sum);
  laju_log(LAJU_LOG_INFO, "stopped", "accepted", number(accepted, laju_count_read(&sum.accepted)), "idle",
           number(idle, laju_count_read(&sum.idle)), "cut", number(cut_off, laju_count_read(&sum.cut)), NULL);
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

/* With the loop made: serves until all workers have ended. */
static int serve(server *self) {
  laju_reload_start(&self->reload); /* first: a large snapshot takes a while, and the file may change meanwhile */
  /* Doors are open by now: while a large snapshot loads, those who connect wait instead of being refused. */
  if (laju_keeper_load(&self->keeper) < 0 || start_workers(self) < 0) {
    cut(self);
    if (self->worker_count == 0) close_handles(self);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    return -1;
  }
  atomic_store_explicit(&self->service.stage, LAJU_SERVING, memory_order_relaxed);
  laju_keeper_start(&self->keeper);
  uv_timer_start(&self->watch_timer, on_watch, WATCH_MS, WATCH_MS);
  tell_start(self);
  laju_systemd_tell_ready();
  uv_run(&self->loop, UV_RUN_DEFAULT);
  watch(self);
  int err = laju_keeper_save(&self->keeper);
  tell_end(self);
  return err;
}

static int run(server *self) {
  self->workers_wanted = self->config->workers > 0 ? self->config->workers : laju_cpus_allowed();
  if (self->workers_wanted > LAJU_WORKERS_MAX) self->workers_wanted = LAJU_WORKERS_MAX;
  self->crew =
      (laju_crew){.service = &self->service, .sharing = &self->sharing, .doors = self->doors, .news = &self->news};
  if (getrandom(self->crew.top_key, sizeof self->crew.top_key, 0) != (ssize_t)sizeof self->crew.top_key) {
    return fail("cannot get random numbers", strerror(errno));
  }
  self->signals_fd = open_signals();
  if (self->signals_fd < 0) return fail("cannot read signals", strerror(errno));
  if (make_limiter(self) < 0 || read_certs(self) < 0 || open_doors(self) < 0 || open_desk(self) < 0) return -1;
  self->crew.minds_overrides = self->desk == NULL;
  self->crew.connections_max = connections_max(self->workers_wanted, self->desk != NULL);
  size_t stores = self->workers_wanted + (self->desk != NULL);
  int err = laju_sharing_init(&self->sharing, &self->config->store, &self->service, &self->news, stores);
  if (err < 0) return fail("cannot share a store", uv_strerror(err));
  err = init_loop(self);
  if (err < 0) return fail("cannot start the loop", uv_strerror(err));
  err = serve(self);
  laju_desk_stop(self->desk);
  for (size_t i = 0; i < self->worker_count; i++) laju_worker_free(self->workers[i]);
  self->worker_count = 0; /* nobody holds old terms any more */
  uv_loop_close(&self->loop);
  return err;
}

/* What many large requests took is given back when they are over. Left alone, glibc learns from the first of them to keep the
 * memory of the others. */
static void give_memory_back(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
#endif
}

int laju_server_run(laju_config *config, const laju_source *source) {
  server *self = calloc(1, sizeof *self);
  if (self == NULL) {
    fail("cannot start", "out of memory");
    return 1;
  }
  self->config = config;
  self->source = source;
  self->signals_fd = -1;
  laju_log_set_format(config->log.json ? LAJU_LOG_JSON : LAJU_LOG_LOGFMT);
  signal(SIGPIPE, SIG_IGN);
  give_memory_back();
  if (laju_crash_init() < 0 || laju_crash_stack_init(&self->crash_stack) < 0) {
    laju_log(LAJU_LOG_WARN, "a crash will not leave its stack", NULL);
  }
  int err = run(self);
  for (size_t i = 0; i < self->crew.door_count; i++) laju_door_close(&self->doors[i]);
  free_retired(self);
  laju_desk_free(self->desk);
  laju_terms_free(self->terms);
  if (self->sharing.config != NULL) laju_sharing_deinit(&self->sharing);
  laju_certs_deinit(&self->certs);
  laju_limiter_free(self->limiter);
  laju_decisions_free(self->service.decisions);
  laju_overlay_free(self->service.overlay);
  laju_rule_names_free(self->service.names);
  free(self->ledgers);
  free(self->tops);
  free(self->workers);
  if (self->signals_fd >= 0) close(self->signals_fd);
  laju_crash_stack_deinit(&self->crash_stack);
  free(self);
  return err < 0 ? 1 : 0;
}
