/* Ports of 127.0.0.1 for servers that need them: free ones, whose neighbour for a cluster's bus is free, too. */
#ifndef TESTS_REDIS_PORTS_H
#define TESTS_REDIS_PORTS_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_FIRST 27000
#define PORTS 900
#define BUS 10000 /* from a node's port to that of its bus */

static inline bool port_is_free(uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  bool is = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
  close(fd);
  return is;
}

/* Tests that run at once look from different places. */
static inline uint16_t port_take(void) {
  static unsigned next;
  if (next == 0) next = (unsigned)getpid() * 7;
  for (int i = 0; i < PORTS; i++) {
    uint16_t port = (uint16_t)(PORT_FIRST + next++ % PORTS);
    if (port_is_free(port) && port_is_free((uint16_t)(port + BUS))) return port;
  }
  fprintf(stderr, "no port is free from %d on\n", PORT_FIRST);
  exit(1);
}

#endif
