#include "server/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/count.h"
#include "server/crash.h"

typedef struct listener {
  uv_poll_t poll;
  laju_worker *worker;
  const laju_door *door;
  int fd; /* -1: closed */
} listener;

typedef enum wish { WISH_SERVE, WISH_DRAIN, WISH_CUT } wish;

struct laju_worker {
  laju_connections connections; /* first: the callbacks get it and mean the worker */
  laju_shared shared;
  laju_account account;
  laju_crew *crew;
  size_t number;
  uv_loop_t loop;
  uv_thread_t thread;
  uv_async_t wake;
  uv_timer_t pause; /* of accepting */
  uv_timer_t grace; /* of draining */
  listener listeners[LAJU_DOORS_MAX];
  size_t listener_count;
  bool draining, ended, attended;
  _Atomic(wish) wish;
  _Atomic bool thread_ended;
  _Atomic uint64_t epoch;
  uint64_t epoch_due;  /* the crew's, as it was last seen, */
  uint64_t parked_due; /* and the first batch to be parked after that */
};

/* ---- accepting ----------------------------------------------------------------------------------------------------- */

static void on_acceptable(uv_poll_t *poll, int status, int events);

static void start_accepting(laju_worker *worker) {
  for (size_t i = 0; i < worker->listener_count; i++) {
    listener *at = &worker->listeners[i];
    if (at->fd >= 0) uv_poll_start(&at->poll, UV_READABLE, on_acceptable);
  }
}

static void on_pause_over(uv_timer_t *timer) {
  start_accepting(timer->data);
}

static void pause_accepting(laju_worker *worker) {
  laju_count(&worker->connections.counters.accept_errors);
  for (size_t i = 0; i < worker->listener_count; i++) {
    if (worker->listeners[i].fd >= 0) uv_poll_stop(&worker->listeners[i].poll);
  }
  uv_timer_start(&worker->pause, on_pause_over, LAJU_ACCEPT_PAUSE_MS, 0);
}

static void admit(listener *at, int fd) {
  laju_worker *worker = at->worker;
  laju_crew *crew = worker->crew;
  uint64_t others = atomic_fetch_add_explicit(&crew->connections, 1, memory_order_relaxed);
  if (others >= crew->connections_max) {
    atomic_fetch_sub_explicit(&crew->connections, 1, memory_order_relaxed);
    laju_count(&worker->connections.counters.refused);
    laju_connections_refuse(&worker->connections, at->door, fd);
    return;
  }
  laju_count(&worker->connections.counters.accepted);
  laju_connections_open(&worker->connections, at->door, fd);
}

/* Errors that concern the one connection that would have been accepted, not the next. */
static bool is_passing(int err) {
  return err == ECONNABORTED || err == EINTR || err == EPROTO || err == EPERM || err == ENETDOWN ||
         err == ENOPROTOOPT || err == EHOSTDOWN || err == EHOSTUNREACH || err == ENETUNREACH || err == ENONET ||
         err == EOPNOTSUPP;
}

/* Accepts up to `count` connections. */
static void accept_some(listener *at, size_t count) {
  while (count-- > 0) {
    int fd = accept4(at->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      admit(at, fd);
    } else if (errno == EAGAIN) {
      return;
    } else if (!is_passing(errno)) {
      pause_accepting(at->worker); /* EMFILE, ENFILE, ENOBUFS, ENOMEM: asking again at once would spin */
      return;
    }
  }
}

static void on_acceptable(uv_poll_t *poll, int status, int events) {
  listener *at = poll->data;
  (void)events;
  if (status < 0) {
    pause_accepting(at->worker);
  } else {
    accept_some(at, at->door->shared ? 1 : LAJU_ACCEPTS_A_TURN); /* a shared socket's are spread one by one */
  }
}

/* ---- ending -------------------------------------------------------------------------------------------------------- */

static void on_listener_closed(uv_handle_t *handle) {
  listener *at = handle->data;
  close(at->fd);
  at->fd = -1;
}

/* Whoever the kernel has let in already is served too. */
static void stop_accepting(laju_worker *worker) {
  for (size_t i = 0; i < worker->listener_count; i++) accept_some(&worker->listeners[i], LAJU_BACKLOG);
  for (size_t i = 0; i < worker->listener_count; i++) {
    uv_close((uv_handle_t *)&worker->listeners[i].poll, on_listener_closed);
  }
  uv_close((uv_handle_t *)&worker->pause, NULL);
}

static void end_when_empty(laju_worker *worker) {
  if (worker->ended || !worker->connections.draining || worker->connections.count > 0) return;
  worker->ended = true;
  if (worker->attended) worker->crew->attendance->close(worker->crew->attendance->context);
  laju_connections_stop(&worker->connections);
  laju_shared_close(&worker->shared);
  uv_close((uv_handle_t *)&worker->grace, NULL);
}

