/* How long things took lately: the difference between two readings of a histogram that only grows.
 *
 * Fed about once a second, it goes back LAJU_WINDOW_READINGS - 1 readings. One thread at a time.
 */
#ifndef LAJU_SERVER_WINDOW_H
#define LAJU_SERVER_WINDOW_H

#include "base/histogram.h"

#define LAJU_WINDOW_READINGS 6

/* All zeros: nothing was read yet, as if all had come since the epoch. Large. */
typedef struct laju_window {
  laju_histogram readings[LAJU_WINDOW_READINGS];
  int64_t at_us[LAJU_WINDOW_READINGS];
  size_t next, count;
  laju_histogram difference; /* scratch */
} laju_window;

typedef struct laju_lately {
  int64_t window_us; /* so far back; 0: nothing was read yet */
  uint64_t count;
  int64_t p50_us, p99_us;
} laju_lately;

/* Keeps a reading. */
void laju_window_feed(laju_window *window, const laju_histogram *now, int64_t now_us);

/* What came between the oldest reading that is kept and this one. */
laju_lately laju_window_look(laju_window *window, const laju_histogram *now, int64_t now_us);

#endif
