/* What the fields of a JSON or CSV log stand for, by their names. Pure but for the value written; any thread.
 *
 * Known without being told, the better ones first (of several that a line has, the best counts):
 *
 *   time      time, timestamp, @timestamp, ts, time_iso8601, msec, time_local, datetime, StartUTC
 *   client    client_ip, remote_addr, remote_ip, ip, client, clientip, ClientHost
 *   method    method, request_method, http_method, RequestMethod
 *   target    request_uri, uri, target, url, path, RequestPath
 *   host      host, http_host, server_name, RequestHost
 *   request   request: "GET /x HTTP/1.1", or an object that holds any of these
 *   headers   headers: an object; its values are texts or lists of texts
 *   a header  user_agent, agent, referer, and http_NAME, where each `_` of NAME stands for `-`
 */
#ifndef LAJU_REPLAY_ACCESS_NAME_H
#define LAJU_REPLAY_ACCESS_NAME_H

#include <laju/laju.h>

#include "base/slice.h"
#include "config/policy.h"

#define LAJU_ACCESS_NAME_MAX 64   /* bytes of a field's name; longer ones are nothing to us */
#define LAJU_ACCESS_MAPPED_MAX 32 /* names that --fields may give */
#define LAJU_ACCESS_WHATS "time, client, method, target, host, request, headers or header:NAME"

typedef enum laju_access_role {
  LAJU_ROLE_NONE,
  LAJU_ROLE_TIME,
  LAJU_ROLE_CLIENT,
  LAJU_ROLE_METHOD,
  LAJU_ROLE_TARGET,
  LAJU_ROLE_HOST,
  LAJU_ROLE_REQUEST,
  LAJU_ROLE_HEADERS,
  LAJU_ROLE_HEADER, /* its name is in `header` */
} laju_access_role;

#define LAJU_ROLES (LAJU_ROLE_HEADER + 1)

typedef struct laju_access_name {
  char text[LAJU_ACCESS_NAME_MAX];
  char header[LAJU_PART_NAME_MAX];
  uint8_t len, header_len;
  uint8_t role; /* laju_access_role */
  uint8_t rank; /* of several names for one thing the lowest counts */
} laju_access_name;

/* The names that an operator gave; they rank above those that are known. Zeros: none. */
typedef struct laju_access_names {
  laju_access_name mapped[LAJU_ACCESS_MAPPED_MAX];
  size_t count;
} laju_access_names;

/* Reads "time=when,client=src,header:x-api-key=key". 0, or -1 with `why`. */
int laju_access_names_parse(laju_access_names *out, const char *text, char why[LAJU_TEXT_SIZE]);

/* What this field is; LAJU_ROLE_NONE where it is nothing to us. */
void laju_access_names_find(const laju_access_names *names, laju_slice name, laju_access_name *out);

#endif
