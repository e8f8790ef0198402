/* One connection to one Redis server, on libuv: commands go out in order, replies come back in that order, and a connection that
 * is lost is made again.
 *
 *     laju_link_new(&link, &shared, &options, &events, owner);     begins to connect
 *     laju_buffer_add(laju_link_out(link), bytes, len);            where laju_link_is_ready
 *     laju_link_add(link, &command);                               what was appended since the last is one command
 *     laju_link_flush(link);                                       once a loop turn
 *
 * Each try looks the name up again and tries all its addresses, within connect_timeout; then TLS; then the greeting (AUTH,
 * SELECT, CLIENT SETNAME, SCRIPT LOAD) in one write. Tries are LAJU_BACKOFF_MIN_MS to LAJU_BACKOFF_MAX_MS apart, longer and
 * jittered.
 *
 * What always holds:
 *   - each command that was added gets exactly one `done`; a connection's replies are never given to another connection's
 *     commands
 *   - a command that has not begun to leave by its deadline never does
 *   - a connection from which nothing has come for LAJU_LINK_SILENCE_MS, or longer if the owner waits longer for a reply, though one
 *     is due, is dropped: no error tells of a cut cable
 *   - a reply that is none of the protocol, or larger than LAJU_REPLIES_BYTES_MAX (redis/replies.h), drops the connection
 *
 * Commands are the caller's memory. Callbacks come from the loop, from laju_link_read, _drop, _move and _close, never from laju_link_add
 * or _flush. From within a callback the link may be used in every way. Everything belongs to the loop's thread.
 */
#ifndef LAJU_REDIS_LINK_H
#define LAJU_REDIS_LINK_H

#include <hiredis/hiredis.h>
#include <uv.h>

#include "base/buffer.h"
#include "base/store_url.h"
#include "tls/client.h"

#define LAJU_LINK_SILENCE_MS 1000
#define LAJU_LINK_READ_SIZE (64 << 10)
#define LAJU_LINK_WHY_SIZE 256

typedef struct laju_link laju_link;
struct laju_store_counters;

/* What the links of one loop have in common; the owner's memory, which outlives them. */
typedef struct laju_link_shared {
  uv_loop_t *loop;
  laju_tls_client *tls; /* NULL: none of them speaks TLS */
  int64_t connect_timeout_us;
  int64_t timeout_us;                   /* how long a reply is waited for at most; 0: as LAJU_LINK_SILENCE_MS */
  struct laju_store_counters *counters; /* connects, connect_failures, bytes_out, bytes_in are counted here */
  uint64_t random;                      /* of the jitter; seeded by the owner, not 0 */
  char *read_buffer;                    /* LAJU_LINK_READ_SIZE bytes */
} laju_link_shared;

/* Texts must outlive the link, the place need not. */
typedef struct laju_link_options {
  const char *unix_path; /* NULL or "": none, but */
  laju_store_place place;
  const char *user, *password; /* NULL or "": no AUTH; AUTH with a password alone */
  uint32_t database;           /* 0: no SELECT */
  bool tls;
  bool script;           /* SCRIPT LOAD of laju's script, and no link without it */
  bool subscriber;       /* all replies behind the greeting go to on_push; commands are added with NULL */
  uint32_t commands_max; /* under way at once */
} laju_link_options;

typedef struct laju_link_events {
  /* It takes commands: it is greeted, or takes them again after the socket did not. */
  void (*on_ready)(void *owner, laju_link *link);
  /* The connection is gone (`greeted`: it was one), or a try to connect failed. laju_link_why says it. `done` of all commands
   * has been called. The next try comes by itself. */
  void (*on_lost)(void *owner, laju_link *link, bool greeted);
  /* A reply that no command waits for. NULL, where there can be none: the connection is dropped then. */
  void (*on_push)(void *owner, laju_link *link, const redisReply *reply);
} laju_link_events;

typedef enum laju_link_fate {
  LAJU_LINK_REPLIED, /* `reply` is the server's, errors included; it lives until `done` returns */
  LAJU_LINK_LOST,    /* the connection was lost; it may have run */
  LAJU_LINK_UNSENT,  /* the connection was lost, or its deadline passed, before it left: it has not run */
} laju_link_fate;

typedef struct laju_link_command laju_link_command;
struct laju_link_command {
  void (*done)(laju_link_command *command, laju_link_fate fate, const redisReply *reply);
  int64_t deadline_us; /* on uv_hrtime's clock; INT64_MAX: none */
  uint32_t
      replies; /* how many it brings, at least 1 (MULTI to EXEC: many); `done` gets the last, or the first that is an error */
  /* the link's own */
  uint32_t awaited;
  uint64_t start, end; /* in the stream of bytes sent */
  laju_link_command *next;
};

/* Begins to connect. LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM. */
int laju_link_new(laju_link **out, laju_link_shared *shared, const laju_link_options *options,
                  const laju_link_events *events, void *owner);

/* Closes: `done` of all commands comes from within, no event after that. It frees itself when the loop has closed its handles,
 * then calls `closed` (NULL is allowed). */
void laju_link_close(laju_link *link, void (*closed)(void *context), void *context);

/* Is it greeted? */
bool laju_link_is_connected(const laju_link *link);

/* Would it take a command, and send it at the next flush: greeted, nothing stuck before it, less than commands_max under way? */
bool laju_link_is_ready(const laju_link *link);

/* Where the bytes of the next command are appended. */
laju_buffer *laju_link_out(laju_link *link);

/* What was appended is one command (NULL: of a subscriber, without a reply of its own). False: no memory, or not greeted; the
 * bytes are dropped, `done` is not called. */
bool laju_link_add(laju_link *link, laju_link_command *command);

/* Sends what the socket takes; the rest goes when it takes it. */
void laju_link_flush(laju_link *link);

/* Takes what has come already, as the loop would in its next turn. Not from within a callback. */
void laju_link_read(laju_link *link);

/* Gives the connection up, for a reason that is told in laju_link_why, and connects again. on_lost is called. */
void laju_link_drop(laju_link *link, const char *why);

/* The same, and the next try goes to another place, at once. */
void laju_link_move(laju_link *link, const laju_store_place *place);

/* Why the last connection or try ended, for a log: "" where none did. Changes with the next one's end. */
const char *laju_link_why(const laju_link *link);

#endif
