#include "redis/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/store_url.h"

static _Atomic int under_way;

struct laju_lookup {
  const laju_lookup_events *events;
  void *context;
  char host[LAJU_STORE_HOST_MAX + 1];
  char port[8];
  const char *problem; /* there is no thread, and why */
  uv_async_t finished;
  _Atomic int holders;  /* the thread and the handle; freed with the last */
  pthread_mutex_t lock; /* of what follows: the thread must not wake a handle that is being closed */
  bool left;
  int error, system_error;
  struct addrinfo *found;
};

static void let_go(laju_lookup *lookup) {
  if (atomic_fetch_sub_explicit(&lookup->holders, 1, memory_order_acq_rel) > 1) return;
  if (lookup->found != NULL) freeaddrinfo(lookup->found);
  pthread_mutex_destroy(&lookup->lock);
  free(lookup);
}

/* ---- its thread ---- */

static void *run(void *argument) {
  laju_lookup *lookup = argument;
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *found = NULL;
  int error = getaddrinfo(lookup->host, lookup->port, &hints, &found), system_error = errno;
  pthread_mutex_lock(&lookup->lock);
  lookup->error = error;
  lookup->system_error = system_error;
  if (error == 0) lookup->found = found;
  if (!lookup->left) uv_async_send(&lookup->finished);
  pthread_mutex_unlock(&lookup->lock);
  let_go(lookup);
  atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
  return NULL;
}

/* Nobody joins it, and no signal is its business. */
static int start_thread(laju_lookup *lookup) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (pthread_attr_init(&attributes) != 0) return -1;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&thread, &attributes, run, lookup);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error == 0 ? 0 : -1;
}

/* ---- the loop's side ---- */

static void on_closed(uv_handle_t *handle) {
  laju_lookup *lookup = handle->data;
  lookup->events->gone(lookup->context);
  let_go(lookup);
}

static void leave(laju_lookup *lookup) {
  pthread_mutex_lock(&lookup->lock);
  lookup->left = true;
  pthread_mutex_unlock(&lookup->lock);
  uv_close((uv_handle_t *)&lookup->finished, on_closed);
}

static const char *why_of(const laju_lookup *lookup) {
  if (lookup->problem != NULL) return lookup->problem;
  if (lookup->error == 0) return NULL;
  return lookup->error == EAI_SYSTEM ? strerror(lookup->system_error) : gai_strerror(lookup->error);
}

static void on_finished(uv_async_t *async) {
  laju_lookup *lookup = async->data;
  leave(lookup);
  lookup->events->done(lookup->context, lookup->found, why_of(lookup));
}

static void begin(laju_lookup *lookup) {
  bool too_many = atomic_fetch_add_explicit(&under_way, 1, memory_order_relaxed) >= LAJU_LOOKUPS_MAX;
  lookup->holders = 2;
  if (!too_many && start_thread(lookup) == 0) return;
  atomic_fetch_sub_explicit(&under_way, 1, memory_order_relaxed);
  lookup->holders = 1;
  lookup->problem = too_many ? "too many names are being looked up" : "no thread to look it up";
  uv_async_send(&lookup->finished);
}

laju_lookup *laju_lookup_start(uv_loop_t *loop, const char *host, uint16_t port, const laju_lookup_events *events,
                               void *context) {
  laju_lookup *lookup = calloc(1, sizeof *lookup);
  if (lookup == NULL) return NULL;
  if (uv_async_init(loop, &lookup->finished, on_finished) < 0) {
    free(lookup);
    return NULL;
  }
  pthread_mutex_init(&lookup->lock, NULL);
  lookup->finished.data = lookup;
  lookup->events = events;
  lookup->context = context;
  snprintf(lookup->host, sizeof lookup->host, "%s", host);
  snprintf(lookup->port, sizeof lookup->port, "%u", (unsigned)port);
  begin(lookup);
  return lookup;
}

void laju_lookup_cancel(laju_lookup *lookup) {
  leave(lookup);
}
