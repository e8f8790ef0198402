#include "redis/breaker.h"

#define PROBE_US (LAJU_BREAKER_PROBE_MS * INT64_C(1000))

bool laju_breaker_admit(laju_breaker *breaker, int64_t now_us) {
  if (!laju_breaker_is_open(breaker)) return true;
  if (now_us < breaker->probe_us) return false;
  breaker->probe_us = now_us + PROBE_US;
  return true;
}

bool laju_breaker_fail(laju_breaker *breaker, int64_t now_us) {
  if (laju_breaker_is_open(breaker)) return false;
  breaker->failures++;
  if (!laju_breaker_is_open(breaker)) return false;
  breaker->probe_us = now_us + PROBE_US;
  return true;
}

bool laju_breaker_succeed(laju_breaker *breaker) {
  bool was_open = laju_breaker_is_open(breaker);
  breaker->failures = 0;
  return was_open;
}

void laju_breaker_hurry(laju_breaker *breaker, int64_t now_us) {
  if (breaker->probe_us > now_us) breaker->probe_us = now_us;
}
