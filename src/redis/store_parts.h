/* Inside `redis`: what the store is made of.
 *
 *     store.c         its life: options, handles, timers, closing
 *     store_submit.c  who waits: from submit to `done`
 *     store_parcel.c  what travels together
 *     store_send.c    from a server's queue to its link; deadlines and probes
 *     store_reply.c   from a reply to answers, or elsewhere
 *
 * A request's asks become pieces (redis/pieces.h) in the queues of servers. At the end of a loop turn the pieces of each queue are
 * packed into parcels, a command each, and what becomes of a parcel becomes of its pieces: answered, failed, or in a queue again.
 */
#ifndef LAJU_REDIS_STORE_PARTS_H
#define LAJU_REDIS_STORE_PARTS_H

#include "redis/servers.h"
#include "redis/slots.h"

typedef struct laju_parcel {
  laju_link_command command; /* first: it is what the link hands back */
  laju_store *store;
  laju_server *server;
  struct laju_parcel *newer, *older; /* among those of the server that are neither answered nor late */
  laju_link *link;                   /* that it was sent by */
  int64_t due_us;                    /* when the first of its pieces is */
  int64_t sent_us, guess_us;         /* guess_us: in a transaction, what the server's clock would show */
  size_t count;
  laju_piece pieces[]; /* store->parcel_size */
} laju_parcel;

/* A piece that waits before it is sent again. */
typedef struct laju_later {
  laju_piece piece;
  laju_server *server; /* NULL: it is none any more */
} laju_later;

struct laju_store {
  laju_servers servers;
  laju_store_counters counters;
  laju_script script;
  laju_slots slots;

  uv_prepare_t
      prepare; /* both end a turn: what callbacks behind `check` have submitted must not wait for the next event */
  uv_check_t check;
  uv_timer_t deadline, later_timer, probe;
  bool dirty; /* something may be sent */
  bool opened, closing;

  laju_parcel *spare; /* by `newer` */
  size_t parcel_size;
  laju_later *later;
  size_t later_count, later_size;

  char why[LAJU_LINK_WHY_SIZE];     /* the last failure that was no connection's */
  char refusal[LAJU_LINK_WHY_SIZE]; /* the last error that answered a check */
  void (*closed)(void *context);
  void *closed_context;
};

static inline int64_t laju_store_now_us(void) {
  return (int64_t)(uv_hrtime() / 1000);
}

/* ---- store.c ---- */

/* A server has failed in what was asked of it, or has answered it. `why` NULL: a connection's end, which it has told itself. */
void laju_store_blame(laju_server *server, const char *why);
void laju_store_praise(laju_server *server);

/* Sees to it that the oldest does not wait too long. */
void laju_store_watch(laju_store *store);

/* ---- store_submit.c ---- */

/* May something be sent to this server now? False: its breaker is open. */
bool laju_store_admit(laju_server *server);

/* The server is there, and has answered checks with an error: that must not pass unseen. */
void laju_store_note_refusal(laju_store *store, const char *error, size_t checks);

/* A piece gets no answer. `reply` is the error that its whole command was answered with, or NULL. */
void laju_store_fail_piece(laju_store *store, const laju_piece *piece, const redisReply *reply);

/* These asks of a piece are decided (`answers` NULL: they failed). The last of a request calls its `done`. */
void laju_store_conclude(laju_store *store, const laju_piece *piece, const laju_script_answer *answers);

/* A command's reply, or NULL. */
void laju_store_conclude_command(laju_store *store, uint64_t slot, const redisReply *reply);

/* Into this server's queue, again; NULL or one that was removed: wherever it belongs now. */
void laju_store_requeue(laju_store *store, const laju_piece *piece, laju_server *server);

/* All that are due fail; all: whether they are or not. */
void laju_store_expire(laju_store *store, int64_t now_us, bool all);

/* ---- store_parcel.c ---- */

/* An empty one, from the store's spares; NULL: no memory. */
laju_parcel *laju_parcel_new(laju_store *store, laju_server *server);
void laju_parcel_free(laju_parcel *parcel);

/* In the list of those that are under way to its server; unlist may be called twice. */
void laju_parcel_list(laju_parcel *parcel);
void laju_parcel_unlist(laju_parcel *parcel);

/* What becomes of all its pieces. */
void laju_parcel_requeue(laju_parcel *parcel, laju_server *server);
void laju_parcel_fail(laju_parcel *parcel, const redisReply *reply);

/* Does anybody wait for it still? */
bool laju_parcel_is_wanted(laju_parcel *parcel);

/* ---- store_send.c ---- */

/* Sends what can be sent of all queues. */
void laju_store_send_queues(laju_store *store);

/* What is overdue counts against its server, and is taken off its queue. */
void laju_store_count_late(laju_server *server, int64_t now_us);

/* The server's clock has shown this, to what was sent then. */
void laju_store_take_time(laju_server *server, int64_t server_us, int64_t sent_us);

/* Asks the server for a sign, as the breaker's probe. */
void laju_store_probe(laju_server *server);

/* ---- store_reply.c ---- */

/* The `done` of a parcel's command. */
void laju_parcel_done(laju_link_command *command, laju_link_fate fate, const redisReply *reply);

#endif
