/* A thread of a load: its share of the connections, on a loop of its own. load.c starts it and adds up. */
#ifndef LAJU_LOAD_LOADER_H
#define LAJU_LOAD_LOADER_H

#include "load/client.h"
#include "load/load.h"
#include "load/schedule.h"

/* What the main thread wants of all others. */
typedef enum laju_load_order {
  LAJU_LOAD_WAIT,   /* make your connections */
  LAJU_LOAD_GO,     /* begin */
  LAJU_LOAD_FINISH, /* end early: send nothing more, wait for the replies */
  LAJU_LOAD_ABORT,  /* end at once */
} laju_load_order;

/* What all threads of a run share. */
typedef struct laju_load_shared {
  const laju_load_plan *plan;
  const struct sockaddr *address;
  socklen_t address_len;
  laju_buffer greeting;
  laju_tls_client *tls;          /* NULL: none */
  uint64_t start_ns;             /* set before LAJU_LOAD_GO */
  _Atomic laju_load_order order; /* laju_loader_wake after it has changed */
  uv_async_t *told;              /* by a thread that has gathered, failed or ended */
} laju_load_shared;

typedef enum laju_load_phase {
  LAJU_LOAD_GATHERING, /* connections are being made, or all stand and wait */
  LAJU_LOAD_RUNNING,
  LAJU_LOAD_DRAINING,
  LAJU_LOAD_OVER,
} laju_load_phase;

typedef struct laju_loader {
  laju_load_shared *shared;
  uv_thread_t thread;
  uv_loop_t loop;
  uv_async_t wake; /* the order has changed */
  uv_timer_t ends; /* of the phase */
  uv_timer_t retry;
  uv_poll_t
      alarm; /* open loop: when the next request is due; on a timerfd, as the loop's timers know only milliseconds */
  uv_idle_t spin; /* and the last stretch before it, awake */
  int alarm_fd;
  laju_load_phase phase;
  laju_load_clients clients;
  laju_load_client *all;
  unsigned count, ready;
  uint64_t outstanding;
  laju_load_schedule schedule;
  uint64_t begun; /* requests of the schedule that were sent */
  uint64_t room;  /* that the clients who are ready can take now */
  bool behind;    /* some are due that no client can take */
  unsigned next;  /* client, in turn */
  uint64_t unsent, unanswered;
  uint64_t stopped_ns;
  _Atomic uint64_t in_time;
  _Atomic bool gathered, failed, over; /* all connections stand; `why` says what was wrong; the thread ends */
  char why[LAJU_TEXT_SIZE];
} laju_loader;

/* Starts thread `number` with so many connections. 0, or a libuv error, and nothing is left of it. */
int laju_loader_start(laju_loader *loader, laju_load_shared *shared, unsigned number, unsigned connections);

/* From any thread. */
void laju_loader_wake(laju_loader *loader);

/* Waits for the thread's end, and frees all. Counts, histogram and `why` stay. */
void laju_loader_join(laju_loader *loader);

#endif
