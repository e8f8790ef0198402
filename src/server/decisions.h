/* Decisions in the log, for those who ask for it (log.decisions): a line each, keys as operators see them (proto/shown.h).
 *
 * Workers write into memory, and a thread from there to stderr: nobody waits for whoever reads the log. Where LAJU_DECISIONS_BYTES wait
 * to be written, lines are dropped, and counted. Any thread.
 */
#ifndef LAJU_SERVER_DECISIONS_H
#define LAJU_SERVER_DECISIONS_H

#include "proto/account.h"
#include "proto/service.h"

#define LAJU_DECISIONS_BYTES (1 << 20)
#define LAJU_DECISIONS_END_MS 1000 /* how long the end waits for the last lines to be written */

typedef struct laju_decisions laju_decisions;

/* `hash_key`: two random words, those of the worker's tops. LAJU_ERR_MEMORY, LAJU_ERR_SYSTEM. */
int laju_decisions_new(laju_decisions **out, const uint64_t hash_key[2]);

/* Writes what is left, and frees it; nobody uses it any more. NULL is allowed. */
void laju_decisions_free(laju_decisions *decisions);

/* Writes those of a batch that the terms ask for. `random` is the caller's, any number at first but 0. */
void laju_decisions_write(laju_decisions *decisions, const laju_terms *terms, laju_door_name door,
                          const laju_batch *batch, uint64_t *random);

/* Lines that were dropped. */
uint64_t laju_decisions_dropped(const laju_decisions *decisions);

#endif
