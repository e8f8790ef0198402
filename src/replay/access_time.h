/* Times as logs have them, into microseconds since the epoch. Pure; any thread.
 *
 *   10/Oct/2026:13:55:36 -0700        the common log format's; always with its zone
 *   2026-10-10T13:55:36.123456+02:00  ISO 8601: `T` or a space; a fraction behind `.` or `,`; Z, +02:00, +0200, +02, or no
 *                                     zone, which is UTC
 *   1791636936.123                    since the epoch: up to 11 digits before the point are seconds, up to 14 milliseconds, up to
 *                                     17 microseconds, up to 19 nanoseconds
 *
 * What is finer than a microsecond is cut off. Second 60 is the first of the next minute.
 */
#ifndef LAJU_REPLAY_ACCESS_TIME_H
#define LAJU_REPLAY_ACCESS_TIME_H

#include <stdint.h>

#include "base/slice.h"

#define LAJU_CLF_TIME_LEN 26 /* bytes of the common log format's time */

/* Takes any of the three. 0, or -1 where it is none, or outside 1970 to LAJU_TIME_MAX_US. */
int laju_access_time_parse(laju_slice text, int64_t *out_us);

/* The common log format's alone, from exactly LAJU_CLF_TIME_LEN bytes. */
int laju_clf_time_parse(const char text[LAJU_CLF_TIME_LEN], int64_t *out_us);

#define LAJU_TIME_TEXT_SIZE 32

/* "2026-10-10T13:55:36Z", with milliseconds where there are any. Returns its length, without the terminating 0. */
size_t laju_time_format(char to[LAJU_TIME_TEXT_SIZE], int64_t time_us);

#endif