static void on_connection_closed(laju_connections *connections) {
  laju_worker *worker = (laju_worker *)connections;
  atomic_fetch_sub_explicit(&worker->crew->connections, 1, memory_order_relaxed);
  end_when_empty(worker);
}

static void on_grace_over(uv_timer_t *timer) {
  laju_worker *worker = timer->data;
  laju_connections_drain(&worker->connections);
  end_when_empty(worker);
}

static void begin_drain(laju_worker *worker) {
  if (worker->draining) return;
  worker->draining = true;
  stop_accepting(worker);
  uv_timer_start(&worker->grace, on_grace_over, LAJU_DRAIN_GRACE_MS, 0);
}

static void cut(laju_worker *worker) {
  begin_drain(worker);
  uv_timer_stop(&worker->grace);
  worker->connections.draining = true;
  laju_connections_cut(&worker->connections);
  end_when_empty(worker);
}

/* Batches that were parked before use what was in force then; they last no longer than the store's timeout. */
static void note_epoch(laju_worker *worker) {
  const laju_lot *lot = &worker->connections.lot;
  uint64_t epoch = atomic_load_explicit(&worker->crew->epoch, memory_order_acquire);
  if (epoch == atomic_load_explicit(&worker->epoch, memory_order_relaxed)) return;
  if (epoch != worker->epoch_due) {
    worker->epoch_due = epoch;
    worker->parked_due = lot->taken;
  }
  if (laju_lot_oldest(lot) < worker->parked_due) return; /* the next turn looks again */
  atomic_store_explicit(&worker->epoch, epoch, memory_order_release);
  uv_async_send(worker->crew->news);
}

static void on_turn(void *context) {
  note_epoch(context);
}

static void on_wake(uv_async_t *async) {
  laju_worker *worker = async->data;
  note_epoch(worker);
  wish wanted = atomic_load_explicit(&worker->wish, memory_order_acquire);
  if (worker->ended) return;
  if (wanted == WISH_DRAIN) begin_drain(worker);
  if (wanted == WISH_CUT) cut(worker);
}

/* ---- the thread ---------------------------------------------------------------------------------------------------- */

static void run(void *argument) {
  laju_worker *worker = argument;
  laju_crash_stack stack = {0};
  char name[16];
  snprintf(name, sizeof name, worker->crew->is_desk ? "admin" : "worker-%zu", worker->number % 100000);
  pthread_setname_np(pthread_self(), name);
  laju_crash_stack_init(&stack);
  uv_run(&worker->loop, UV_RUN_DEFAULT);
  laju_crash_stack_deinit(&stack);
  atomic_store_explicit(&worker->thread_ended, true, memory_order_release);
  uv_async_send(worker->crew->news);
}

static int add_listener(laju_worker *worker, laju_door *door) {
  listener *at = &worker->listeners[worker->listener_count];
  *at = (listener){.worker = worker, .door = door, .fd = laju_door_take(door, worker->number)};
  int err = uv_poll_init(&worker->loop, &at->poll, at->fd);
  if (err < 0) {
    close(at->fd);
    return err;
  }
  at->poll.data = at;
  worker->listener_count++;
  return 0;
}

static int add_listeners(laju_worker *worker) {
  for (size_t i = 0; i < worker->crew->door_count; i++) {
    int err = add_listener(worker, &worker->crew->doors[i]);
    if (err < 0) return err;
  }
  start_accepting(worker);
  return 0;
}

static int attend(laju_worker *worker) {
  const laju_attendance *attendance = worker->crew->attendance;
  if (attendance == NULL) return 0;
  int err = attendance->open(attendance->context, &worker->loop, &worker->connections, &worker->shared);
  worker->attended = err == 0;
  return err;
}

static void end_loop(laju_worker *worker) {
  uv_close((uv_handle_t *)&worker->wake, NULL);
  uv_run(&worker->loop, UV_RUN_DEFAULT);
}

static int start(laju_worker *worker) {
  int err = uv_async_init(&worker->loop, &worker->wake, on_wake);
  if (err < 0) {
    laju_connections_stop(&worker->connections);
    laju_shared_close(&worker->shared);
    return err;
  }
  uv_unref((uv_handle_t *)&worker->wake); /* the loop ends without it, and it can be woken until the worker is freed */
  uv_timer_init(&worker->loop, &worker->pause);
  uv_timer_init(&worker->loop, &worker->grace);
  worker->wake.data = worker->pause.data = worker->grace.data = worker;
  err = add_listeners(worker);
  if (err == 0) err = attend(worker);
  if (err == 0) err = uv_thread_create(&worker->thread, run, worker);
  if (err < 0) {
    cut(worker);
    end_loop(worker);
  }
  return err;
}

