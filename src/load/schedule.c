#include "load/schedule.h"

#define SECOND_NS UINT64_C(1000000000)

uint64_t laju_load_schedule_time_ns(const laju_load_schedule *schedule, uint64_t n) {
  unsigned __int128 number = (unsigned __int128)n * schedule->threads + schedule->thread;
  /* rounded up, so that what is due is never early */
  return schedule->start_ns + (uint64_t)((number * SECOND_NS + schedule->rate - 1) / schedule->rate);
}

uint64_t laju_load_schedule_due(const laju_load_schedule *schedule, uint64_t now_ns) {
  if (now_ns >= schedule->end_ns) now_ns = schedule->end_ns - 1;
  if (now_ns < schedule->start_ns) return 0;
  uint64_t numbers = (uint64_t)((unsigned __int128)(now_ns - schedule->start_ns) * schedule->rate / SECOND_NS) + 1;
  return numbers <= schedule->thread ? 0 : (numbers - schedule->thread - 1) / schedule->threads + 1;
}
