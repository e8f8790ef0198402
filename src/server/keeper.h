/* Keeps the table: loads the last snapshot, takes one every interval, and sweeps out keys that are as good as new.
 *
 * Snapshots are written by a thread that serves nobody; only one at a time, and a later one waits for its next turn. A
 * failure is logged when it begins, when its reason changes and when it is over, and tried again every interval. The sweep
 * passes the whole table once in LAJU_SWEEP_TURNS seconds, in slices, on the loop's thread.
 *
 * All calls come from the thread of the loop, which must not be a worker's.
 */
#ifndef LAJU_SERVER_KEEPER_H
#define LAJU_SERVER_KEEPER_H

#include <uv.h>

#include "config/config.h"
#include "limiter/overlay_bytes.h"
#include "proto/service.h"

#define LAJU_SWEEP_TURNS 60

typedef struct laju_keeper {
  uv_loop_t *loop;
  laju_limiter *limiter;
  laju_overlay *overlay; /* which travels in the snapshot */
  laju_rule_names *names;
  const laju_config *config; /* must outlive it */
  uv_timer_t snapshot_timer, sweep_timer;
  uv_work_t work;
  bool saving;     /* a snapshot is being written */
  int save_result; /* of that snapshot, written by its thread */
  char save_why[LAJU_TEXT_SIZE];
  char failing[LAJU_TEXT_SIZE]; /* why the last one failed; "" where it did not */
  uint64_t sweep_at;
} laju_keeper;

void laju_keeper_init(laju_keeper *keeper, uv_loop_t *loop, laju_service *service, const laju_config *config);

/* Loads the snapshot, before anybody uses the limiter. One that cannot be understood is moved aside (".corrupt-" and the
 * time) and the limiter starts empty; none is fine. 0, or -1 where the file cannot be read or moved (logged): going on
 * would write over it. */
int laju_keeper_load(laju_keeper *keeper);

/* One turn of the sweep, and of overrides that have expired, as of `now_us` of the limiter's clock. A timer calls it once a second. */
void laju_keeper_sweep(laju_keeper *keeper, int64_t now_us);

/* Starts the timers; or once more, where the interval has changed. */
void laju_keeper_start(laju_keeper *keeper);

/* Stops the timers; a snapshot under way keeps the loop turning until it is written. */
void laju_keeper_stop(laju_keeper *keeper);

/* Takes the last snapshot, in this thread, when none is under way any more. 0, or -1 (logged). */
int laju_keeper_save(laju_keeper *keeper);

#endif
