/* The shape that every door's codec has, so that the server drives all of them alike. A codec never sees a socket.
 *
 * Life of some bytes: the server reads them; `parse` adds requests to a batch; the batch is decided; `encode` writes the
 * replies; and again, until parse adds nothing more. The server then keeps the bytes that parse has not consumed, puts the
 * next ones behind them, and calls parse with all.
 *
 * A reply may have to be kept back (batch.h, `hold_us`, set by laju_batch_decide). A request that may need it is alone in its
 * batch: parse stops before it where others are in the batch already, and behind it. So with hold_us above 0 what encode
 * writes is that one reply: the server sends what it still has of earlier batches at once, this when the time has passed, and
 * calls parse again only then. A batch whose ask also closes the connection (laju_ask.close) is held all the same.
 */
#ifndef LAJU_PROTO_CODEC_H
#define LAJU_PROTO_CODEC_H

#include "base/buffer.h"
#include "proto/account.h"
#include "proto/batch.h"
#include "proto/service.h"

typedef struct laju_parsed {
  size_t consumed; /* bytes that may go once the batch's replies are written */
  bool waits;      /* the last request has no ask: its answer is pushed, and nothing is parsed until then */
  bool more;       /* the batch was full: call again with the rest before waiting for more bytes */
  bool closed;     /* nothing after this is read (the peer's error, or its wish): close once the replies are out */
} laju_parsed;

typedef enum laju_pushed {
  LAJU_PUSHED_NOTHING,
  LAJU_PUSHED_NEWS,   /* to a peer that has asked for them */
  LAJU_PUSHED_ANSWER, /* that was waited for: requests are parsed again */
  LAJU_PUSHED_LAST,   /* the same, and the connection ends behind it */
} laju_pushed;

typedef struct laju_codec {
  const char *name;       /* "http", "resp", "admin" */
  laju_door_name door;    /* what its requests are counted under */
  size_t connection_size; /* bytes of a connection's codec state: `connection` below, zeroed before init */
  size_t input_max;       /* an unfinished request never needs more than this many bytes kept */

  void (*init)(void *connection, laju_service *service, const laju_peer *peer);

  /* `bytes` begins at the first byte not yet consumed. It may have moved since the last call, and may be changed in place.
   * The codec remembers how far it has looked, so that a byte is not parsed again and again. */
  laju_parsed (*parse)(void *connection, char *bytes, size_t len, laju_batch *batch);

  /* Writes the replies of a decided batch, in order. `batch` holds only what this connection's last parse added. */
  void (*encode)(void *connection, const laju_batch *batch, laju_buffer *out);

  /* A request that has begun and is not finished (for the server's patience with slow clients). */
  bool (*unfinished)(const void *connection);

  /* The reply to a client that was too slow or came when there was no room, before closing; may write nothing. */
  void (*give_up)(void *connection, laju_buffer *out);

  /* Both may be NULL. Writes what is due without a request: the server asks when it has been told that there may be something
   * (laju_connections_push), and only while the peer has taken all that was written before. */
  laju_pushed (*push)(void *connection, laju_buffer *out);

  /* The connection is gone. */
  void (*leave)(void *connection);
} laju_codec;

extern const laju_codec laju_http_codec;
extern const laju_codec laju_resp_codec;
extern const laju_codec laju_admin_codec;

#endif
