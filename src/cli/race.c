#include "cli/race.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/race_ways.h"

/* Closed while the runners come to the start; then open for all at once, or given up. */
typedef enum gate { CLOSED, OPEN, GIVEN_UP } gate;

typedef struct race {
  laju_race_subject subject;
  pthread_mutex_t lock;
  pthread_cond_t moved;
  gate start;       /* under the lock */
  atomic_bool ends; /* a runner has failed: the others need not go on */
  laju_clock clock;
} race;

typedef struct runner {
  race *of;
  laju_race_client client;
  pthread_t thread;
  uint32_t requests, admitted;
  int64_t begun_us, ended_us;
  bool failed;
} runner;

static bool wait_for_start(race *of) {
  pthread_mutex_lock(&of->lock);
  while (of->start == CLOSED) pthread_cond_wait(&of->moved, &of->lock);
  bool open = of->start == OPEN;
  pthread_mutex_unlock(&of->lock);
  return open;
}

static void move_gate(race *of, gate to) {
  pthread_mutex_lock(&of->lock);
  of->start = to;
  pthread_cond_broadcast(&of->moved);
  pthread_mutex_unlock(&of->lock);
}

static void *run(void *argument) {
  runner *self = argument;
  if (!wait_for_start(self->of)) return NULL;
  self->begun_us = laju_clock_now_us(&self->of->clock);
  for (uint32_t i = 0; i < self->requests && !atomic_load_explicit(&self->of->ends, memory_order_relaxed); i++) {
    int answer = laju_race_client_ask(&self->client);
    if (answer < 0) {
      self->failed = true;
      atomic_store_explicit(&self->of->ends, true, memory_order_relaxed);
      return NULL;
    }
    self->admitted += (uint32_t)answer;
  }
  self->ended_us = laju_clock_now_us(&self->of->clock);
  return NULL;
}

/* From the gun to the last one home. 0, or -1 with `why`. */
static int add_up(const runner *runners, laju_race_result *out, char why[LAJU_RACE_WHY_SIZE]) {
  int64_t begun_us = runners[0].begun_us, ended_us = runners[0].ended_us;
  uint32_t admitted = 0;
  for (size_t i = 0; i < LAJU_RACE_CLIENTS; i++) {
    const runner *one = &runners[i];
    if (one->failed) {
      memcpy(why, one->client.why, LAJU_RACE_WHY_SIZE);
      return -1;
    }
    if (one->begun_us < begun_us) begun_us = one->begun_us;
    if (one->ended_us > ended_us) ended_us = one->ended_us;
    admitted += one->admitted;
  }
  *out = (laju_race_result){.admitted = admitted, .took_us = ended_us - begun_us};
  return 0;
}

/* With all clients connected. */
static int run_all(race *of, runner *runners, char why[LAJU_RACE_WHY_SIZE]) {
  size_t started = 0;
  while (started < LAJU_RACE_CLIENTS && pthread_create(&runners[started].thread, NULL, run, &runners[started]) == 0) {
    started++;
  }
  bool complete = started == LAJU_RACE_CLIENTS;
  move_gate(of, complete ? OPEN : GIVEN_UP);
  for (size_t i = 0; i < started; i++) pthread_join(runners[i].thread, NULL);
  if (complete) return 0;
  snprintf(why, LAJU_RACE_WHY_SIZE, "only %zu of %d threads could be started", started, LAJU_RACE_CLIENTS);
  return -1;
}

static int connect_all(race *of, runner *runners, size_t *connected, char why[LAJU_RACE_WHY_SIZE]) {
  for (size_t i = 0; i < LAJU_RACE_CLIENTS; i++) {
    runners[i] = (runner){.of = of};
    size_t rest = i < LAJU_RACE_REQUESTS % LAJU_RACE_CLIENTS; /* some have one more, so that all are asked */
    runners[i].requests = (uint32_t)(LAJU_RACE_REQUESTS / LAJU_RACE_CLIENTS + rest);
    *connected = i + 1;
    if (laju_race_client_init(&runners[i].client, &of->subject) == 0) continue;
    memcpy(why, runners[i].client.why, LAJU_RACE_WHY_SIZE);
    return -1;
  }
  return 0;
}

static int run_race(race *of, laju_race_result *out, char why[LAJU_RACE_WHY_SIZE]) {
  runner runners[LAJU_RACE_CLIENTS];
  laju_race_result result;
  size_t connected = 0;
  int error = connect_all(of, runners, &connected, why);
  if (error == 0) {
    error = run_all(of, runners, why);
    if (error == 0) error = add_up(runners, &result, why);
    /* after a fault too, by whoever still has a connection; what stays has its time to live */
    size_t i = 0;
    while (i < LAJU_RACE_CLIENTS && laju_race_client_forget(&runners[i].client) < 0) i++;
  }
  for (size_t i = 0; i < connected; i++) laju_race_client_deinit(&runners[i].client);
  if (error == 0) *out = result;
  return error;
}

int laju_race_run(const laju_store_url *url, laju_race_way way, laju_race_result *out, char why[LAJU_RACE_WHY_SIZE]) {
  race one = {.start = CLOSED};
  laju_clock_init(&one.clock);
  pthread_mutex_init(&one.lock, NULL);
  pthread_cond_init(&one.moved, NULL);
  int error = laju_race_subject_init(&one.subject, url, way, why);
  if (error == 0) error = run_race(&one, out, why);
  laju_race_subject_deinit(&one.subject);
  pthread_cond_destroy(&one.moved);
  pthread_mutex_destroy(&one.lock);
  return error;
}
