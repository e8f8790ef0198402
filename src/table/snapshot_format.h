/* Inside `table` only: what a snapshot's bytes are. Numbers are little endian, and everything is a multiple of 8 bytes long.
 *
 *   header   magic "LAJUSNAP" | u32 version, u32 zero | u64 hash key (2) | u64 taken_us | u64 buckets | u64 checksum
 *   chunk    u32 kind, u32 length | payload of `length` bytes | u64 checksum
 *            ... of kind RECORDS, then any of kind RIDER, and one last of kind END: u64 chunks before it, u64 keys in them
 *
 * A checksum is the first word of the SipHash, under the file's own hash key, of all before it in the header, or of the
 * chunk's number (from 0), its kind | length << 32, and its payload. It finds damage; it does not prove who wrote the file.
 *
 * Records are words. The first is tag (4 bits) | shape id (12 bits) << 4 | bucket (48 bits) << 16, then by tag
 *   SHAPE    the shape's two words: what this id means from here on, until it is said again
 *   STATE    fingerprint, the state's two words
 *   LOG      fingerprint, number of stamps (1 to 65,536), the stamps, oldest first
 * A RIDER's payload is u64 bytes, then so many of the caller's, then zeros; several are one run of bytes. A laju that knows none
 * takes such a file for corrupt, so it is written only where there is something to carry.
 * A bucket's number is a stretch of the hash's range, so it means something in a table of any size.
 */
#ifndef LAJU_TABLE_SNAPSHOT_FORMAT_H
#define LAJU_TABLE_SNAPSHOT_FORMAT_H

#include "base/siphash.h"
#include "table/bucket.h"

#define LAJU_SNAPSHOT_MAGIC UINT64_C(0x50414e53554a414c) /* "LAJUSNAP" */
#define LAJU_SNAPSHOT_VERSION 1u

#define LAJU_SNAPSHOT_RECORDS 1u
#define LAJU_SNAPSHOT_END 2u
#define LAJU_SNAPSHOT_RIDER 3u

#define LAJU_SNAPSHOT_TAG_SHAPE 1u
#define LAJU_SNAPSHOT_TAG_STATE 2u
#define LAJU_SNAPSHOT_TAG_LOG 3u

/* A chunk is closed once it is this long; the last bucket in it may bring five logs of the largest size. */
#define LAJU_SNAPSHOT_CHUNK_BYTES (UINT64_C(1) << 20)
#define LAJU_SNAPSHOT_BUCKET_BYTES (LAJU_BUCKET_SLOTS * (LAJU_LOG_LIMIT_MAX * UINT64_C(8) + 64))
#define LAJU_SNAPSHOT_PAYLOAD_MAX (LAJU_SNAPSHOT_CHUNK_BYTES + LAJU_SNAPSHOT_BUCKET_BYTES)

/* No table that laju makes has fewer buckets. */
#define LAJU_SNAPSHOT_BUCKETS_MIN 1024u

typedef struct laju_snapshot_header {
  uint64_t magic;
  uint32_t version, zero;
  uint64_t hash_key[2];
  uint64_t taken_us;
  uint64_t buckets;
  uint64_t checksum;
} laju_snapshot_header;

_Static_assert(sizeof(laju_snapshot_header) == 56, "the header's bytes are the struct's");

typedef struct laju_snapshot_chunk {
  uint32_t kind, length;
} laju_snapshot_chunk;

static inline uint64_t laju_snapshot_header_checksum(const laju_snapshot_header *header) {
  size_t covered = offsetof(laju_snapshot_header, checksum);
  return laju_siphash(header->hash_key[0], header->hash_key[1], header, covered).lo;
}

static inline uint64_t laju_snapshot_chunk_checksum(const uint64_t hash_key[2], uint64_t number,
                                                    laju_snapshot_chunk chunk, const void *payload) {
  const uint64_t prefix[2] = {number, (uint64_t)chunk.kind | (uint64_t)chunk.length << 32};
  return laju_siphash_prefixed(hash_key[0], hash_key[1], prefix, payload, chunk.length).lo;
}

static inline uint64_t laju_snapshot_word(unsigned tag, unsigned shape, uint64_t bucket) {
  return (uint64_t)tag | (uint64_t)shape << 4 | bucket << 16;
}

#endif
