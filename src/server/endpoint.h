/* An address as the kernel has it: where a socket is bound. Pure. */
#ifndef LAJU_SERVER_ENDPOINT_H
#define LAJU_SERVER_ENDPOINT_H

#include <sys/socket.h>

#include "base/network.h"
#include "config/address.h"

#define LAJU_ENDPOINT_TEXT_SIZE 128

typedef struct laju_endpoint {
  struct sockaddr_storage address;
  socklen_t len;
} laju_endpoint;

/* "*" becomes IPv6's "any", which takes IPv4 too (laju_endpoint_to_ipv4 where the kernel has no IPv6). LAJU_ERR_TEXT for a
 * name or "off", which is nowhere to listen. */
int laju_endpoint_init(laju_endpoint *out, const laju_address *address);

/* The address without its port, whatever the family; all zeros for a unix socket's. */
void laju_endpoint_ip(const struct sockaddr_storage *address, laju_ip *out);

/* IPv6's "any" into IPv4's, with the same port. */
void laju_endpoint_to_ipv4(laju_endpoint *endpoint);

/* "127.0.0.1:8080", "[::1]:8080", "unix:/path". */
void laju_endpoint_format(const laju_endpoint *endpoint, char text[LAJU_ENDPOINT_TEXT_SIZE]);

#endif
