#include "load/door.h"

#include <stdio.h>
#include <string.h>

#include "config/value.h"

#define SCHEME_END "://"

/* The first of a kind is what is shown. */
static const struct scheme {
  const char *word;
  laju_load_protocol protocol;
  bool tls;
} schemes[] = {
    {"resp", LAJU_LOAD_RESP, false}, {"redis", LAJU_LOAD_RESP, false}, {"rediss", LAJU_LOAD_RESP, true},
    {"resps", LAJU_LOAD_RESP, true}, {"http", LAJU_LOAD_HTTP, false},  {"https", LAJU_LOAD_HTTP, true},
};

static int complain(char why[LAJU_TEXT_SIZE], const char *text, const char *problem) {
  return laju_complain(why, text, strlen(text), problem, NULL, LAJU_LOAD_DOOR_ALLOWED);
}

/* What comes behind the scheme, or NULL where that is not known. */
static const char *read_scheme(const char *text, laju_load_door *out) {
  const char *end = strstr(text, SCHEME_END);
  if (end == NULL) return text;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    size_t len = strlen(schemes[i].word);
    if (len != (size_t)(end - text) || memcmp(text, schemes[i].word, len) != 0) continue;
    out->protocol = schemes[i].protocol;
    out->tls = schemes[i].tls;
    return end + strlen(SCHEME_END);
  }
  return NULL;
}

int laju_load_door_parse(const char *text, laju_load_door *out, char why[LAJU_TEXT_SIZE]) {
  laju_load_door door = {.protocol = LAJU_LOAD_RESP};
  const char *address = read_scheme(text, &door);
  if (address == NULL) return complain(why, text, "has a scheme that is not known here");
  size_t len = strlen(address);
  if (strncmp(address, "unix:", 5) != 0) {
    const char *path = strchr(address, '/');
    if (path != NULL && path[1] != '\0') return complain(why, text, "has a path, which belongs into --command");
    if (path != NULL) len--;
  }
  if (laju_address_parse(address, len, &door.address, why) < 0) return -1;
  bool is_tcp = door.address.kind != LAJU_ADDRESS_UNIX;
  if (door.address.kind == LAJU_ADDRESS_OFF || (is_tcp && door.address.port == 0)) {
    return complain(why, text, "is no door that can be reached");
  }
  if (door.address.kind == LAJU_ADDRESS_ALL) {
    door.address.kind = LAJU_ADDRESS_IPV4;
    memcpy(door.address.host, "127.0.0.1", sizeof "127.0.0.1");
  }
  *out = door;
  return 0;
}

void laju_load_door_show_address(const laju_load_door *door, char to[LAJU_LOAD_DOOR_SIZE]) {
  const laju_address *address = &door->address;
  switch (address->kind) {
    case LAJU_ADDRESS_UNIX: snprintf(to, LAJU_LOAD_DOOR_SIZE, "unix:%s", address->host); break;
    case LAJU_ADDRESS_IPV6: snprintf(to, LAJU_LOAD_DOOR_SIZE, "[%s]:%u", address->host, address->port); break;
    default: snprintf(to, LAJU_LOAD_DOOR_SIZE, "%s:%u", address->host, address->port); break;
  }
}

void laju_load_door_show(const laju_load_door *door, char to[LAJU_LOAD_DOOR_SIZE]) {
  char address[LAJU_LOAD_DOOR_SIZE];
  size_t i = 0;
  while (schemes[i].protocol != door->protocol || schemes[i].tls != door->tls) i++;
  laju_load_door_show_address(door, address);
  snprintf(to, LAJU_LOAD_DOOR_SIZE, "%s://%.*s", schemes[i].word, LAJU_LOAD_DOOR_SIZE - 10, address);
}

const char *laju_load_door_host(const laju_load_door *door) {
  return door->address.kind == LAJU_ADDRESS_UNIX ? "localhost" : door->address.host;
}
