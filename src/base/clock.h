/* The one clock that decides where laju itself keeps the state: CLOCK_BOOTTIME plus an offset to the wall clock that is
 * read once. It never steps and counts a suspended machine's time; a wall clock that is set changes nothing. */
#ifndef LAJU_BASE_CLOCK_H
#define LAJU_BASE_CLOCK_H

#include <stdint.h>

typedef struct laju_clock {
  int64_t offset_us; /* wall clock minus boot time, as it was at laju_clock_init */
} laju_clock;

void laju_clock_init(laju_clock *clock);

/* Microseconds since the epoch (UTC). One vDSO call; any thread. */
int64_t laju_clock_now_us(const laju_clock *clock);

/* Moves the clock forward, if need be, so that it never shows less than `us`. Before other threads use it. */
void laju_clock_not_before(laju_clock *clock, int64_t us);

#endif
