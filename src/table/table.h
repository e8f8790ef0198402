/* The embedded store: a bounded table of keys' states, used by many threads at once.
 *
 * What always holds
 *   - Memory is what the options say and never more. All of it is mapped at laju_table_new, lazily: the kernel gives a page
 *     when it is first written. Nothing is allocated after that.
 *   - A key is known by a keyed fingerprint: 64 bits in its slot, beside the 128-byte bucket that it is in. Its text is never
 *     stored. A key's state belongs to (rule name, algorithm, period, key).
 *   - Each key may stand in two buckets. There are no chains and nothing is ever moved: a key that finds both full takes the
 *     place of another (below).
 *   - Every decision of a request is made under the locks (a bit a bucket) of all its buckets, taken in ascending order and
 *     once each: no admission is lost or made twice, and several checks are charged all or none.
 *   - Sliding logs keep their stamps in a slab beside the buckets: 8 bytes a stamp, from 8 stamps and doubling.
 *
 * Who goes when both buckets are full: what is as good as new; then the largest remaining / limit; among equals the least
 * reset_after. When the slab is full, the log nearest to fresh goes, by the same order, of those that a bounded search looks
 * at (room.h). Evictions are counted. A request whose own keys do not all fit (logs that are larger together than the slab)
 * is decided all the same; those that do not fit are forgotten at once, and counted.
 *
 * `now_us` is the caller's clock, read once for many calls: microseconds since the epoch, 0 to LAJU_TIME_MAX_US.
 * Keys are 1 to LAJU_KEY_MAX bytes and costs within range: the callers have checked.
 */
#ifndef LAJU_TABLE_TABLE_H
#define LAJU_TABLE_TABLE_H

#include "table/denials.h"
#include <laju/laju.h>

typedef struct laju_table laju_table;

#define LAJU_TABLE_MEMORY_MIN (UINT64_C(1) << 20)
#define LAJU_TABLE_MEMORY_MAX (UINT64_C(1) << 40)
#define LAJU_TABLE_MEMORY_DEFAULT (UINT64_C(256) << 20)

typedef struct laju_table_options {
  uint64_t memory_bytes; /* all of it, logs included; 0: LAJU_TABLE_MEMORY_DEFAULT */
  /* The part of it for logs; 0: a quarter. Given out in blocks of 576 KiB (the largest log's 512, and their bookkeeping), at
   * least one; an eighth of the memory must be left for buckets and denials, a sixteenth for buckets alone. */
  uint64_t logs_bytes;
  uint64_t denials_bytes; /* the part of it for a memory of denials (denials.h), at least a page; 0: none */
  bool huge_pages; /* ask for pages of 2 MiB: fewer misses on the way to memory, and memory taken in such steps */
  const uint64_t *hash_key; /* two words, for tests that repeat; NULL: from the kernel's random numbers */
} laju_table_options;

typedef struct laju_table_stats {
  uint64_t slots;         /* how many keys there is room for */
  uint64_t keys;          /* slots in use, those of keys that are as good as new included */
  uint64_t evicted_fresh; /* keys that made room and had nothing to lose */
  uint64_t evicted_used;  /* keys that made room and forgot some usage */
  uint64_t logs_bytes;    /* the slab's size */
  uint64_t logs_used_bytes;
  uint64_t logs_evicted_fresh, logs_evicted_used; /* logs that made room in the slab (not counted above) */
  uint64_t denials;                               /* how many denials there is room for */
  uint64_t denials_displaced;                     /* those that made room before they had ended */
} laju_table_stats;

/* LAJU_ERR_MEMORY (outside its range, or not to be had), LAJU_ERR_SYSTEM. `options` may be NULL. */
int laju_table_new(laju_table **out, const laju_table_options *options);
void laju_table_free(laju_table *table);

/* One request of 1 to LAJU_CHECKS_MAX checks, all charged or none. Repeats of one (rule, key) are decided in order on what
 * the earlier ones would leave. Returns true where all are allowed. */
bool laju_table_decide_all(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                           laju_decision *decisions);

/* What laju_table_decide_all would answer: each decision as it would be at its turn. Charges nothing. */
bool laju_table_judge(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                      laju_decision *decisions);

/* Takes back what laju_table_decide_all(table, checks, count, charged_us, ...) charged when it allowed them: of each, what
 * certainly still stands of it (core/decide.h). A key that was forgotten since has nothing to give; one that was forgotten and
 * is there again may give what others were charged since. The rules are as they were. */
void laju_table_give_back(laju_table *table, const laju_check *checks, size_t count, int64_t charged_us);

/* Any number of independent checks, decided in their order; memory is fetched ahead, 16 at a time. */
void laju_table_decide_each(laju_table *table, const laju_check *checks, size_t count, int64_t now_us,
                            laju_decision *decisions);

/* Takes at most `check->cost` tokens: what remains, if it is less. Returns the tokens taken. */
uint32_t laju_table_take(laju_table *table, const laju_check *check, int64_t now_us, laju_decision *decision);

/* Forgets a key; true where it was known (and not as good as new). */
bool laju_table_forget(laju_table *table, const laju_rule *rule, const char *key, size_t key_len, int64_t now_us);

/* The memory of denials, or NULL where the options gave it no room. */
laju_denials *laju_table_denials(laju_table *table);

/* Frees what is as good as new in `count` buckets from bucket `from` on; returns where to go on (0: all seen). */
uint64_t laju_table_sweep(laju_table *table, uint64_t from, uint64_t count, int64_t now_us);

/* Counts and sizes, read while others work: each member is right, their sum may be of different instants. */
void laju_table_stats_read(const laju_table *table, laju_table_stats *out);

#endif
