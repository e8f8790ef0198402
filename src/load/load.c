#include "load/load.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>

#include "base/count.h"
#include "load/loader.h"

#define TICK_MS 1000

typedef struct load_run {
  laju_load_shared shared;
  const laju_load_plan *plan;
  laju_loader *loaders;
  unsigned count; /* of threads that run */
  struct sockaddr_storage address;
  uv_loop_t loop; /* the main thread's */
  uv_async_t told;
  uv_timer_t tick;
  uv_signal_t signals[2];
  laju_load_watcher watch;
  void *context;
  laju_load_result *sum;
  uint64_t begun_ns;
} load_run;

static int explain(char why[LAJU_TEXT_SIZE], const char *what, const char *detail) {
  snprintf(why, LAJU_TEXT_SIZE, "%.200s%.200s", what, detail);
  return -1;
}

/* ---- adding up ----------------------------------------------------------------------------------------------------- */

static void add_up(load_run *run) {
  laju_load_result *sum = run->sum;
  *sum = (laju_load_result){.elapsed_us = (int64_t)(uv_hrtime() - run->begun_ns) / 1000};
  for (unsigned i = 0; i < run->count; i++) {
    const laju_loader *loader = &run->loaders[i];
    sum->allowed += laju_count_read(&loader->clients.tally.allowed);
    sum->denied += laju_count_read(&loader->clients.tally.denied);
    sum->errors += laju_count_read(&loader->clients.tally.errors);
    sum->in_time += laju_count_read(&loader->in_time);
    sum->lost += laju_count_read(&loader->clients.lost);
    sum->broken += laju_count_read(&loader->clients.broken);
    laju_histogram_merge(&sum->latency, &loader->clients.latency);
  }
}

/* And what only the end tells. All threads have ended. */
static void add_up_end(load_run *run) {
  laju_load_result *sum = run->sum;
  add_up(run);
  sum->elapsed_us = 0;
  for (unsigned i = 0; i < run->count; i++) {
    const laju_loader *loader = &run->loaders[i];
    int64_t elapsed_us = (int64_t)(loader->stopped_ns - run->begun_ns) / 1000;
    if (elapsed_us > sum->elapsed_us) sum->elapsed_us = elapsed_us;
    sum->unsent += loader->unsent;
    sum->unanswered += loader->unanswered;
    if (sum->error[0] == '\0') memcpy(sum->error, loader->clients.tally.error, sizeof sum->error);
  }
}

/* ---- the main thread's loop ---------------------------------------------------------------------------------------- */

static void order_all(load_run *run, laju_load_order order) {
  atomic_store(&run->shared.order, order);
  for (unsigned i = 0; i < run->count; i++) laju_loader_wake(&run->loaders[i]);
}

static void on_tick(uv_timer_t *tick) {
  load_run *run = tick->data;
  add_up(run);
  run->watch(run->context, run->sum);
}

static void begin(load_run *run) {
  run->begun_ns = run->shared.start_ns = uv_hrtime();
  order_all(run, LAJU_LOAD_GO);
  if (run->watch != NULL) uv_timer_start(&run->tick, on_tick, TICK_MS, TICK_MS);
}

/* The first lets what is under way end, the second does not. */
static void on_signal(uv_signal_t *handle, int number) {
  load_run *run = handle->data;
  (void)number;
  order_all(run, atomic_load(&run->shared.order) == LAJU_LOAD_GO ? LAJU_LOAD_FINISH : LAJU_LOAD_ABORT);
}

static void on_told(uv_async_t *told) {
  load_run *run = told->data;
  unsigned gathered = 0, failed = 0, over = 0;
  for (unsigned i = 0; i < run->count; i++) {
    gathered += atomic_load(&run->loaders[i].gathered);
    failed += atomic_load(&run->loaders[i].failed);
    over += atomic_load(&run->loaders[i].over);
  }
  laju_load_order order = atomic_load(&run->shared.order);
  if (failed > 0 && order != LAJU_LOAD_ABORT) {
    order_all(run, LAJU_LOAD_ABORT);
  } else if (gathered == run->plan->threads && order == LAJU_LOAD_WAIT) {
    begin(run);
  }
  if (over < run->count || uv_is_closing((uv_handle_t *)told)) return;
  uv_close((uv_handle_t *)told, NULL);
  uv_close((uv_handle_t *)&run->tick, NULL);
  for (int i = 0; i < 2; i++) uv_close((uv_handle_t *)&run->signals[i], NULL);
}

