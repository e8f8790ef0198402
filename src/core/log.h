/* The sliding log's half of the law: the times of its admissions, in a ring. Pure; any thread.
 *
 * The ring belongs to the caller, who also finds room for it: ask laju_log_need, make the ring at least that large, then
 * laju_log_admit. Deciding never writes.
 */
#ifndef LAJU_CORE_LOG_H
#define LAJU_CORE_LOG_H

#include <laju/laju.h>

/* A view of one key's log. Stamps are ticks, oldest first, never falling; slot (head + i) & (capacity - 1) holds the i-th.
 * `count` of 0 is "never seen". The bytes kept in a shared store are capacity, head, count, zero (u32 each), then all
 * `capacity` stamps (u64 each). */
typedef struct laju_log {
  uint64_t *stamps;  /* `capacity` of them; may be NULL where capacity is 0 */
  uint32_t capacity; /* 0 or a power of two, at most LAJU_LOG_LIMIT_MAX */
  uint32_t head;     /* slot of the oldest */
  uint32_t count;    /* stamps held, expired ones too */
  uint32_t pending;  /* tokens that earlier checks of this same request would add at this same time; 0 at rest */
} laju_log;

#define LAJU_LOG_CAPACITY_MIN 8

/* Decides one check under a sliding-window-log rule and charges nothing. As laju_decide in all else; the decision is told
 * as if `log->pending` tokens and, where admitted, `cost` more had been written now. */
void laju_log_decide(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t cost, laju_decision *out);

/* The capacity that a ring must have before `tokens` can be admitted now: a power of two from LAJU_LOG_CAPACITY_MIN.
 * Expired stamps make room first. */
uint32_t laju_log_need(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t tokens);

/* Copies the stamps into a larger (or smaller, but large enough) ring, oldest first from slot 0. `log` then uses it. */
void laju_log_move(laju_log *log, uint64_t *stamps, uint32_t capacity);

/* Writes an admission of `tokens` (that laju_log_decide allowed at this same `now_us`), and clears `pending`. The ring has
 * the capacity that laju_log_need told. */
void laju_log_admit(const laju_rule *rule, laju_log *log, int64_t now_us, uint32_t tokens);

/* Takes at most `most` tokens, as laju_take does; charges nothing: admit what it returns. */
uint32_t laju_log_take(const laju_rule *rule, const laju_log *log, int64_t now_us, uint32_t most, laju_decision *out);

/* Takes back, as laju_give_back does, an admission of `tokens` at `charged_us`: at most so many stamps of that very tick. An
 * admission whose clock was behind the log's left its stamps at the log's time; it keeps those in exchange. */
void laju_log_give_back(const laju_rule *rule, laju_log *log, int64_t charged_us, uint32_t tokens);

#endif