/* With the loop and the way made. 0, or a libuv error. */
static int open_connections(laju_worker *worker) {
  int err = laju_connections_init(&worker->connections, &worker->loop, worker->crew->service, &worker->shared.way,
                                  on_connection_closed);
  if (err < 0) {
    laju_shared_close(&worker->shared);
    return err;
  }
  if (!worker->crew->is_desk) worker->connections.account = &worker->account;
  err = start(worker);
  if (err < 0) laju_connections_deinit(&worker->connections);
  return err;
}

static int fail(int err, char why[LAJU_TEXT_SIZE]) {
  snprintf(why, LAJU_TEXT_SIZE, "%s", uv_strerror(err));
  return -1;
}

static int init(laju_worker *worker, laju_crew *crew, size_t number, char why[LAJU_TEXT_SIZE]) {
  worker->crew = crew;
  worker->number = number;
  int err = uv_loop_init(&worker->loop);
  if (err < 0) return fail(err, why);
  laju_duties duties = {.registers = number == 0 && !crew->is_desk, .overrides = number == 0 && crew->minds_overrides};
  bool shares = laju_shared_open(&worker->shared, crew->sharing, &worker->loop, duties, on_turn, worker, why) == 0;
  err = shares ? open_connections(worker) : 0;
  if (shares && err == 0) return 0;
  uv_run(&worker->loop, UV_RUN_DEFAULT); /* lets closing handles go */
  if (shares) laju_shared_deinit(&worker->shared);
  uv_loop_close(&worker->loop);
  return shares ? fail(err, why) : -1;
}

int laju_worker_new(laju_worker **out, laju_crew *crew, size_t number, char why[LAJU_TEXT_SIZE]) {
  laju_worker *worker = calloc(1, sizeof *worker);
  if (worker == NULL) return fail(UV_ENOMEM, why);
  int err = laju_account_init(&worker->account, crew->top_key);
  if (err < 0) err = fail(UV_ENOMEM, why);
  if (err == 0) err = init(worker, crew, number, why);
  if (err < 0) {
    laju_account_deinit(&worker->account);
    free(worker);
    return err;
  }
  *out = worker;
  return 0;
}

static void ask(laju_worker *worker, wish wanted) {
  atomic_store_explicit(&worker->wish, wanted, memory_order_release);
  uv_async_send(&worker->wake);
}

void laju_worker_drain(laju_worker *worker) {
  ask(worker, WISH_DRAIN);
}

void laju_worker_cut(laju_worker *worker) {
  ask(worker, WISH_CUT);
}

void laju_worker_nudge(laju_worker *worker) {
  uv_async_send(&worker->wake);
}

uint64_t laju_worker_epoch(const laju_worker *worker) {
  if (laju_worker_has_ended(worker)) return UINT64_MAX;
  return atomic_load_explicit(&worker->epoch, memory_order_acquire);
}

bool laju_worker_has_ended(const laju_worker *worker) {
  return atomic_load_explicit(&worker->thread_ended, memory_order_acquire);
}

static void add(_Atomic uint64_t *sum, const _Atomic uint64_t *more) {
  laju_count_more(sum, laju_count_read(more));
}

void laju_worker_counters_add(const laju_worker *worker, laju_counters *sum) {
  const laju_counters *mine = &worker->connections.counters;
  add(&sum->accepted, &mine->accepted);
  add(&sum->refused, &mine->refused);
  add(&sum->accept_errors, &mine->accept_errors);
  add(&sum->idle, &mine->idle);
  add(&sum->slow, &mine->slow);
  add(&sum->stuck, &mine->stuck);
  add(&sum->oversized, &mine->oversized);
  add(&sum->starved, &mine->starved);
  add(&sum->broken, &mine->broken);
  add(&sum->unheld, &mine->unheld);
  add(&sum->cut, &mine->cut);
}

void laju_worker_read(laju_worker *worker, laju_readings *readings) {
  laju_worker_counters_add(worker, &readings->counters);
  laju_readings_add_account(readings, &worker->account);
  laju_readings_add_way(readings, &worker->shared.way.counters);
  laju_shared_read(&worker->shared, readings);
}

const laju_account *laju_worker_account(const laju_worker *worker) {
  return &worker->account;
}

void laju_worker_free(laju_worker *worker) {
  if (worker == NULL) return;
  uv_thread_join(&worker->thread);
  end_loop(worker);
  laju_connections_deinit(&worker->connections);
  laju_shared_deinit(&worker->shared);
  uv_loop_close(&worker->loop);
  laju_account_deinit(&worker->account);
  free(worker);
}
