/* What the files of the connections' driver share. Nobody else includes it: connection.h is for others.
 *
 *   connection.c   coming and going, deadlines, reading, and what comes next
 *   answering.c    bytes into replies: batches, and replies that have to wait
 *   sending.c      replies to the peer
 *   secure.c       TLS between the wire and all that
 *
 * Any of these calls may close the connection; it stays valid until the loop turns.
 */
#ifndef LAJU_SERVER_CONNECTION_OWN_H
#define LAJU_SERVER_CONNECTION_OWN_H

#include "server/connection.h"
#include "server/held.h"

/* Replies that the peer has not taken yet. While there are some, nothing is read. */
typedef struct laju_unsent {
  uv_write_t request;
  size_t len;
  size_t left; /* bytes that the peer had still to take when it was last looked at: less since then is progress */
  char bytes[];
} laju_unsent;

struct laju_connection {
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } io;
  laju_connections *all;
  const laju_door *door;
  laju_connection *next, *prev;
  laju_deadline deadline;
  laju_buffer input; /* bytes not yet consumed; freed while there are none */
  laju_unsent *unsent;
  laju_parked *parked;    /* a batch that waits for the store, ... */
  laju_held_answer *held; /* ... or an answer that waits its time: while there is one, nothing is parsed */
  bool promised;          /* nor while one is to be pushed */
  laju_tls_stream *tls;   /* NULL: the bytes are plain */
  bool due;               /* it has waited, and goes out as soon as nothing is unsent */
  size_t kept;            /* its share of all->kept */
  size_t discarded;
  bool late; /* some of its replies are in the outbox */
  bool reading;
  bool more;      /* `input` has requests that wait for the output to drain */
  bool timed;     /* the request that has begun has its deadline */
  bool ending;    /* no more requests: goes when its replies are out */
  bool lingering; /* shut for writing; what comes is thrown away */
  bool peer_done; /* the peer's FIN has come */
  _Alignas(max_align_t) unsigned char codec[];
};

static inline const laju_codec *laju_connection_codec(const laju_connection *connection) {
  return connection->door->codec;
}

/* Has something begun that must end in time: a request, or the greeting of TLS? */
static inline bool laju_connection_unfinished(const laju_connection *connection) {
  if (connection->tls != NULL && !laju_tls_stream_is_greeted(connection->tls)) return true;
  return laju_connection_codec(connection)->unfinished(connection->codec);
}

/* Is it waiting for an answer? */
static inline bool laju_connection_waits(const laju_connection *connection) {
  return connection->parked != NULL || connection->held != NULL || connection->promised;
}

/* May it be answered now? */
static inline bool laju_connection_can_answer(const laju_connection *connection) {
  return connection->unsent == NULL && !laju_connection_waits(connection) && !connection->ending &&
         !uv_is_closing(&connection->io.handle);
}

/* ---- connection.c ---- */

void laju_connection_close(laju_connection *connection);
void laju_connection_count_and_close(laju_connection *connection, _Atomic uint64_t *counter);

/* After anything that happened: what this connection waits for now. */
void laju_connection_settle(laju_connection *connection);

/* ---- answering.c ---- */

/* Takes bytes that were read: answers what is complete of them and keeps the rest. */
void laju_connection_feed(laju_connection *connection, char *bytes, size_t len);

/* Answers what is complete of the bytes that are kept. */
void laju_connection_answer_input(laju_connection *connection);

/* Goes on with an answer that is `due`. */
void laju_connection_release(laju_connection *connection);

/* Writes what the codec has to push, if the peer has taken all else. Was there anything? */
bool laju_connection_push(laju_connection *connection);

/* Forgets the answer that it waits for. */
void laju_connection_stop_waiting(laju_connection *connection);

/* ---- sending.c ---- */

/* Writes what the worker's output buffer holds for this connection, after what it has in the outbox. Where that is stuck,
 * this is a last word that does not go out any more: nothing else is written for a connection that has something late. */
void laju_connection_flush(laju_connection *connection);

/* The same at the turn's end, for a connection that goes on afterwards. */
void laju_connection_flush_late(laju_connection *connection);

/* The bytes that its peer has not taken: those in the kernel, too, which may be all that is left for as long as he reads slowly. */
size_t laju_connection_left(const laju_connection *connection);

/* Writes bytes of the wire. Only while nothing is unsent: there is room for one rest. */
void laju_connection_send_raw(laju_connection *connection, const char *bytes, size_t len);

/* Sends all that is in the outbox. */
void laju_connections_send_late(laju_connections *all);

/* ---- secure.c ---- */

/* Makes the stream of a connection whose door speaks TLS. False: no memory. */
bool laju_connection_open_tls(laju_connection *connection);

/* Takes bytes of the wire, and feeds what they hold. */
void laju_connection_decrypt(laju_connection *connection, const char *bytes, size_t len);

/* Plain bytes into all->cipher. False: the stream is broken, or there is no memory. */
bool laju_connection_encrypt(laju_connection *connection, const char *bytes, size_t len);

/* Sends what TLS itself has to say: greetings, alerts, tickets. While replies are unsent or late it stays in the stream, and goes
 * out with them. */
void laju_connection_speak_tls(laju_connection *connection);

/* Tells the peer that nothing more comes, where it speaks TLS. */
void laju_connection_end_tls(laju_connection *connection);

#endif
