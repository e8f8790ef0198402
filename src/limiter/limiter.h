/* A check's whole way, for the daemon: what <laju/laju.h> says of laju_limiter, with the clock read by the caller.
 *
 * The public functions (laju_limiter_check, ...) read the clock, validate, and call these. The doors have validated what
 * came from outside, and read the clock once a loop turn. Any thread.
 */
#ifndef LAJU_LIMITER_LIMITER_H
#define LAJU_LIMITER_LIMITER_H

#include "base/buffer.h"
#include "table/table.h"
#include <laju/laju.h>

/* As laju_limiter_new, for one that works with a shared store: a sixteenth of its memory is for denials. */
int laju_limiter_new_shared(laju_limiter **out, const laju_limiter_options *options);

/* Its memory of denials (table/denials.h); NULL unless it is one of laju_limiter_new_shared. */
laju_denials *laju_limiter_denials(laju_limiter *limiter);

/* The limiter's clock: microseconds since the epoch. */
int64_t laju_limiter_now_us(const laju_limiter *limiter);

/* All charged or none, but for those under shadow rules; true where allowed. 1 to LAJU_CHECKS_MAX valid checks. */
bool laju_limiter_decide_all(laju_limiter *limiter, const laju_check *checks, size_t count, int64_t now_us,
                             laju_decision *decisions);

/* Independent checks. */
void laju_limiter_decide_each(laju_limiter *limiter, const laju_check *checks, size_t count, int64_t now_us,
                              laju_decision *decisions);

/* True where the key was known. */
bool laju_limiter_forget(laju_limiter *limiter, const laju_rule *rule, const char *key, size_t key_len, int64_t now_us);

/* As laju_limiter_save and laju_limiter_load, with bytes of the caller's that travel along (table/snapshot.h). */
int laju_limiter_save_with(laju_limiter *limiter, const char *path, const laju_buffer *rider, char why[LAJU_TEXT_SIZE]);
int laju_limiter_load_with(laju_limiter *limiter, const char *path, laju_buffer *rider, char why[LAJU_TEXT_SIZE]);

/* The store, for its statistics, sweeps and snapshots. */
laju_table *laju_limiter_table(laju_limiter *limiter);

#endif
