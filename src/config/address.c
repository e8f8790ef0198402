#include "config/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "config/value.h"

#define UNIX_PREFIX "unix:"
#define UNIX_PATH_MAX (sizeof((struct sockaddr_un){0}).sun_path - 1)

static int complain(char why[LAJU_TEXT_SIZE], const char *text, size_t len, const char *problem, const char *hint) {
  return laju_complain(why, text, len, problem, hint, LAJU_ADDRESS_ALLOWED);
}

static bool begins(const char *text, size_t len, const char *with) {
  size_t with_len = strlen(with);
  return len >= with_len && memcmp(text, with, with_len) == 0;
}

static int parse_unix(const char *text, size_t len, laju_address *out, char why[LAJU_TEXT_SIZE]) {
  const char *path = text + strlen(UNIX_PREFIX);
  size_t path_len = len - strlen(UNIX_PREFIX);
  if (path_len == 0 || path[0] != '/') return complain(why, text, len, "has no absolute path", NULL);
  char copy[UNIX_PATH_MAX + 1];
  if (laju_value_text(path, path_len, 1, UNIX_PATH_MAX, copy, why) < 0) return -1;
  *out = (laju_address){.kind = LAJU_ADDRESS_UNIX};
  memcpy(out->host, copy, path_len + 1);
  return 0;
}

static int parse_port(const char *text, size_t len, uint16_t *out) {
  unsigned port = 0;
  if (len == 0 || len > 5) return -1;
  for (size_t i = 0; i < len; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    port = port * 10 + (unsigned)(text[i] - '0');
  }
  if (port > UINT16_MAX) return -1;
  *out = (uint16_t)port;
  return 0;
}

/* The last label of a name is no number: 1.2.3.400 is a mistyped address. */
static bool is_host_name(const char *host, size_t len) {
  const char *last = memrchr(host, '.', len);
  last = last != NULL ? last + 1 : host;
  if (last == host + len || (*last >= '0' && *last <= '9')) return false;
  for (size_t i = 0; i < len; i++) {
    char c = host[i];
    bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    if (!ok) return false;
  }
  return true;
}

static int parse_host(const char *text, size_t len, bool bracketed, laju_address *out) {
  laju_address address = {.port = out->port};
  if (len > LAJU_ADDRESS_HOST_MAX) return -1;
  memcpy(address.host, text, len);
  unsigned char number[sizeof(struct in6_addr)];
  if (bracketed) {
    if (inet_pton(AF_INET6, address.host, number) != 1) return -1;
    address.kind = LAJU_ADDRESS_IPV6;
  } else if (len == 0 || (len == 1 && text[0] == '*')) {
    memcpy(address.host, "*", 2);
    address.kind = LAJU_ADDRESS_ALL;
  } else if (inet_pton(AF_INET, address.host, number) == 1) {
    address.kind = LAJU_ADDRESS_IPV4;
  } else if (is_host_name(text, len)) {
    address.kind = LAJU_ADDRESS_NAME;
  } else {
    return -1;
  }
  *out = address;
  return 0;
}

static int complain_no_port(char why[LAJU_TEXT_SIZE], const char *text, size_t len) {
  char guess[32];
  uint16_t port;
  bool alone = parse_port(text, len, &port) == 0;
  snprintf(guess, sizeof guess, "127.0.0.1:%.*s", (int)(alone ? len : 0), text);
  return complain(why, text, len, "has no port", alone ? guess : NULL);
}

static int complain_scheme(char why[LAJU_TEXT_SIZE], const char *text, size_t len, const char *rest) {
  char guess[LAJU_SHOWN_SIZE];
  snprintf(guess, sizeof guess, "%.*s", (int)(text + len - rest), rest);
  return complain(why, text, len, "has a scheme", guess[0] != '\0' ? guess : NULL);
}

/* HOST:PORT, the host in brackets or without colons. */
static int parse_tcp(const char *text, size_t len, laju_address *out, char why[LAJU_TEXT_SIZE]) {
  const char *end = text + len, *host = text, *host_end;
  bool bracketed = text[0] == '[';
  if (bracketed) {
    host++;
    host_end = memchr(host, ']', len - 1);
    if (host_end == NULL) return complain(why, text, len, "has no closing bracket", NULL);
  } else {
    host_end = memchr(text, ':', len);
    if (host_end == NULL) return complain_no_port(why, text, len);
    if (memmem(text, len, "://", 3) == host_end) return complain_scheme(why, text, len, host_end + 3);
    if (memchr(host_end + 1, ':', (size_t)(end - host_end - 1)) != NULL) {
      return complain(why, text, len, "has several colons", "[IPv6]:PORT");
    }
  }
  const char *colon = bracketed ? host_end + 1 : host_end;
  if (colon == end || *colon != ':') return complain(why, text, len, "has no port", NULL);
  laju_address address = {.kind = LAJU_ADDRESS_OFF};
  if (parse_port(colon + 1, (size_t)(end - colon - 1), &address.port) < 0) {
    return complain(why, text, len, "has a port that is not 0 to 65535", NULL);
  }
  if (parse_host(host, (size_t)(host_end - host), bracketed, &address) < 0) {
    return complain(why, text, len, "has a host that is no address", NULL);
  }
  *out = address;
  return 0;
}

int laju_address_parse(const char *text, size_t len, laju_address *out, char why[LAJU_TEXT_SIZE]) {
  if (len == 0 || (len == 3 && memcmp(text, "off", 3) == 0)) {
    *out = (laju_address){.kind = LAJU_ADDRESS_OFF};
    return 0;
  }
  if (memchr(text, '\0', len) != NULL) return complain(why, text, len, "holds a control character", NULL);
  if (begins(text, len, UNIX_PREFIX)) return parse_unix(text, len, out, why);
  if (text[0] == '/') return complain(why, text, len, "is a path", "unix:/PATH");
  return parse_tcp(text, len, out, why);
}

bool laju_address_is_local(const laju_address *address) {
  switch (address->kind) {
    case LAJU_ADDRESS_OFF:
    case LAJU_ADDRESS_UNIX: return true;
    case LAJU_ADDRESS_IPV4: return strncmp(address->host, "127.", 4) == 0;
    case LAJU_ADDRESS_IPV6: {
      struct in6_addr number;
      return inet_pton(AF_INET6, address->host, &number) == 1 && IN6_IS_ADDR_LOOPBACK(&number);
    }
    case LAJU_ADDRESS_NAME: return strcasecmp(address->host, "localhost") == 0;
    case LAJU_ADDRESS_ALL: break;
  }
  return false;
}
