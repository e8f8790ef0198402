/* How many requests were admitted and refused, over time: in steps that grow as the log does, so that there are never more
 * than LAJU_TIMELINE_STEPS of them; and the worst second. Times only go forward. Pure; one thread. */
#ifndef LAJU_REPLAY_TIMELINE_H
#define LAJU_REPLAY_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#define LAJU_TIMELINE_STEPS 480

typedef struct laju_span {
  uint64_t admitted, refused;
} laju_span;

typedef struct laju_timeline {
  int64_t from_s; /* where the first step begins, a multiple of step_s; -1: nothing yet */
  int64_t step_s; /* 1, 2, 4, ... */
  size_t count;   /* steps up to the last that has a request */
  laju_span steps[LAJU_TIMELINE_STEPS];
  int64_t now_s; /* the second that is being counted */
  laju_span now;
  int64_t worst_s; /* of all seconds that have passed the one with most refused, then most admitted, then the first */
  laju_span worst;
} laju_timeline;

void laju_timeline_init(laju_timeline *timeline);

/* Counts requests of one second; not before the last one. */
void laju_timeline_add(laju_timeline *timeline, int64_t second, uint64_t admitted, uint64_t refused);

/* The last second has passed. */
void laju_timeline_finish(laju_timeline *timeline);

#endif
