/* The page /metrics: what the server has counted, in Prometheus' text format (version 0.0.4). docs/operations.md says what each
 * metric means. Base units; label values are fixed words, and names of rules, which the operator has written: never a key. */
#ifndef LAJU_SERVER_METRICS_H
#define LAJU_SERVER_METRICS_H

#include "base/buffer.h"
#include "server/readings.h"

void laju_metrics_write(const laju_readings *readings, laju_buffer *out);

#endif
