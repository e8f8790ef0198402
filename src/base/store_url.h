/* Where a shared store is, as a URL says it.
 *
 *     redis://[[user]:password@]host[:6379][/database]          one server; rediss:// with TLS
 *     unix:/path                                                the same by a unix socket
 *     redis+sentinel://[[user]:password@]h1[:26379],h2,h3/name[/database]   the primary that Sentinel calls so; rediss+sentinel://
 *     redis+cluster://[[user]:password@]h1[:6379],h2            a cluster, known by some of its nodes; rediss+cluster://
 *
 * Hosts are names, IPv4 addresses or [IPv6] ones; user and password may be written with %XX. A user alone (user@) is one whose
 * password is told elsewhere. Pure; any thread.
 */
#ifndef LAJU_BASE_STORE_URL_H
#define LAJU_BASE_STORE_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_STORE_PLACES_MAX 16
#define LAJU_STORE_HOST_MAX 255
#define LAJU_STORE_URL_MAX 4096 /* bytes of a URL */
#define LAJU_STORE_UNIX_MAX 107 /* bytes of a unix socket's path */
#define LAJU_STORE_TEXT_MAX 256 /* of a user, a password, a primary's name */
#define LAJU_STORE_DATABASE_MAX 65535
#define LAJU_STORE_PORT 6379
#define LAJU_STORE_SENTINEL_PORT 26379

typedef enum laju_store_kind {
  LAJU_STORE_NONE,
  LAJU_STORE_SINGLE,
  LAJU_STORE_SENTINEL,
  LAJU_STORE_CLUSTER
} laju_store_kind;

typedef struct laju_store_place {
  char host[LAJU_STORE_HOST_MAX + 1]; /* an IPv6 address without brackets */
  uint16_t port;
} laju_store_place;

typedef struct laju_store_url {
  laju_store_kind kind; /* NONE where all is zero */
  bool tls;
  char unix_path[LAJU_STORE_UNIX_MAX + 1]; /* SINGLE: in place of a host; else "" */
  laju_store_place places[LAJU_STORE_PLACES_MAX];
  size_t place_count;
  char user[LAJU_STORE_TEXT_MAX + 1], password[LAJU_STORE_TEXT_MAX + 1]; /* "": none */
  char name[LAJU_STORE_TEXT_MAX + 1];                                    /* SENTINEL: the primary's */
  uint32_t database;                                                     /* 0 in a cluster */
} laju_store_url;

/* 0; or -1, and `why` (LAJU_STORE_WHY_SIZE bytes) says what is wrong and what is allowed, never the password. */
#define LAJU_STORE_WHY_SIZE 256
int laju_store_url_parse(laju_store_url *out, const char *text, size_t len, char why[LAJU_STORE_WHY_SIZE]);

/* Do both lead to the same place, by the same user and password? */
bool laju_store_url_same(const laju_store_url *a, const laju_store_url *b);

/* The URL for people to read: without user and password, at most its first three hosts. "" of NONE. */
#define LAJU_STORE_SHOWN_SIZE 1200
void laju_store_url_show(char to[LAJU_STORE_SHOWN_SIZE], const laju_store_url *url);

#endif
