/* What the benchmarks of Redis share: connections in lockstep, the server's own time, random keys. A failure ends the program. */
#ifndef BENCH_REDIS_WIRE_H
#define BENCH_REDIS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_CONNECTIONS 50

/* Connects to 127.0.0.1:port, and empties the server. */
void wire_open(int port);

/* Sends a command on a connection apart, and reads the reply, which stays until the next call of any of these. */
const char *wire_command(const char *bytes, size_t len);

/* What the server's thread has taken so far. */
double wire_server_cpu_s(void);

/* Writes bytes[ends[i], ends[i + 1]) for each i below `pipelines`, one to each connection in turn, then reads `replies` of each. */
void wire_run(const char *bytes, const size_t *ends, size_t pipelines, size_t replies);

double wire_now_s(void);
uint64_t wire_random_below(uint64_t bound);

/* Sorts them. */
double wire_median(double *values, int count);

#endif
