/* Addresses and networks of both families, in one form: 128 bits, IPv4 as ::ffff:a.b.c.d. So `1.2.3.4` and
 * `::ffff:1.2.3.4` are one address. Pure; any thread. */
#ifndef LAJU_BASE_NETWORK_H
#define LAJU_BASE_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_IP_TEXT_SIZE 64 /* room for any address or network as text */

typedef struct laju_ip {
  uint8_t bytes[16];
} laju_ip;

typedef struct laju_network {
  laju_ip address; /* bits beyond the prefix are 0 */
  uint8_t prefix;  /* 0 to 128; of IPv4: 96 + its own */
} laju_network;

/* "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"; no brackets, port or zone. 0, or -1. */
int laju_ip_parse(const char *text, size_t len, laju_ip *out);

/* "10.0.0.0/8", "::1", "2001:db8::/32": an address alone is a network of one. -1 where it is none, the prefix is out of range,
 * or bits beyond the prefix are set. */
int laju_network_parse(const char *text, size_t len, laju_network *out);

/* From the four bytes of an IPv4 address, in network order. */
void laju_ip_from_v4(laju_ip *out, const void *bytes);

bool laju_ip_is_v4(const laju_ip *address);

/* 127.0.0.0/8 or ::1. */
bool laju_ip_is_loopback(const laju_ip *address);

/* The first `prefix` bits, the rest 0. */
laju_ip laju_ip_cut(const laju_ip *address, unsigned prefix);

bool laju_network_has(const laju_network *network, const laju_ip *address);

/* The canonical text (RFC 5952; IPv4 dotted). Returns its length, without the terminating 0. */
size_t laju_ip_format(char to[LAJU_IP_TEXT_SIZE], const laju_ip *address);

#endif
