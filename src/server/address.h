/* Where a door stands, as the configuration writes it: "127.0.0.1:8080", "[::1]:8080", "localhost:8080", "*:8080" or
 * "unix:/path". Parsing is pure; resolving asks the system for names. */
#ifndef LAJU_SERVER_ADDRESS_H
#define LAJU_SERVER_ADDRESS_H

#include <laju/laju.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LAJU_ADDRESSES_MAX 8 /* addresses of one name; more are an error */
#define LAJU_ADDRESS_TEXT_MAX 128

typedef struct laju_address {
  bool is_unix;
  uint16_t port;   /* 0: any free one */
  char host[254];  /* without brackets; "*": every address of this machine, IPv6 and IPv4 */
  char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
} laju_address;

typedef struct laju_sockaddr {
  struct sockaddr_storage address;
  socklen_t len;
} laju_sockaddr;

/* 0, or LAJU_ERR_TEXT with `why`. */
int laju_address_parse(laju_address *out, const char *text, char why[LAJU_TEXT_SIZE]);

/* The addresses to bind, 1 to LAJU_ADDRESSES_MAX of them. Returns how many, or LAJU_ERR_SYSTEM with `why`. May ask DNS. */
int laju_address_resolve(const laju_address *address, laju_sockaddr out[LAJU_ADDRESSES_MAX], char why[LAJU_TEXT_SIZE]);

/* "127.0.0.1:8080", "[::1]:8080", "unix:/path". */
void laju_sockaddr_format(const laju_sockaddr *from, char text[LAJU_ADDRESS_TEXT_MAX]);

/* Can only this machine reach it? (127.0.0.0/8, ::1, a unix socket) */
bool laju_sockaddr_is_local(const laju_sockaddr *from);

#endif
