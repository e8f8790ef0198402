#include "table/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/request.h"
#include "table/snapshot_format.h"
#include "table/standing.h"

/* Where the bytes come from: a file, or memory. */
typedef struct source {
  int fd;                     /* or -1: from memory */
  const unsigned char *bytes; /* what is left of it */
  size_t len;
} source;

/* What an id of the file means, and the table's id for it. */
typedef struct known_shape {
  laju_shape shape;
  unsigned id; /* 0: the file has not said */
} known_shape;

typedef struct reader {
  laju_table *table;
  source source;
  laju_snapshot_header header;
  uint64_t *payload;
  uint64_t chunks, keys;
  laju_held nothing_held;
  known_shape known[LAJU_SHAPE_MAX + 1];
  laju_buffer *rider; /* NULL: it is passed over */
  uint64_t rider_len;
  char *why;
} reader;

static int corrupt(const reader *r, const char *what) {
  snprintf(r->why, LAJU_TEXT_SIZE, "corrupt snapshot: %s in chunk %" PRIu64, what, r->chunks);
  return LAJU_ERR_SNAPSHOT;
}

static int truncated(const reader *r) {
  snprintf(r->why, LAJU_TEXT_SIZE, "truncated snapshot: it ends in chunk %" PRIu64, r->chunks);
  return LAJU_ERR_SNAPSHOT;
}

/* ---- bytes ---- */

