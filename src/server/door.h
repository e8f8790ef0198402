/* A door: a protocol and the sockets that it listens on.
 *
 * Each worker has its own listening sockets of a TCP address (SO_REUSEPORT: the kernel spreads the connections), and its own
 * descriptor of the one unix socket. All are opened at start, before any worker runs, so that what cannot be bound is told
 * at once. A port that another process listens on is refused, even where that one would share it: two processes would each
 * admit the whole limit.
 *
 * A unix socket's file that nobody answers on is left from a crash and is replaced; laju_door_close removes its own.
 */
#ifndef LAJU_SERVER_DOOR_H
#define LAJU_SERVER_DOOR_H

#include <sys/types.h>

#include "proto/codec.h"
#include "server/endpoint.h"
#include "server/tls.h"

#define LAJU_BACKLOG \
  4096 /* connections that wait to be accepted, per socket (net.core.somaxconn is the kernel's bound) */

typedef struct laju_door {
  const laju_codec *codec;
  uint64_t
      idle_ms; /* a connection without a request for this long is closed; 0: never (TCP's keepalive finds the dead) */
  bool local;  /* only this machine can reach it */
  bool is_unix;
  laju_tls *tls;       /* NULL: it speaks plainly. Set by whoever has opened it, whose it stays */
  bool shared;         /* all workers accept from one socket, which wakes them all */
  laju_endpoint bound; /* the address really bound */
  size_t worker_count;
  int *sockets;      /* a descriptor for each worker; -1 once it has taken it over */
  dev_t file_device; /* the unix socket's file, to know it again */
  ino_t file_inode;
} laju_door;

/* Opens the door at `address` for `worker_count` workers. 0, or LAJU_ERR_TEXT, LAJU_ERR_SYSTEM, LAJU_ERR_MEMORY with `why`.
 * The door owns the sockets that nobody has taken. */
int laju_door_open(laju_door *out, const laju_codec *codec, const char *address, size_t worker_count,
                   char why[LAJU_TEXT_SIZE]);
void laju_door_close(laju_door *door);

/* The same of a socket that listens already, and that somebody else keeps: all workers accept from it, and a unix socket's file stays
 * when the door closes. The door owns `fd`, even on an error. */
int laju_door_adopt(laju_door *out, const laju_codec *codec, int fd, size_t worker_count, char why[LAJU_TEXT_SIZE]);

/* The socket of a worker (0-based); the caller owns it from now on. */
int laju_door_take(laju_door *door, size_t worker);

/* Where a connection that was accepted here comes from. */
laju_peer laju_door_peer(const laju_door *door, int fd);

#endif
