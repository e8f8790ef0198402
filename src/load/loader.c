#include "load/loader.h"

#include <sched.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/count.h"

#define SPIN_NS UINT64_C(200000) /* a sleeping thread may wake that late; so it is woken earlier, and waits awake */

static void on_spin(uv_idle_t *spin);

static bool is_open_loop(const laju_loader *loader) {
  return loader->shared->plan->rate > 0;
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

static void close_handle(uv_handle_t *handle) {
  if (uv_handle_get_type(handle) != UV_UNKNOWN_HANDLE && !uv_is_closing(handle)) uv_close(handle, NULL);
}

static void be_over(laju_loader *loader) {
  if (is_open_loop(loader) && loader->phase != LAJU_LOAD_GATHERING) {
    loader->unsent = laju_load_schedule_due(&loader->schedule, uv_hrtime()) - loader->begun;
  }
  loader->phase = LAJU_LOAD_OVER;
  loader->unanswered = loader->outstanding;
  close_handle((uv_handle_t *)&loader->wake);
  close_handle((uv_handle_t *)&loader->ends);
  close_handle((uv_handle_t *)&loader->retry);
  close_handle((uv_handle_t *)&loader->spin);
  close_handle((uv_handle_t *)&loader->alarm);
  for (unsigned i = 0; i < loader->count; i++) laju_load_client_close(&loader->all[i]);
}

static void be_over_if_drained(laju_loader *loader) {
  if (loader->phase == LAJU_LOAD_DRAINING && loader->outstanding == 0 && !loader->behind) be_over(loader);
}

static void fail(laju_loader *loader, const char *what) {
  char door[LAJU_LOAD_DOOR_SIZE];
  if (loader->failed) return;
  laju_load_door_show(&loader->shared->plan->door, door);
  snprintf(loader->why, sizeof loader->why, "%.200s %.200s", door, what);
  atomic_store(&loader->failed, true);
  if (loader->phase != LAJU_LOAD_OVER) be_over(loader);
  uv_async_send(loader->shared->told);
}

static void fail_connecting(laju_loader *loader, int error) {
  char what[160];
  const char *advice = "";
  if (error == EMFILE || error == ENFILE) advice = "; fewer --connections, or a higher limit of open files (ulimit -n)";
  if (error == ECONNREFUSED || error == ENOENT) advice = "; does anything listen there?";
  snprintf(what, sizeof what, "cannot be reached: %.60s%s", error != 0 ? strerror(error) : "it ends the connection",
           advice);
  fail(loader, what);
}

static void on_drained_enough(uv_timer_t *timer) {
  be_over(timer->data);
}

static void finish(laju_loader *loader) {
  loader->phase = LAJU_LOAD_DRAINING;
  loader->stopped_ns = uv_hrtime();
  uv_idle_stop(&loader->spin);
  if (is_open_loop(loader)) uv_poll_stop(&loader->alarm);
  uv_timer_start(&loader->ends, on_drained_enough, LAJU_LOAD_DRAIN_MS, 0);
  be_over_if_drained(loader);
}

/* ---- sending ------------------------------------------------------------------------------------------------------- */

static void account(laju_loader *loader, unsigned count) {
  loader->room -= count;
  loader->outstanding += count;
}

static void send_pipeline(laju_loader *loader, laju_load_client *client) {
  unsigned pipeline = loader->clients.pipeline;
  laju_load_client_expect(client, uv_hrtime(), pipeline);
  account(loader, pipeline);
  laju_load_client_send(client, pipeline);
}

/* The next in turn that can take a request; there is one. */
static laju_load_client *next_client(laju_loader *loader) {
  for (;;) {
    laju_load_client *client = &loader->all[loader->next];
    loader->next = loader->next + 1 < loader->count ? loader->next + 1 : 0;
    if (client->state == LAJU_LOAD_READY && client->outstanding < loader->clients.pipeline) return client;
  }
}

/* Gives some of the `waiting` requests that are due to one client: its part of them, in one write. */
static void send_due(laju_loader *loader, uint64_t waiting) {
  laju_load_client *client = next_client(loader);
  uint64_t part = waiting / loader->ready;
  unsigned room = loader->clients.pipeline - client->outstanding;
  unsigned count = part < 1 ? 1 : part < room ? (unsigned)part : room;
  for (unsigned i = 0; i < count; i++) {
    laju_load_client_expect(client, laju_load_schedule_time_ns(&loader->schedule, loader->begun++), 1);
  }
  account(loader, count);
  laju_load_client_send(client, count);
}

static void await_next(laju_loader *loader, uint64_t now_ns) {
  uint64_t next_ns = laju_load_schedule_time_ns(&loader->schedule, loader->begun);
  bool soon = next_ns <= now_ns + SPIN_NS;
  if (loader->behind || !soon) uv_idle_stop(&loader->spin);
  if (loader->behind) return; /* a reply, or a new connection, goes on */
  if (soon) {
    uv_idle_start(&loader->spin, on_spin);
    return;
  }
  uint64_t at_ns = next_ns - SPIN_NS / 2;
  struct itimerspec when = {.it_value = {(time_t)(at_ns / 1000000000), (long)(at_ns % 1000000000)}};
  timerfd_settime(loader->alarm_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void send_all_due(laju_loader *loader) {
  uint64_t now_ns = uv_hrtime(), due = laju_load_schedule_due(&loader->schedule, now_ns);
  while (loader->begun < due && loader->room > 0 && loader->phase != LAJU_LOAD_OVER) {
    send_due(loader, due - loader->begun);
  }
  loader->behind = loader->begun < due;
  if (loader->phase == LAJU_LOAD_RUNNING) await_next(loader, now_ns);
}

/* It waits awake, but a server on the same CPU goes first: its delay would be taken for an answer's. */
static void on_spin(uv_idle_t *spin) {
  sched_yield();
  send_all_due(spin->data);
}

static void on_alarm(uv_poll_t *alarm, int status, int events) {
  laju_loader *loader = alarm->data;
  uint64_t times;
  (void)status;
  (void)events;
  if (read(loader->alarm_fd, &times, sizeof times) > 0) send_all_due(loader);
}

/* ---- what clients tell --------------------------------------------------------------------------------------------- */

static void on_ready(laju_load_client *client) {
  laju_loader *loader = client->owner;
  loader->ready++;
  loader->room += loader->clients.pipeline;
  if (loader->phase == LAJU_LOAD_GATHERING) {
    if (loader->ready < loader->count) return;
    uv_timer_stop(&loader->ends);
    atomic_store(&loader->gathered, true);
    uv_async_send(loader->shared->told);
  } else if (loader->behind) {
    send_all_due(loader);
  } else if (loader->phase == LAJU_LOAD_RUNNING && !is_open_loop(loader)) {
    send_pipeline(loader, client);
  }
}

static void on_replies(laju_load_client *client, unsigned count) {
  laju_loader *loader = client->owner;
  loader->room += count;
  loader->outstanding -= count;
  bool running = loader->phase == LAJU_LOAD_RUNNING;
  if (running) laju_count_more(&loader->in_time, count);
  if (client->reader.last) laju_load_client_leave(client);
  if (loader->behind) {
    send_all_due(loader);
  } else if (running && !is_open_loop(loader) && client->state == LAJU_LOAD_READY && client->outstanding == 0) {
    send_pipeline(loader, client);
  }
  be_over_if_drained(loader);
}

static bool has_answered(laju_loader *loader) {
  const laju_load_tally *tally = &loader->clients.tally;
  return atomic_load(&tally->allowed) + atomic_load(&tally->denied) + atomic_load(&tally->errors) > 0;
}

static void on_lost(laju_load_client *client, int error) {
  laju_loader *loader = client->owner;
  loader->outstanding -= client->outstanding;
  if (client->state == LAJU_LOAD_READY) {
    loader->ready--;
    loader->room -= loader->clients.pipeline - client->outstanding;
  }
  if (loader->phase == LAJU_LOAD_GATHERING) {
    fail_connecting(loader, error);
  } else if (client->outstanding > 0 && !has_answered(loader)) {
    fail(loader, "ends the connection without an answer; does it speak this protocol?");
  }
}

static bool has_more_to_send(const laju_loader *loader) {
  return loader->phase == LAJU_LOAD_RUNNING || (loader->phase == LAJU_LOAD_DRAINING && loader->behind);
}

static void on_gone(laju_load_client *client) {
  laju_loader *loader = client->owner;
  if (has_more_to_send(loader) && client->answered > 0) laju_load_client_connect(client);
  be_over_if_drained(loader);
}

static void on_unfit(laju_load_client *client, const char *text) {
  fail(client->owner, text);
}

/* Those that could not be made anew at once. */
static void on_retry(uv_timer_t *timer) {
  laju_loader *loader = timer->data;
  for (unsigned i = 0; i < loader->count && has_more_to_send(loader); i++) {
    if (loader->all[i].state == LAJU_LOAD_CLOSED) laju_load_client_connect(&loader->all[i]);
  }
}

/* ---- the thread ---------------------------------------------------------------------------------------------------- */

static void on_patience_over(uv_timer_t *timer) {
  laju_loader *loader = timer->data;
  char what[120];
  snprintf(what, sizeof what, "does not take the connections: %u of %u stand after %d s", loader->ready, loader->count,
           LAJU_LOAD_CONNECT_MS / 1000);
  fail(loader, what);
}

static void gather(laju_loader *loader) {
  uv_timer_start(&loader->ends, on_patience_over, LAJU_LOAD_CONNECT_MS, 0);
  for (unsigned i = 0; i < loader->count && loader->phase == LAJU_LOAD_GATHERING; i++) {
    int error = laju_load_client_connect(&loader->all[i]);
    if (error < 0) fail_connecting(loader, -error);
  }
}

/* In an open loop, what was due until now is still sent. */
static void on_time_over(uv_timer_t *timer) {
  laju_loader *loader = timer->data;
  if (is_open_loop(loader)) send_all_due(loader);
  if (loader->phase == LAJU_LOAD_RUNNING) finish(loader);
}

static void finish_early(laju_loader *loader) {
  loader->schedule.end_ns = uv_hrtime();
  loader->behind = false;
  finish(loader);
}

static void begin(laju_loader *loader) {
  const laju_load_plan *plan = loader->shared->plan;
  loader->phase = LAJU_LOAD_RUNNING;
  loader->schedule.start_ns = loader->shared->start_ns;
  loader->schedule.end_ns = loader->schedule.start_ns + (uint64_t)plan->duration_us * 1000;
  /* a millisecond more, as the loop's clock may be that much behind */
  uv_timer_start(&loader->ends, on_time_over, (uint64_t)(plan->duration_us + 999) / 1000 + 1, 0);
  uv_timer_start(&loader->retry, on_retry, LAJU_LOAD_RETRY_MS, LAJU_LOAD_RETRY_MS);
  if (is_open_loop(loader)) {
    send_all_due(loader);
    return;
  }
  for (unsigned i = 0; i < loader->count && loader->phase == LAJU_LOAD_RUNNING; i++) {
    if (loader->all[i].state == LAJU_LOAD_READY) send_pipeline(loader, &loader->all[i]);
  }
}

static void on_wake(uv_async_t *wake) {
  laju_loader *loader = wake->data;
  laju_load_order order = atomic_load(&loader->shared->order);
  if (order == LAJU_LOAD_GO && loader->phase == LAJU_LOAD_GATHERING) begin(loader);
  if (order == LAJU_LOAD_FINISH && loader->phase == LAJU_LOAD_RUNNING) finish_early(loader);
  if (order == LAJU_LOAD_ABORT && loader->phase != LAJU_LOAD_OVER) be_over(loader);
}

static void run(void *argument) {
  laju_loader *loader = argument;
  gather(loader);
  uv_run(&loader->loop, UV_RUN_DEFAULT);
  atomic_store(&loader->over, true);
  uv_async_send(loader->shared->told);
}

/* ---- starting and joining ------------------------------------------------------------------------------------------ */

static void free_memory(laju_loader *loader) {
  for (unsigned i = 0; loader->all != NULL && i < loader->count; i++) laju_load_client_deinit(&loader->all[i]);
  free(loader->all);
  free(loader->clients.read_buffer);
  free(loader->clients.sending);
  free(loader->clients.plain);
  laju_buffer_deinit(&loader->clients.cipher);
  if (loader->alarm_fd >= 0) close(loader->alarm_fd);
}

static int allocate(laju_loader *loader, const laju_load_plan *plan) {
  laju_load_clients *clients = &loader->clients;
  const laju_buffer *request = &plan->request->bytes;
  loader->all = calloc(loader->count, sizeof *loader->all);
  clients->read_buffer = malloc(LAJU_LOAD_READ_SIZE);
  clients->sending = malloc(plan->pipeline * request->len);
  if (loader->all == NULL || clients->read_buffer == NULL || clients->sending == NULL) return UV_ENOMEM;
  if (clients->tls != NULL && (clients->plain = malloc(LAJU_LOAD_READ_SIZE)) == NULL) return UV_ENOMEM;
  for (unsigned i = 0; i < plan->pipeline; i++)
    memcpy(clients->sending + i * request->len, request->data, request->len);
  for (unsigned i = 0; i < loader->count; i++) {
    int error = laju_load_client_init(&loader->all[i], clients, loader);
    if (error < 0) return error;
  }
  return 0;
}

static int open_alarm(laju_loader *loader) {
  loader->alarm_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (loader->alarm_fd < 0) return uv_translate_sys_error(errno);
  int error = uv_poll_init(&loader->loop, &loader->alarm, loader->alarm_fd);
  loader->alarm.data = loader;
  return error < 0 ? error : uv_poll_start(&loader->alarm, UV_READABLE, on_alarm);
}

static int open_handles(laju_loader *loader) {
  uv_loop_t *loop = &loader->loop;
  int error = uv_async_init(loop, &loader->wake, on_wake);
  if (error < 0) return error;
  uv_timer_init(loop, &loader->ends);
  uv_timer_init(loop, &loader->retry);
  uv_idle_init(loop, &loader->spin);
  loader->wake.data = loader->ends.data = loader->retry.data = loader->spin.data = loader;
  return is_open_loop(loader) ? open_alarm(loader) : 0;
}

int laju_loader_start(laju_loader *loader, laju_load_shared *shared, unsigned number, unsigned connections) {
  const laju_load_plan *plan = shared->plan;
  *loader = (laju_loader){.shared = shared, .count = connections, .alarm_fd = -1};
  loader->schedule = (laju_load_schedule){.rate = plan->rate, .thread = number, .threads = plan->threads};
  loader->clients = (laju_load_clients){
      .loop = &loader->loop,
      .address = shared->address,
      .address_len = shared->address_len,
      .protocol = plan->door.protocol,
      .request = plan->request,
      .greeting = &shared->greeting,
      .tls = shared->tls,
      .host = laju_load_door_host(&plan->door),
      .pipeline = plan->pipeline,
      .on_ready = on_ready,
      .on_replies = on_replies,
      .on_lost = on_lost,
      .on_gone = on_gone,
      .on_unfit = on_unfit,
  };
  laju_load_keys_init(&loader->clients.keys, plan->keys, plan->skew, number + 1);
  int error = uv_loop_init(&loader->loop);
  if (error < 0) return error;
  error = allocate(loader, plan);
  if (error == 0) error = open_handles(loader);
  if (error == 0) error = uv_thread_create(&loader->thread, run, loader);
  if (error == 0) return 0;
  be_over(loader);
  uv_run(&loader->loop, UV_RUN_DEFAULT);
  uv_loop_close(&loader->loop);
  free_memory(loader);
  return error;
}

void laju_loader_wake(laju_loader *loader) {
  if (!atomic_load(&loader->over)) uv_async_send(&loader->wake);
}

void laju_loader_join(laju_loader *loader) {
  uv_thread_join(&loader->thread);
  uv_loop_close(&loader->loop);
  free_memory(loader);
}