/* Reads `len` bytes, or as many as there are: returns how many, or LAJU_ERR_SYSTEM. */
static ssize_t read_some(reader *r, void *to, size_t len) {
  source *s = &r->source;
  if (s->fd < 0) {
    if (len > s->len) len = s->len;
    if (len > 0) memcpy(to, s->bytes, len);
    s->bytes += len;
    s->len -= len;
    return (ssize_t)len;
  }
  size_t done = 0;
  while (done < len) {
    ssize_t got = read(s->fd, (char *)to + done, len - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      snprintf(r->why, LAJU_TEXT_SIZE, "cannot read the snapshot: %s", strerror(error));
      errno = error;
      return LAJU_ERR_SYSTEM;
    }
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

static int read_whole(reader *r, void *to, size_t len) {
  ssize_t got = read_some(r, to, len);
  if (got < 0) return (int)got;
  return (size_t)got == len ? 0 : truncated(r);
}

/* ---- putting keys in ---- */

/* The buckets of this table that a bucket of the file shares some of the hash's range with. */
static void find_range(const reader *r, uint64_t bucket, uint64_t *first, uint64_t *last) {
  uint64_t n = r->header.buckets, m = r->table->bucket_count;
  uint64_t low = ((bucket << 32) + n - 1) / n;
  uint64_t high = bucket + 1 == n ? UINT32_MAX : (((bucket + 1) << 32) + n - 1) / n - 1;
  *first = (low * m) >> 32;
  *last = (high * m) >> 32;
}

/* A slot for a key of this standing, unless the bucket holds it already or is full of keys that rather stay. */
static bool find_slot(reader *r, uint64_t bucket, uint64_t print, bool log, const laju_decision *standing,
                      laju_slot *out) {
  const uint64_t both[2] = {bucket, bucket};
  int64_t taken_us = (int64_t)r->header.taken_us;
  int same = laju_bucket_find(&r->table->buckets[bucket], print, log);
  if (same >= 0) { /* two buckets of the file are one here: the copy that is further from fresh is the key's */
    laju_decision there = laju_standing_of(r->table, &r->table->buckets[bucket], (unsigned)same, taken_us);
    if (!laju_standing_goes_before(&there, standing)) return false;
    laju_store_drop(r->table, bucket, (unsigned)same);
  }
  return laju_request_find_slot(r->table, &r->nothing_held, both, taken_us, standing, out);
}

static void put_state(reader *r, uint64_t bucket, const known_shape *known, uint64_t print, laju_state state) {
  laju_decision standing = laju_standing_of_state(known->shape, state, (int64_t)r->header.taken_us);
  laju_slot at;
  if (!find_slot(r, bucket, print, false, &standing, &at)) return;
  laju_store_put(r->table, at.bucket, at.slot, known->id, print, state);
}

static void put_log(reader *r, uint64_t bucket, const known_shape *known, uint64_t print, laju_log stamps) {
  int64_t taken_us = (int64_t)r->header.taken_us;
  laju_decision standing = laju_standing_of_log(known->shape, &stamps, taken_us);
  laju_rule rule = laju_shape_rule(known->shape);
  uint32_t capacity = laju_log_need(&rule, &(laju_log){.capacity = 0}, taken_us, stamps.count);
  laju_slot at;
  uint64_t unit;
  if (!find_slot(r, bucket, print, true, &standing, &at)) return;
  if (laju_room_find(r->table, &r->nothing_held, at.bucket, capacity, taken_us, &unit) != 0) return;
  laju_log_move(&stamps, laju_slab_stamps(&r->table->slab, unit), capacity);
  laju_store_put(r->table, at.bucket, at.slot, known->id, print, laju_slab_refer(unit, &stamps));
}

/* ---- records: each takes its words from `at` on and returns how many, or LAJU_ERR_SNAPSHOT ---- */

static int read_shape(reader *r, unsigned id, const uint64_t *at, size_t left) {
  if (left < 3) return corrupt(r, "half a shape");
  laju_shape shape = {.tokens = at[1], .time = at[2]};
  if (id == 0 || !laju_shape_valid(shape)) return corrupt(r, "a shape that no rule has");
  bool log = laju_shape_rule(shape).algorithm == LAJU_SLIDING_WINDOW_LOG;
  if (log != laju_shape_is_log(id)) return corrupt(r, "a shape of the wrong kind");
  r->known[id] =
      (known_shape){.shape = shape, .id = laju_shape_id(&r->table->shapes, shape, (int64_t)r->header.taken_us)};
  return 3;
}

static int read_state(reader *r, unsigned id, uint64_t bucket, const uint64_t *at, size_t left) {
  if (left < 4) return corrupt(r, "half a state");
  const known_shape *known = &r->known[id];
  laju_state state = {.words = {at[2], at[3]}};
  if (known->id == 0 || laju_shape_is_log(id)) return corrupt(r, "a state without its shape");
  if (!laju_standing_state_valid(known->shape, state)) return corrupt(r, "a state outside the law's ranges");
  uint64_t first, last;
  find_range(r, bucket, &first, &last);
  for (uint64_t b = first; b <= last; b++) put_state(r, b, known, at[1], state);
  r->keys++;
  return 4;
}

static bool stamps_rise(const laju_log *stamps) {
  for (uint32_t i = 1; i < stamps->count; i++) {
    if (stamps->stamps[i] < stamps->stamps[i - 1]) return false;
  }
  return true;
}

/* A ring's size is a power of two. */
static uint32_t ring_size(uint64_t count) {
  uint32_t size = LAJU_LOG_CAPACITY_MIN;
  while (size < count) size *= 2;
  return size;
}

static int read_log(reader *r, unsigned id, uint64_t bucket, uint64_t *at, size_t left) {
  const known_shape *known = &r->known[id];
  if (left < 3 || at[2] == 0 || at[2] > LAJU_LOG_LIMIT_MAX || at[2] > left - 3) return corrupt(r, "half a log");
  if (known->id == 0 || !laju_shape_is_log(id)) return corrupt(r, "a log without its shape");
  laju_log stamps = {.stamps = at + 3, .capacity = ring_size(at[2]), .count = (uint32_t)at[2]};
  if (!stamps_rise(&stamps) || !laju_standing_log_valid(known->shape, &stamps))
    return corrupt(r, "a log of wrong times");
  uint64_t first, last;
  find_range(r, bucket, &first, &last);
  for (uint64_t b = first; b <= last; b++) put_log(r, b, known, at[1], stamps);
  r->keys++;
  return (int)(3 + at[2]);
}

static int read_record(reader *r, uint64_t *at, size_t left) {
  unsigned tag = (unsigned)(at[0] & 0xf), id = (unsigned)(at[0] >> 4) & LAJU_SHAPE_MAX;
  uint64_t bucket = at[0] >> 16;
  if (bucket >= r->header.buckets) return corrupt(r, "a bucket that is none");
  switch (tag) {
    case LAJU_SNAPSHOT_TAG_SHAPE: return read_shape(r, id, at, left);
    case LAJU_SNAPSHOT_TAG_STATE: return read_state(r, id, bucket, at, left);
    case LAJU_SNAPSHOT_TAG_LOG: return read_log(r, id, bucket, at, left);
    default: return corrupt(r, "an unknown record");
  }
}

static int read_records(reader *r, size_t words) {
  for (size_t at = 0; at < words;) {
    int used = read_record(r, r->payload + at, words - at);
    if (used < 0) return used;
    at += (size_t)used;
  }
  return 0;
}

/* ---- the file ---- */

static int read_header(reader *r) {
  laju_snapshot_header *h = &r->header;
  int error = read_whole(r, h, sizeof *h);
  if (error < 0) return error;
  if (h->magic != LAJU_SNAPSHOT_MAGIC) {
    snprintf(r->why, LAJU_TEXT_SIZE, "not a snapshot of laju's");
    return LAJU_ERR_SNAPSHOT;
  }
  if (h->version != LAJU_SNAPSHOT_VERSION) {
    snprintf(r->why, LAJU_TEXT_SIZE, "a snapshot of format %u; this laju reads format %u", (unsigned)h->version,
             LAJU_SNAPSHOT_VERSION);
    return LAJU_ERR_SNAPSHOT;
  }
  bool sound = h->checksum == laju_snapshot_header_checksum(h) && h->zero == 0 && h->taken_us <= LAJU_TIME_MAX_US &&
               h->buckets >= LAJU_SNAPSHOT_BUCKETS_MIN && h->buckets <= LAJU_BUCKETS_MAX;
  if (sound) return 0;
  snprintf(r->why, LAJU_TEXT_SIZE, "corrupt snapshot: its header");
  return LAJU_ERR_SNAPSHOT;
}

static int read_chunk(reader *r, laju_snapshot_chunk *chunk) {
  int error = read_whole(r, chunk, sizeof *chunk);
  if (error < 0) return error;
  if (chunk->length == 0 || chunk->length % 8 != 0 || chunk->length > LAJU_SNAPSHOT_PAYLOAD_MAX) {
    return corrupt(r, "an impossible length");
  }
  error = read_whole(r, r->payload, chunk->length + 8);
  if (error < 0) return error;
  uint64_t checksum = laju_snapshot_chunk_checksum(r->header.hash_key, r->chunks, *chunk, r->payload);
  return checksum == r->payload[chunk->length / 8] ? 0 : corrupt(r, "a wrong checksum");
}

static int read_rider(reader *r, size_t words) {
  uint64_t len = r->payload[0];
  if (len == 0 || len > (words - 1) * 8 || (len + 7) / 8 != words - 1) return corrupt(r, "an impossible length");
  r->rider_len += len;
  if (r->rider_len > LAJU_SNAPSHOT_RIDER_MAX) return corrupt(r, "too much that travels along");
  if (r->rider != NULL) laju_buffer_add(r->rider, r->payload + 1, len);
  return 0;
}

static int read_end(reader *r, size_t words) {
  unsigned char more;
  if (words != 2 || r->payload[0] != r->chunks || r->payload[1] != r->keys)
    return corrupt(r, "totals that do not add up");
  ssize_t got = read_some(r, &more, 1);
  if (got < 0) return (int)got;
  return got == 0 ? 0 : corrupt(r, "bytes after its end");
}

static int read_file(reader *r) {
  int error = read_header(r);
  if (error < 0) return error;
  for (;; r->chunks++) {
    laju_snapshot_chunk chunk;
    error = read_chunk(r, &chunk);
    if (error < 0) return error;
    if (chunk.kind == LAJU_SNAPSHOT_END) return read_end(r, chunk.length / 8);
    if (chunk.kind != LAJU_SNAPSHOT_RECORDS && chunk.kind != LAJU_SNAPSHOT_RIDER) return corrupt(r, "an unknown kind");
    bool rides = chunk.kind == LAJU_SNAPSHOT_RIDER;
    error = rides ? read_rider(r, chunk.length / 8) : read_records(r, chunk.length / 8);
    if (error < 0) return error;
  }
}

static int load(laju_table *table, source from, int64_t *taken_us, laju_buffer *rider, char why[LAJU_TEXT_SIZE]) {
  reader *r = calloc(1, sizeof *r);
  uint64_t *payload = malloc(LAJU_SNAPSHOT_PAYLOAD_MAX + 8);
  int error = LAJU_ERR_MEMORY;
  if (r != NULL && payload != NULL) {
    r->table = table;
    r->source = from;
    r->payload = payload;
    r->rider = rider;
    r->why = why;
    error = read_file(r);
  } else {
    snprintf(why, LAJU_TEXT_SIZE, "no memory for reading the snapshot");
  }
  int saved = errno;
  if (error == 0) {
    table->hash_key[0] = r->header.hash_key[0];
    table->hash_key[1] = r->header.hash_key[1];
    *taken_us = (int64_t)r->header.taken_us;
  } else {
    laju_store_clear(table);
  }
  free(payload);
  free(r);
  errno = saved;
  return error;
}

/* What is no regular file is a mistake, not a damaged snapshot: it must not be moved aside, and a pipe not be waited for. */
static int load_from(laju_table *table, int fd, const char *path, int64_t *taken_us, laju_buffer *rider,
                     char why[LAJU_TEXT_SIZE]) {
  struct stat file;
  if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) return load(table, (source){.fd = fd}, taken_us, rider, why);
  snprintf(why, LAJU_TEXT_SIZE, "%.160s is not a regular file", path);
  errno = EINVAL;
  return LAJU_ERR_SYSTEM;
}

int laju_snapshot_load(laju_table *table, const char *path, int64_t *taken_us, laju_buffer *rider,
                       char why[LAJU_TEXT_SIZE]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    int error = errno;
    snprintf(why, LAJU_TEXT_SIZE, "cannot open %.160s: %s", path, strerror(error));
    errno = error;
    return LAJU_ERR_SYSTEM;
  }
  int error = load_from(table, fd, path, taken_us, rider, why);
  int saved = errno;
  close(fd);
  errno = saved;
  return error;
}

int laju_snapshot_decode(laju_table *table, const void *bytes, size_t len, int64_t *taken_us, laju_buffer *rider,
                         char why[LAJU_TEXT_SIZE]) {
  return load(table, (source){.fd = -1, .bytes = bytes, .len = len}, taken_us, rider, why);
}
