/* What a dashboard shows, as one JSON object (docs/openapi.yaml, Status): from one reading of all counters. */
#ifndef LAJU_SERVER_STATUS_H
#define LAJU_SERVER_STATUS_H

#include "base/buffer.h"
#include "proto/service.h"
#include "server/readings.h"
#include "server/window.h"

#define LAJU_STATUS_RULES_MAX 100

typedef struct laju_status {
  const laju_readings *readings;
  const laju_service *service;
  laju_lately latency, store_latency;
  const char *store_url;     /* without a password; where there is a store */
  const char *store_why;     /* why it is not up, as far as known; "" */
  const char *store_refusal; /* the last error with which it has answered a check though it is up; "" */
} laju_status;

void laju_status_write(const laju_status *status, laju_buffer *out);

#endif
