#include "replay/timeline.h"

#include <stdbool.h>
#include <string.h>

void laju_timeline_init(laju_timeline *timeline) {
  *timeline = (laju_timeline){.from_s = -1, .step_s = 1, .now_s = -1};
}

static bool is_worse(const laju_span *a, const laju_span *b) {
  return a->refused != b->refused ? a->refused > b->refused : a->admitted > b->admitted;
}

void laju_timeline_finish(laju_timeline *timeline) {
  if (!is_worse(&timeline->now, &timeline->worst)) return;
  timeline->worst = timeline->now;
  timeline->worst_s = timeline->now_s;
}

/* Steps twice as long, which begin at multiples of their new length. */
static void widen(laju_timeline *timeline) {
  int64_t step_s = timeline->step_s * 2, from_s = timeline->from_s - timeline->from_s % step_s;
  size_t shift = from_s < timeline->from_s; /* the first half of the first step was before all */
  laju_span wider[LAJU_TIMELINE_STEPS] = {0};
  for (size_t i = 0; i < timeline->count; i++) {
    laju_span *step = &wider[(i + shift) / 2];
    step->admitted += timeline->steps[i].admitted;
    step->refused += timeline->steps[i].refused;
  }
  timeline->count = (timeline->count + shift + 1) / 2;
  timeline->from_s = from_s;
  timeline->step_s = step_s;
  memcpy(timeline->steps, wider, sizeof wider);
}

void laju_timeline_add(laju_timeline *timeline, int64_t second, uint64_t admitted, uint64_t refused) {
  if (timeline->from_s < 0) timeline->from_s = second;
  if (second != timeline->now_s) {
    laju_timeline_finish(timeline);
    timeline->now = (laju_span){0, 0};
    timeline->now_s = second;
  }
  timeline->now.admitted += admitted;
  timeline->now.refused += refused;
  while ((second - timeline->from_s) / timeline->step_s >= LAJU_TIMELINE_STEPS) widen(timeline);
  size_t at = (size_t)((second - timeline->from_s) / timeline->step_s);
  timeline->steps[at].admitted += admitted;
  timeline->steps[at].refused += refused;
  if (at >= timeline->count) timeline->count = at + 1;
}
