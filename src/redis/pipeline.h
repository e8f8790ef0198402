/* Inside `redis`: a connection's commands: their bytes that have not left yet, and who waits for which reply. Pure.
 *
 * What lies before `committed` has left, or must leave because a part of it has; a command beyond that has not run for certain. */
#ifndef LAJU_REDIS_PIPELINE_H
#define LAJU_REDIS_PIPELINE_H

#include "base/buffer.h"
#include "redis/link.h"

typedef struct laju_pipeline {
  laju_buffer out; /* from `sent` on its bytes have not left */
  size_t sent;
  /* Places in the stream of all bytes of the connection: of out.data[0]; of what must leave; of the end of what was added. */
  uint64_t base, committed, added;
  laju_link_command *first, *last; /* under way, in the order of their replies */
  uint32_t count;
} laju_pipeline; /* all zeros is empty */

void laju_pipeline_deinit(laju_pipeline *pipeline);

/* What was appended to `out` since the last call is a command (NULL: without replies of its own). False: no memory for its
 * bytes, which are dropped. */
bool laju_pipeline_add(laju_pipeline *pipeline, laju_link_command *command);

/* Drops what was appended to `out` since. */
void laju_pipeline_forget(laju_pipeline *pipeline);

/* Of the bytes from `sent` on, `len` have left, or must. */
void laju_pipeline_sent(laju_pipeline *pipeline, size_t len);
void laju_pipeline_commit(laju_pipeline *pipeline, size_t len);

/* A reply has come. The command whose last one it is, taken out; NULL: more are to come for the first. Not on an empty one. */
laju_link_command *laju_pipeline_take(laju_pipeline *pipeline);

/* What need not leave, and is past its deadline, is taken out and done: UNSENT. */
void laju_pipeline_drop_late(laju_pipeline *pipeline, int64_t now_us);

/* The connection is lost: empties it, then all commands are done, LOST or UNSENT. */
void laju_pipeline_cut(laju_pipeline *pipeline);

#endif
