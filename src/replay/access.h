/* One request as an access log tells it. What its slices point to lies in the line that was read. */
#ifndef LAJU_REPLAY_ACCESS_H
#define LAJU_REPLAY_ACCESS_H

#include "base/network.h"
#include "base/slice.h"

#define LAJU_ACCESS_HEADERS_MAX 100 /* headers of one request; one with more is not readable */

typedef struct laju_access_header {
  laju_slice name, value;
} laju_access_header;

typedef struct laju_access {
  int64_t time_us; /* since the epoch, 0 to LAJU_TIME_MAX_US */
  laju_ip client;
  bool addressed;    /* false: it came through a unix socket, and `client` says nothing */
  laju_slice method; /* empty where the log does not tell it */
  laju_slice target; /* as it was sent, query included; likewise */
  laju_slice host;   /* likewise */
  size_t header_count;
  laju_access_header headers[LAJU_ACCESS_HEADERS_MAX]; /* no more of them is written than there are */
} laju_access;

#endif
