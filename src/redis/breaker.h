/* Stops asking a server that does not answer, and probes whether it does again.
 *
 * It opens after LAJU_BREAKER_FAILURES failures in a row. Open, it lets one check through every LAJU_BREAKER_PROBE_MS; the
 * first success closes it. Pure; time is an argument, of any clock that does not go back.
 */
#ifndef LAJU_REDIS_BREAKER_H
#define LAJU_REDIS_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define LAJU_BREAKER_FAILURES 5
#define LAJU_BREAKER_PROBE_MS 100

typedef struct laju_breaker {
  uint32_t failures; /* in a row; LAJU_BREAKER_FAILURES: open */
  int64_t probe_us;  /* open: when the next check may pass */
} laju_breaker;      /* all zeros is closed */

static inline bool laju_breaker_is_open(const laju_breaker *breaker) {
  return breaker->failures >= LAJU_BREAKER_FAILURES;
}

/* May a check pass now? Where it is open, a yes makes this check the probe: it must be sent. */
bool laju_breaker_admit(laju_breaker *breaker, int64_t now_us);

/* True where this failure opened it. */
bool laju_breaker_fail(laju_breaker *breaker, int64_t now_us);

/* True where this success closed it. */
bool laju_breaker_succeed(laju_breaker *breaker);

/* Something speaks for the server (it took a connection again): the next check may probe at once. */
void laju_breaker_hurry(laju_breaker *breaker, int64_t now_us);

#endif
