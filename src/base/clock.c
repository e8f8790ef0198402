#include "base/clock.h"

#include <time.h>

static int64_t read_us(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void laju_clock_init(laju_clock *clock) {
  clock->offset_us = read_us(CLOCK_REALTIME) - read_us(CLOCK_BOOTTIME);
}

int64_t laju_clock_now_us(const laju_clock *clock) {
  return read_us(CLOCK_BOOTTIME) + clock->offset_us;
}

void laju_clock_not_before(laju_clock *clock, int64_t us) {
  int64_t behind = us - laju_clock_now_us(clock);
  if (behind > 0) clock->offset_us += behind;
}
