/* The connections of one worker: bytes in, replies out, and the patience with those who are slow.
 *
 * One driver for every door: a codec parses and encodes, the limiter decides, and this moves the bytes. A wake-up costs one
 * read and one write, however many requests are in it; the writes of all connections come last, together (outbox.h). What all connections of a worker share (the read buffer, the batch,
 * the output) is used again for each; an idle connection holds its handle and its codec's state, no buffers.
 *
 * Bounds, and what happens there (each is counted):
 *   - replies that the peer does not take: nothing more is read from it until all are gone, so what waits is at most
 *     LAJU_OUTPUT_FLUSH and the replies of one batch; no byte taken for LAJU_STUCK_MS, or, while draining, for
 *     LAJU_DRAIN_STUCK_MS: closed (`stuck`)
 *   - a request not complete LAJU_REQUEST_MS after it began: the codec's last word, then closed (`slow`);
 *     the same for a greeting of TLS, without a last word. OpenSSL keeps some 40 KiB of one, and ends those that grow (`tls`)
 *   - no request for the door's idle_ms: closed (`idle`)
 *   - an unfinished request longer than the codec's input_max: the codec's last word, then closed (`oversized`)
 *   - what is kept for a connection (of a request, of replies): LAJU_KEPT_FREE each, and LAJU_KEPT_MAX of a worker beyond that; who
 *     then wants more is closed (`starved`). So strangers who begin and do not end cannot take all memory, and small requests
 *     go on being served meanwhile. No memory for a buffer: the same
 *   - answers held back for their delay (proto/batch.h, hold_us): LAJU_HELD_MAX a worker, LAJU_HOLD_MAX_MS each; beyond that they
 *     go at once or earlier (`unheld`). While one is held nothing more of its connection is parsed, and little more than
 *     LAJU_READ_SIZE is read; a peer that goes away frees it
 *   - news for a peer that does not take them: they are left out until it has taken what was written before
 *   - a batch that waits for the shared store (proto/parked.h), which takes no longer than the store's timeout: one a connection,
 *     and the same as above meanwhile, except that a peer which only has sent its FIN still gets the replies. Its bytes count as
 *     kept. Where the connection closes, the store's answer is dropped when it comes
 * A connection that we end is first only shut for writing, and what still comes is thrown away for up to LAJU_LINGER_MS and
 * LAJU_LINGER_BYTES, since closing with unread bytes would reset it and lose the last reply on its way.
 * A peer that has sent its FIN still gets the replies to all that it sent before.
 *
 * Everything here belongs to the worker's thread, except that counters may be read by any.
 */
#ifndef LAJU_SERVER_CONNECTION_H
#define LAJU_SERVER_CONNECTION_H

#include <stdatomic.h>
#include <uv.h>

#include "base/count.h"
#include "proto/codec.h"
#include "proto/parked.h"
#include "server/door.h"
#include "server/outbox.h"
#include "server/wheel.h"

#define LAJU_READ_SIZE 65536           /* bytes of one read */
#define LAJU_OUTPUT_FLUSH (256 * 1024) /* replies are written at the latest when there are so many bytes */
#define LAJU_KEPT_FREE 16384
#define LAJU_KEPT_MAX (64 << 20)
#define LAJU_REQUEST_MS 10000
#define LAJU_STUCK_MS 30000
#define LAJU_DRAIN_STUCK_MS 2000
#define LAJU_HELD_MAX 10000
#define LAJU_HOLD_MAX_MS 60000
#define LAJU_LINGER_MS 2000
#define LAJU_LINGER_BYTES (1024 * 1024)

/* Each has one writer. */
typedef struct laju_counters {
  _Atomic uint64_t accepted, refused, accept_errors;
  _Atomic uint64_t idle, slow, stuck, oversized, starved;
  _Atomic uint64_t broken; /* what came was no TLS, or its certificate did not do */
  _Atomic uint64_t unheld; /* answers that were not held back for as long as they should */
  _Atomic uint64_t cut;    /* connections with a request or replies outstanding when the drain's time was over */
} laju_counters;

typedef struct laju_connection laju_connection;

typedef struct laju_connections laju_connections;

struct laju_connections {
  uv_loop_t *loop;
  laju_service *service;
  laju_way *way;         /* the worker's */
  laju_account *account; /* the same; NULL: nothing is counted */
  laju_batch *batch;
  char *read_buffer;
  laju_buffer out;
  char *plain;            /* LAJU_READ_SIZE bytes: what TLS has decrypted, */
  laju_buffer cipher;     /* and what it has encrypted */
  laju_outbox outbox;     /* replies of this turn, which are sent when it ends */
  laju_connection *first; /* all that are not closed */
  size_t count;           /* those whose close has not completed included */
  size_t held_count;      /* answers held back */
  laju_lot lot;           /* batches that wait for the store, those of connections that are gone among them */
  size_t kept;            /* bytes of all, beyond what each may keep freely */
  laju_wheel wheel;
  uv_timer_t timer; /* runs while the wheel has entries */
  uv_prepare_t turn;
  uv_check_t turned;
  int64_t now_us; /* the limiter's clock, read once a loop turn; below 0: not yet in this turn */
  bool turning;   /* sockets are being read: the turn's end is still to come */
  bool draining;
  uint64_t random; /* which decisions are logged */
  laju_counters counters;
  void (*on_closed)(laju_connections *connections); /* one that was opened is gone */
};

/* 0, or a libuv error; then nothing is left to deinit. */
int laju_connections_init(laju_connections *connections, uv_loop_t *loop, laju_service *service, laju_way *way,
                          void (*on_closed)(laju_connections *connections));

/* Stops its timer and handles; the loop must turn once more before deinit, with no connection left and no batch parked. */
void laju_connections_stop(laju_connections *connections);
void laju_connections_deinit(laju_connections *connections);

/* Serves an accepted socket, which is closed in the end, whatever happens. */
void laju_connections_open(laju_connections *connections, const laju_door *door, int fd);

/* Tells an accepted socket that there is no room, if the codec has words for it, and closes it. */
void laju_connections_refuse(laju_connections *connections, const laju_door *door, int fd);

/* Parts from those whose deadline has passed at `now_ms` of the loop's clock. A timer calls it. */
void laju_connections_expire(laju_connections *connections, uint64_t now_ms);

/* Something may be due to connections whose codec pushes. Not from within a codec's call. */
void laju_connections_push(laju_connections *connections);

/* From now on a connection ends as soon as no request of it has begun, and who takes nothing of his replies holds up the end no
 * longer than twice LAJU_DRAIN_STUCK_MS. */
void laju_connections_drain(laju_connections *connections);

/* Closes all at once. */
void laju_connections_cut(laju_connections *connections);

#endif
