/* One connection of a load: requests out, replies counted, how long each took.
 *
 * All clients of a thread share what they need in common: the socket's address, the bytes of a request, the buffers, the keys,
 * the tally and the histogram. A client never decides when to send: its owner does, and is called back.
 * A request's time runs from the moment that its owner says it was due, not from when it got out.
 *
 * Everything belongs to the thread of the loop, except that tally and histogram may be read by any.
 */
#ifndef LAJU_LOAD_CLIENT_H
#define LAJU_LOAD_CLIENT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/buffer.h"
#include "base/histogram.h"
#include "load/keys.h"
#include "load/reply.h"
#include "load/request.h"
#include "tls/client.h"
#include "tls/stream.h"

#define LAJU_LOAD_READ_SIZE (256 * 1024)

typedef struct laju_load_client laju_load_client;

typedef struct laju_load_clients {
  uv_loop_t *loop;
  const struct sockaddr *address;
  socklen_t address_len;
  laju_load_protocol protocol;
  const laju_load_request *request;
  const laju_buffer *greeting; /* sent first, and answered by one reply: AUTH; empty: nothing */
  unsigned pipeline;
  laju_tls_client *tls; /* NULL: none; else all speak it, */
  const char *host;     /* to who is called so */
  char *read_buffer;    /* LAJU_LOAD_READ_SIZE */
  char *plain;          /* the same, of what TLS has opened; NULL without it */
  laju_buffer cipher;   /* what is about to go out by TLS */
  char *sending;        /* `pipeline` copies of the request, whose keys are written anew for each time they are sent */
  laju_load_keys keys;
  laju_load_tally tally;
  laju_histogram latency;
  _Atomic uint64_t lost;   /* requests whose connection ended before their reply */
  _Atomic uint64_t broken; /* connections that ended, those left out of which nothing was lost */

  /* Called back: */
  void (*on_ready)(laju_load_client *client);                   /* may send from now on */
  void (*on_replies)(laju_load_client *client, unsigned count); /* that many fewer are outstanding */
  void (*on_lost)(laju_load_client *client, int error); /* the connection is gone, and what is outstanding: an errno,
                                                                    or 0 where the server ended it */
  void (*on_gone)(laju_load_client *client);            /* and its handle is free: it may connect again */
  void (*on_unfit)(laju_load_client *client, const char *text); /* no load can be put on this server; `text` says why */
} laju_load_clients;

typedef enum laju_load_state {
  LAJU_LOAD_CLOSED,
  LAJU_LOAD_CONNECTING,
  LAJU_LOAD_SHAKING, /* TLS */
  LAJU_LOAD_GREETING,
  LAJU_LOAD_READY,
  LAJU_LOAD_CLOSING,
} laju_load_state;

typedef struct laju_load_group {
  uint64_t due_ns;
  unsigned count;
} laju_load_group;

struct laju_load_client {
  laju_load_clients *all;
  void *owner;
  uv_poll_t poll;
  int fd;
  laju_load_state state;
  unsigned outstanding;    /* requests without a reply, at most `pipeline` */
  uint64_t answered;       /* replies since it connected */
  laju_load_group *groups; /* a ring of `pipeline`: what is outstanding, oldest first */
  unsigned first_group, group_count;
  laju_tls_stream *tls;
  laju_buffer unsent; /* bytes that the socket did not take yet */
  laju_load_reader reader;
  laju_load_tally greeted;
};

/* 0, or a libuv error where memory ran out. Deinit once it is LAJU_LOAD_CLOSED. */
int laju_load_client_init(laju_load_client *client, laju_load_clients *all, void *owner);
void laju_load_client_deinit(laju_load_client *client);

/* Begins to connect; on_ready or on_lost follows. 0, or a negative errno, and nothing has begun. */
int laju_load_client_connect(laju_load_client *client);

/* Sends `count` requests, which laju_load_client_expect has noted. */
void laju_load_client_send(laju_load_client *client, unsigned count);

/* Notes that the next `count` requests were due at `due_ns` (uv_hrtime). No more than `pipeline` may be outstanding. */
void laju_load_client_expect(laju_load_client *client, uint64_t due_ns, unsigned count);

/* Leaves a server that has said it answers nothing more on this connection; on_lost and on_gone follow. What is outstanding all the
 * same is lost. */
void laju_load_client_leave(laju_load_client *client);

/* Ends the connection, whatever state it is in; what is outstanding is lost. */
void laju_load_client_close(laju_load_client *client);

#endif
