#include "server/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define FORMS "allowed: HOST:PORT, [IPV6]:PORT, *:PORT or unix:/PATH"

static int refuse(char why[LAJU_TEXT_SIZE], const char *text, const char *what) {
  snprintf(why, LAJU_TEXT_SIZE, "address \"%.100s\": %s", text, what);
  return LAJU_ERR_TEXT;
}

static int parse_port(const char *text, uint16_t *port) {
  uint32_t value = 0;
  size_t len = strlen(text);
  if (len == 0 || len > 5) return -1;
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (uint32_t)(text[i] - '0');
  }
  if (value > UINT16_MAX) return -1;
  *port = (uint16_t)value;
  return 0;
}

static int parse_path(laju_address *out, const char *text, char why[LAJU_TEXT_SIZE]) {
  const char *path = text + strlen("unix:");
  size_t len = strlen(path);
  if (len == 0) return refuse(why, text, "a path must follow unix:");
  if (len >= sizeof out->path) return refuse(why, text, "a unix socket's path is at most 107 bytes");
  out->is_unix = true;
  memcpy(out->path, path, len + 1);
  return 0;
}

int laju_address_parse(laju_address *out, const char *text, char why[LAJU_TEXT_SIZE]) {
  laju_address parsed = {0};
  if (strncmp(text, "unix:", 5) == 0) {
    int err = parse_path(&parsed, text, why);
    if (err == 0) *out = parsed;
    return err;
  }
  const char *colon = strrchr(text, ':');
  if (colon == NULL) return refuse(why, text, "the port is missing; " FORMS);
  if (parse_port(colon + 1, &parsed.port) < 0) return refuse(why, text, "the port must be 0 to 65535; " FORMS);

  const char *host = text;
  size_t len = (size_t)(colon - text);
  if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
    host++;
    len -= 2;
  } else if (memchr(host, ':', len) != NULL) {
    return refuse(why, text, "an IPv6 address stands in brackets; " FORMS);
  }
  if (len == 0) return refuse(why, text, "the host is missing; " FORMS);
  if (len >= sizeof parsed.host) return refuse(why, text, "the host is longer than 253 bytes");
  memcpy(parsed.host, host, len);
  *out = parsed;
  return 0;
}

static int resolve_path(const laju_address *address, laju_sockaddr *out) {
  struct sockaddr_un *to = (struct sockaddr_un *)&out->address;
  *out = (laju_sockaddr){.len = sizeof *to};
  to->sun_family = AF_UNIX;
  memcpy(to->sun_path, address->path, sizeof to->sun_path);
  return 1;
}

/* One socket takes both families where the kernel has IPv6. */
static int resolve_any(const laju_address *address, laju_sockaddr *out) {
  struct sockaddr_in6 *to = (struct sockaddr_in6 *)&out->address;
  *out = (laju_sockaddr){.len = sizeof *to};
  to->sin6_family = AF_INET6;
  to->sin6_port = htons(address->port);
  to->sin6_addr = in6addr_any;
  return 1;
}

int laju_address_resolve(const laju_address *address, laju_sockaddr out[LAJU_ADDRESSES_MAX], char why[LAJU_TEXT_SIZE]) {
  if (address->is_unix) return resolve_path(address, &out[0]);
  if (strcmp(address->host, "*") == 0) return resolve_any(address, &out[0]);

  char port[8];
  snprintf(port, sizeof port, "%u", address->port);
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *found;
  int err = getaddrinfo(address->host, port, &hints, &found);
  if (err != 0) {
    snprintf(why, LAJU_TEXT_SIZE, "cannot resolve \"%.100s\": %s", address->host, gai_strerror(err));
    return LAJU_ERR_SYSTEM;
  }
  int count = 0;
  for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
    if (count == LAJU_ADDRESSES_MAX) {
      freeaddrinfo(found);
      snprintf(why, LAJU_TEXT_SIZE, "\"%.100s\" has more than %d addresses", address->host, LAJU_ADDRESSES_MAX);
      return LAJU_ERR_SYSTEM;
    }
    out[count] = (laju_sockaddr){.len = at->ai_addrlen};
    memcpy(&out[count].address, at->ai_addr, at->ai_addrlen);
    count++;
  }
  freeaddrinfo(found);
  return count;
}

void laju_sockaddr_format(const laju_sockaddr *from, char text[LAJU_ADDRESS_TEXT_MAX]) {
  char host[INET6_ADDRSTRLEN] = "";
  if (from->address.ss_family == AF_UNIX) {
    const struct sockaddr_un *at = (const struct sockaddr_un *)&from->address;
    snprintf(text, LAJU_ADDRESS_TEXT_MAX, "unix:%s", at->sun_path);
  } else if (from->address.ss_family == AF_INET6) {
    const struct sockaddr_in6 *at = (const struct sockaddr_in6 *)&from->address;
    inet_ntop(AF_INET6, &at->sin6_addr, host, sizeof host);
    snprintf(text, LAJU_ADDRESS_TEXT_MAX, "[%s]:%u", host, ntohs(at->sin6_port));
  } else {
    const struct sockaddr_in *at = (const struct sockaddr_in *)&from->address;
    inet_ntop(AF_INET, &at->sin_addr, host, sizeof host);
    snprintf(text, LAJU_ADDRESS_TEXT_MAX, "%s:%u", host, ntohs(at->sin_port));
  }
}

bool laju_sockaddr_is_local(const laju_sockaddr *from) {
  if (from->address.ss_family == AF_UNIX) return true;
  if (from->address.ss_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&from->address)->sin6_addr);
  }
  return ntohl(((const struct sockaddr_in *)&from->address)->sin_addr.s_addr) >> 24 == 127;
}
