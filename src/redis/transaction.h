/* Deciding without scripts, for servers whose access rules forbid them (`atomicity: transaction`): commands out, replies in, no
 * socket. Fixed windows and sliding window counters only.
 *
 * A counter for each window stands in a key of its own, NAME:WINDOW:t. A call is one MULTI: Redis' time, then of each ask the
 * counter before (INCRBY by its cost) and, for a sliding one, that of the window before; C decides on what they were before, and
 * takes back what was not admitted by another MULTI.
 *
 *     replies = laju_transaction_call(asks, count, guess_us, &buffer);
 *     what = laju_transaction_read(reply, asks, count, guess_us, answers, &now_us);
 *     replies = laju_transaction_take_back(asks, count, answers, guess_us, &buffer);
 *
 * Which keys to count in must be known before: `guess_us` is the time that Redis' clock is expected to show. If it turns out to be in
 * another window all is taken back, and asked again with the time that is known now. So what counts in a window was decided in it.
 *
 * What it cannot promise is in docs/configuration.md ("Without scripts"). Pure, no allocation beyond the buffer; any thread.
 */
#ifndef LAJU_REDIS_TRANSACTION_H
#define LAJU_REDIS_TRANSACTION_H

#include "redis/script.h"

/* Appends MULTI to EXEC for up to LAJU_SCRIPT_CHECKS_MAX asks; returns how many replies that brings. */
uint32_t laju_transaction_call(const laju_script_ask *asks, size_t count, int64_t guess_us, laju_buffer *to);

/* How many elements EXEC's reply holds for these asks, beside the time. */
size_t laju_transaction_width(const laju_script_ask *asks, size_t count);

typedef enum laju_transaction_result {
  LAJU_TRANSACTION_DECIDED, /* `answers` and `now_us` stand */
  LAJU_TRANSACTION_STALE,   /* the time has gone on to another window, `now_us` says how far: nothing is decided */
  LAJU_TRANSACTION_BROKEN,  /* no reply to such a call */
} laju_transaction_result;

/* Reads EXEC's reply. An ask without a rule is one that nobody wants any more, as in laju_script_read. */
laju_transaction_result laju_transaction_read(const redisReply *reply, const laju_script_ask *asks, size_t count,
                                              int64_t guess_us, laju_script_answer *answers, int64_t *now_us);

/* Appends what takes back what was not admitted; `answers` NULL: all of it. Returns how many replies that brings, 0 where there is
 * nothing to take back. A counter that is gone meanwhile is not made to run below zero. */
uint32_t laju_transaction_take_back(const laju_script_ask *asks, size_t count, const laju_script_answer *answers,
                                    int64_t guess_us, laju_buffer *to);

/* Appends the DEL of a key: what scripts keep under its name, and the windows around `now_us`. */
void laju_transaction_forget(const laju_rule *rule, const char *name, size_t name_len, int64_t now_us, laju_buffer *to);

/* Reads the reply to TIME: us since the epoch, or -1. */
int64_t laju_transaction_read_time(const redisReply *reply);

#endif
