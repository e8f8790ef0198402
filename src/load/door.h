/* The door that is loaded: where it is and what it speaks, as people write it:
 *
 *     resp://ADDR or ADDR     a Redis client's protocol      resp://127.0.0.1:6380   unix:/run/laju/resp.sock
 *     http://ADDR             HTTP/1.1                       http://[::1]:8080       http://unix:/run/laju/http.sock
 *     rediss://ADDR, https:// the same by TLS                rediss://laju:6380      https://localhost:8080
 *
 * redis:// stands for resp://, and resps:// for rediss://.
 *
 * ADDR is that of config/address.h, but for `off` and port 0; `*` is this machine. Pure; any thread.
 */
#ifndef LAJU_LOAD_DOOR_H
#define LAJU_LOAD_DOOR_H

#include "config/address.h"

#define LAJU_LOAD_DOOR_ALLOWED \
  "resp://ADDR, http://ADDR, rediss:// and https:// by TLS, or ADDR alone for resp; ADDR is HOST:PORT or unix:/PATH"
#define LAJU_LOAD_DOOR_SIZE (LAJU_ADDRESS_HOST_MAX + 32) /* bytes of a door in words, its terminating 0 included */

typedef enum laju_load_protocol { LAJU_LOAD_RESP, LAJU_LOAD_HTTP } laju_load_protocol;

typedef struct laju_load_door {
  laju_load_protocol protocol;
  bool tls;
  laju_address address;
} laju_load_door;

/* The name by which its certificate is to call it: the host, or this machine where it is a unix socket. */
const char *laju_load_door_host(const laju_load_door *door);

/* 0, or -1 with `why` as config/value.h has it. */
int laju_load_door_parse(const char *text, laju_load_door *out, char why[LAJU_TEXT_SIZE]);

/* The door with its protocol. */
void laju_load_door_show(const laju_load_door *door, char to[LAJU_LOAD_DOOR_SIZE]);

/* Its address alone: what stands in HTTP's Host, but for a unix socket. */
void laju_load_door_show_address(const laju_load_door *door, char to[LAJU_LOAD_DOOR_SIZE]);

#endif
