/* Where a door listens, or where a client connects, as people write it:
 *
 *     127.0.0.1:8080   [::1]:8080   *:8080 or :8080 (all interfaces)   unix:/run/laju.sock   off or nothing
 *
 * Port 0 lets the system choose a free one. Pure; any thread.
 */
#ifndef LAJU_CONFIG_ADDRESS_H
#define LAJU_CONFIG_ADDRESS_H

#include <laju/laju.h>

#define LAJU_ADDRESS_HOST_MAX 255 /* bytes of a host or of a socket's path */
#define LAJU_ADDRESS_ALLOWED "HOST:PORT with an IPv4 address, an IPv6 address in [ ] or * for all; unix:/PATH; off"

typedef enum laju_address_kind {
  LAJU_ADDRESS_OFF,
  LAJU_ADDRESS_IPV4,
  LAJU_ADDRESS_IPV6,
  LAJU_ADDRESS_ALL,  /* every interface, IPv4 and IPv6; host is "*" */
  LAJU_ADDRESS_NAME, /* a host name: fit to connect to, not to listen on */
  LAJU_ADDRESS_UNIX, /* host is the socket's path, at most 107 bytes */
} laju_address_kind;

typedef struct laju_address {
  laju_address_kind kind;
  uint16_t port;                        /* 0 for LAJU_ADDRESS_UNIX and LAJU_ADDRESS_OFF */
  char host[LAJU_ADDRESS_HOST_MAX + 1]; /* without brackets */
} laju_address;

/* Reads an address. 0, or -1 with `why` as config/value.h has it: `"localhost" has no port; ... allowed: ...`. */
int laju_address_parse(const char *text, size_t len, laju_address *out, char why[LAJU_TEXT_SIZE]);

/* True where only this machine can reach it: a unix socket, 127.0.0.0/8, ::1, or off. */
bool laju_address_is_local(const laju_address *address);

#endif
