/* When a load of a fixed rate sends its requests: number n at start + n / rate, to the nanosecond, whatever becomes of those
 * before it. Several threads share a schedule: thread t of k sends the numbers t, t + k, t + 2k, ... Pure; any thread. */
#ifndef LAJU_LOAD_SCHEDULE_H
#define LAJU_LOAD_SCHEDULE_H

#include <stdint.h>

#define LAJU_LOAD_RATE_MAX UINT64_C(10000000) /* requests a second */

typedef struct laju_load_schedule {
  uint64_t start_ns, end_ns; /* nothing is due at end_ns or later */
  uint64_t rate;             /* of all threads together, at least 1 */
  uint64_t thread, threads;
} laju_load_schedule;

/* When this thread's own request number `n`, from 0, is due. */
uint64_t laju_load_schedule_time_ns(const laju_load_schedule *schedule, uint64_t n);

/* How many of this thread's requests are due at `now_ns`: those whose time is not later. */
uint64_t laju_load_schedule_due(const laju_load_schedule *schedule, uint64_t now_ns);

#endif
