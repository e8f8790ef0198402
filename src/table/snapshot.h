/* The table on disk, so that a restart forgets nothing.
 *
 * Written aside (PATH.tmp), checksummed, mode 0600, synced, then renamed; it holds the hash key, the time it was taken, and
 * every key that is not as good as new. Its bytes are described in snapshot_format.h. Saving and loading allocate a few MiB,
 * whatever the table's size, and give them back.
 */
#ifndef LAJU_TABLE_SNAPSHOT_H
#define LAJU_TABLE_SNAPSHOT_H

#include "base/buffer.h"
#include "table/table.h"

/* Bytes of the caller's that may travel in the file. */
#define LAJU_SNAPSHOT_RIDER_MAX (UINT64_C(16) << 20)

/* Writes a snapshot while other threads go on deciding: each bucket is copied under its lock, so each key is whole (keys of
 * one request may be of before and after it). One save at a time. LAJU_ERR_SYSTEM (errno) or LAJU_ERR_MEMORY, with `why` in
 * words; then what stood at `path` still stands (but where
 * only its directory could not be synced). What is no regular file is not replaced. `rider` (NULL: nothing) travels along: more than
 * LAJU_SNAPSHOT_RIDER_MAX bytes are LAJU_ERR_MEMORY. */
int laju_snapshot_save(laju_table *table, const char *path, int64_t now_us, const laju_buffer *rider,
                       char why[LAJU_TEXT_SIZE]);

/* Reads a snapshot into a table that nobody has used yet; the table takes over its hash key. A table of another size takes
 * it too (where it is smaller, who goes is decided as for a full bucket). `*taken_us` is when it was taken: the clock must
 * not start below it. LAJU_ERR_SNAPSHOT (truncated, corrupt, not ours, a newer format), LAJU_ERR_SYSTEM (errno; ENOENT where
 * there is none, EINVAL where it is no regular file), LAJU_ERR_MEMORY; then the table is empty and `why` says what is wrong. What travelled
 * along is appended to `rider` (NULL: it is passed over), whatever becomes of the rest. */
int laju_snapshot_load(laju_table *table, const char *path, int64_t *taken_us, laju_buffer *rider,
                       char why[LAJU_TEXT_SIZE]);

/* The same from bytes in memory (what the fuzzer feeds). */
int laju_snapshot_decode(laju_table *table, const void *bytes, size_t len, int64_t *taken_us, laju_buffer *rider,
                         char why[LAJU_TEXT_SIZE]);

#endif
