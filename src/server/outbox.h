/* Replies that wait for the end of the loop's turn, to go out together.
 *
 * A peer that is woken by the first reply is still awake for the next ones, where they follow at once; written one by one,
 * between reading and deciding, each of them wakes a peer that has gone to sleep again. Together they cost the kernel less
 * (a third less at pipeline 64 from fifty connections).
 *
 * Bounded: LAJU_OUTBOX_MAX connections and LAJU_OUTBOX_BYTES in all. Belongs to one worker's thread.
 */
#ifndef LAJU_SERVER_OUTBOX_H
#define LAJU_SERVER_OUTBOX_H

#include "base/buffer.h"

#define LAJU_OUTBOX_MAX 64             /* connections; nobody waits for more than so many others */
#define LAJU_OUTBOX_BYTES (128 * 1024) /* of all of them */

struct laju_connection;

typedef struct laju_outbox_entry {
  struct laju_connection *connection; /* NULL: gone meanwhile */
  size_t len;
} laju_outbox_entry;

/* All zeros is an empty one. */
typedef struct laju_outbox {
  laju_buffer bytes; /* the entries' replies, one after the other */
  size_t count, taken, taken_len;
  laju_outbox_entry entries[LAJU_OUTBOX_MAX];
} laju_outbox;

void laju_outbox_deinit(laju_outbox *outbox);

/* Copies a connection's replies in. False where there is no room, or no memory: then nothing changed. */
bool laju_outbox_put(laju_outbox *outbox, struct laju_connection *connection, const char *bytes, size_t len);

/* Takes the next entry out, in the order in which they came; `*bytes` stays until the next call. NULL: it is empty now. */
struct laju_connection *laju_outbox_take(laju_outbox *outbox, char **bytes, size_t *len);

/* Forgets what a connection has in it. */
void laju_outbox_drop(laju_outbox *outbox, const struct laju_connection *connection);

#endif
