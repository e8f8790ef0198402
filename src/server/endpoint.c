#include "server/endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static int init_unix(laju_endpoint *out, const laju_address *address) {
  size_t len = strlen(address->host);
  struct sockaddr_un *to = (struct sockaddr_un *)&out->address;
  if (len == 0 || len >= sizeof to->sun_path) return LAJU_ERR_TEXT;
  *out = (laju_endpoint){.len = sizeof *to};
  to->sun_family = AF_UNIX;
  memcpy(to->sun_path, address->host, len);
  return 0;
}

static int init_ipv4(laju_endpoint *out, const laju_address *address) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(address->port)};
  if (inet_pton(AF_INET, address->host, &to.sin_addr) != 1) return LAJU_ERR_TEXT;
  *out = (laju_endpoint){.len = sizeof to};
  memcpy(&out->address, &to, sizeof to);
  return 0;
}

static int init_ipv6(laju_endpoint *out, const laju_address *address) {
  struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(address->port), .sin6_addr = in6addr_any};
  bool any = address->kind == LAJU_ADDRESS_ALL;
  if (!any && inet_pton(AF_INET6, address->host, &to.sin6_addr) != 1) return LAJU_ERR_TEXT;
  *out = (laju_endpoint){.len = sizeof to};
  memcpy(&out->address, &to, sizeof to);
  return 0;
}

int laju_endpoint_init(laju_endpoint *out, const laju_address *address) {
  switch (address->kind) {
    case LAJU_ADDRESS_UNIX: return init_unix(out, address);
    case LAJU_ADDRESS_IPV4: return init_ipv4(out, address);
    case LAJU_ADDRESS_IPV6:
    case LAJU_ADDRESS_ALL: return init_ipv6(out, address);
    case LAJU_ADDRESS_OFF:
    case LAJU_ADDRESS_NAME: break;
  }
  return LAJU_ERR_TEXT;
}

void laju_endpoint_to_ipv4(laju_endpoint *endpoint) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  to.sin_port = ((const struct sockaddr_in6 *)&endpoint->address)->sin6_port;
  *endpoint = (laju_endpoint){.len = sizeof to};
  memcpy(&endpoint->address, &to, sizeof to);
}

void laju_endpoint_format(const laju_endpoint *endpoint, char text[LAJU_ENDPOINT_TEXT_SIZE]) {
  char host[INET6_ADDRSTRLEN] = "";
  if (endpoint->address.ss_family == AF_UNIX) {
    const struct sockaddr_un *at = (const struct sockaddr_un *)&endpoint->address;
    snprintf(text, LAJU_ENDPOINT_TEXT_SIZE, "unix:%s", at->sun_path);
  } else if (endpoint->address.ss_family == AF_INET6) {
    const struct sockaddr_in6 *at = (const struct sockaddr_in6 *)&endpoint->address;
    inet_ntop(AF_INET6, &at->sin6_addr, host, sizeof host);
    snprintf(text, LAJU_ENDPOINT_TEXT_SIZE, "[%s]:%u", host, ntohs(at->sin6_port));
  } else {
    const struct sockaddr_in *at = (const struct sockaddr_in *)&endpoint->address;
    inet_ntop(AF_INET, &at->sin_addr, host, sizeof host);
    snprintf(text, LAJU_ENDPOINT_TEXT_SIZE, "%s:%u", host, ntohs(at->sin_port));
  }
}

void laju_endpoint_ip(const struct sockaddr_storage *address, laju_ip *out) {
  *out = (laju_ip){0};
  if (address->ss_family == AF_INET6) {
    memcpy(out->bytes, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof out->bytes);
  } else if (address->ss_family == AF_INET) {
    laju_ip_from_v4(out, &((const struct sockaddr_in *)address)->sin_addr);
  }
}