static int open_loop(load_run *run) {
  static const int numbers[] = {SIGINT, SIGTERM};
  int error = uv_loop_init(&run->loop);
  if (error < 0) return error;
  error = uv_async_init(&run->loop, &run->told, on_told);
  if (error < 0) {
    uv_loop_close(&run->loop);
    return error;
  }
  uv_timer_init(&run->loop, &run->tick);
  run->tick.data = run->told.data = run;
  run->shared.told = &run->told;
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&run->loop, &run->signals[i]);
    run->signals[i].data = run;
    uv_signal_start(&run->signals[i], on_signal, numbers[i]);
  }
  return 0;
}

/* ---- before it begins ---------------------------------------------------------------------------------------------- */

static int resolve(load_run *run, char why[LAJU_TEXT_SIZE]) {
  const laju_address *address = &run->plan->door.address;
  run->shared.address = (const struct sockaddr *)&run->address;
  if (address->kind == LAJU_ADDRESS_UNIX) {
    struct sockaddr_un *un = (struct sockaddr_un *)&run->address;
    un->sun_family = AF_UNIX;
    snprintf(un->sun_path, sizeof un->sun_path, "%.*s", (int)sizeof un->sun_path - 1, address->host);
    run->shared.address_len = sizeof *un;
    return 0;
  }
  struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
  char port[8];
  snprintf(port, sizeof port, "%u", address->port);
  int error = getaddrinfo(address->host, port, &hints, &found);
  if (error != 0) {
    char what[LAJU_ADDRESS_HOST_MAX + 32];
    snprintf(what, sizeof what, "%s has no address: ", address->host);
    return explain(why, what, gai_strerror(error));
  }
  memcpy(&run->address, found->ai_addr, found->ai_addrlen);
  run->shared.address_len = found->ai_addrlen;
  freeaddrinfo(found);
  return 0;
}

static void raise_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static int make_greeting(load_run *run, char why[LAJU_TEXT_SIZE]) {
  const char *password = run->plan->password;
  if (password == NULL || run->plan->door.protocol == LAJU_LOAD_HTTP) return 0;
  laju_buffer_add_format(&run->shared.greeting, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(password), password);
  return run->shared.greeting.failed ? explain(why, "memory ran out", "") : 0;
}

static int make_tls(load_run *run, char why[LAJU_TEXT_SIZE]) {
  char problem[LAJU_TEXT_SIZE];
  if (!run->plan->door.tls) return 0;
  int error = laju_tls_client_new(&run->shared.tls, &run->plan->tls, problem);
  if (error < 0) return explain(why, "", error == LAJU_ERR_MEMORY ? "memory ran out" : problem);
  return 0;
}

/* As many as can be started; the first that cannot is told by its error. */
static int start_threads(load_run *run) {
  const laju_load_plan *plan = run->plan;
  for (unsigned i = 0; i < plan->threads; i++) {
    unsigned share = plan->connections / plan->threads + (i < plan->connections % plan->threads);
    int error = laju_loader_start(&run->loaders[i], &run->shared, i, share);
    if (error < 0) return error;
    run->count++;
  }
  return 0;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------- */

/* The threads run, and have ended when this returns. */
static int run_threads(load_run *run, char why[LAJU_TEXT_SIZE]) {
  int error = start_threads(run), result = 0;
  if (error < 0) {
    result = explain(why, "a thread cannot be started: ", uv_strerror(error));
    order_all(run, LAJU_LOAD_ABORT);
    uv_async_send(&run->told); /* also where none runs */
  }
  uv_run(&run->loop, UV_RUN_DEFAULT);
  for (unsigned i = 0; i < run->count; i++) {
    laju_loader *loader = &run->loaders[i];
    laju_loader_join(loader);
    if (result == 0 && atomic_load(&loader->failed)) result = explain(why, loader->why, "");
  }
  if (result == 0 && run->begun_ns == 0) result = explain(why, "ended before it began", "");
  if (result == 0) add_up_end(run);
  return result;
}

int laju_load_run(const laju_load_plan *plan, laju_load_watcher watch, void *context, laju_load_result *out,
                  char why[LAJU_TEXT_SIZE]) {
  load_run run = {.plan = plan, .watch = watch, .context = context, .sum = out};
  run.shared.plan = plan;
  if (resolve(&run, why) < 0 || make_greeting(&run, why) < 0 || make_tls(&run, why) < 0) {
    laju_buffer_deinit(&run.shared.greeting);
    return -1;
  }
  run.loaders = calloc(plan->threads, sizeof *run.loaders);
  int error = run.loaders != NULL ? open_loop(&run) : UV_ENOMEM;
  int result = error < 0 ? explain(why, "no load can be made: ", uv_strerror(error)) : 0;
  if (error == 0) {
    raise_open_files();
    result = run_threads(&run, why);
    uv_loop_close(&run.loop);
  }
  free(run.loaders);
  laju_tls_client_free(run.shared.tls);
  laju_buffer_deinit(&run.shared.greeting);
  return result;
}
