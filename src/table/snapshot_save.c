#include "table/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/snapshot_format.h"
#include "table/standing.h"

typedef struct writer {
  laju_table *table;
  int64_t now_us;
  int fd;
  uint64_t *words; /* the chunk in the making: its head, payload, checksum */
  size_t count;    /* words of the payload */
  uint64_t chunks, keys;
  laju_shape known[LAJU_SHAPE_MAX + 1]; /* what the file says of each id so far; zeros: nothing */
} writer;

#define CHUNK_WORDS (LAJU_SNAPSHOT_PAYLOAD_MAX / 8 + 2)

static int explain(char why[LAJU_TEXT_SIZE], const char *what, const char *path) {
  int error = errno;
  snprintf(why, LAJU_TEXT_SIZE, "%s %.160s: %s", what, path, strerror(error));
  errno = error;
  return LAJU_ERR_SYSTEM;
}

static int write_all(int fd, const void *bytes, size_t len) {
  const char *from = bytes;
  while (len > 0) {
    ssize_t written = write(fd, from, len);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return LAJU_ERR_SYSTEM;
    from += written;
    len -= (size_t)written;
  }
  return 0;
}

/* ---- chunks ---- */

static int write_chunk(writer *w, uint32_t kind) {
  laju_snapshot_chunk chunk = {.kind = kind, .length = (uint32_t)(w->count * 8)};
  memcpy(w->words, &chunk, sizeof chunk);
  w->words[1 + w->count] = laju_snapshot_chunk_checksum(w->table->hash_key, w->chunks, chunk, w->words + 1);
  int error = write_all(w->fd, w->words, (w->count + 2) * 8);
  w->chunks++;
  w->count = 0;
  return error;
}

static void add(writer *w, uint64_t word) {
  w->words[1 + w->count++] = word;
}

/* ---- records, under the bucket's lock ---- */

static bool same_shape(laju_shape a, laju_shape b) {
  return a.tokens == b.tokens && a.time == b.time;
}

/* What an id means now. An id may be given to another shape at any time, so a key is judged and written by one reading. */
static laju_shape read_shape(writer *w, unsigned id) {
  laju_shape shape = laju_shape_read(&w->table->shapes, id);
  return same_shape(shape, w->known[id]) ? shape : laju_shape_read_whole(&w->table->shapes, id);
}

static void add_shape(writer *w, unsigned id, laju_shape shape) {
  if (same_shape(shape, w->known[id])) return;
  w->known[id] = shape;
  add(w, laju_snapshot_word(LAJU_SNAPSHOT_TAG_SHAPE, id, 0));
  add(w, shape.tokens);
  add(w, shape.time);
}

static void add_stamps(writer *w, laju_log log) {
  add(w, log.count);
  laju_log_move(&log, w->words + 1 + w->count, log.capacity);
  w->count += log.count;
}

static void add_key(writer *w, uint64_t bucket, unsigned slot) {
  const laju_bucket *b = &w->table->buckets[bucket];
  unsigned id = laju_bucket_shape(b, slot);
  if (id == 0) return;
  bool log = laju_shape_is_log(id);
  laju_shape shape = read_shape(w, id);
  laju_state state = b->states[slot];
  laju_log stamps = log ? laju_slab_view(&w->table->slab, state) : (laju_log){.capacity = 0};
  laju_decision standing =
      log ? laju_standing_of_log(shape, &stamps, w->now_us) : laju_standing_of_state(shape, state, w->now_us);
  bool valid = log ? laju_standing_log_valid(shape, &stamps) : laju_standing_state_valid(shape, state);
  if (valid && laju_shape_is_recycled(&w->table->shapes, id)) laju_standing_doubt(&standing);
  if (laju_standing_is_fresh(&standing)) return;
  add_shape(w, id, shape);
  add(w, laju_snapshot_word(log ? LAJU_SNAPSHOT_TAG_LOG : LAJU_SNAPSHOT_TAG_STATE, id, bucket));
  add(w, laju_bucket_print(b, slot));
  if (log) {
    add_stamps(w, stamps);
  } else {
    add(w, state.words[0]);
    add(w, state.words[1]);
  }
  w->keys++;
}

static void add_bucket(writer *w, uint64_t bucket) {
  laju_bucket *b = &w->table->buckets[bucket];
  if (laju_bucket_is_empty(b)) return;
  laju_bucket_lock(b);
  for (unsigned slot = 0; slot < LAJU_BUCKET_SLOTS; slot++) add_key(w, bucket, slot);
  laju_bucket_unlock(b);
}

/* ---- the file ---- */

static int write_header(const writer *w) {
  laju_snapshot_header header = {
      .magic = LAJU_SNAPSHOT_MAGIC,
      .version = LAJU_SNAPSHOT_VERSION,
      .hash_key = {w->table->hash_key[0], w->table->hash_key[1]},
      .taken_us = (uint64_t)w->now_us,
      .buckets = w->table->bucket_count,
  };
  header.checksum = laju_snapshot_header_checksum(&header);
  return write_all(w->fd, &header, sizeof header);
}

static int write_keys(writer *w) {
  uint64_t bucket = laju_store_next_touched(w->table, 0);
  while (bucket < w->table->bucket_count) {
    add_bucket(w, bucket);
    if (w->count * 8 >= LAJU_SNAPSHOT_CHUNK_BYTES && write_chunk(w, LAJU_SNAPSHOT_RECORDS) < 0) return LAJU_ERR_SYSTEM;
    bucket = laju_store_next_touched(w->table, bucket + 1);
  }
  return w->count > 0 ? write_chunk(w, LAJU_SNAPSHOT_RECORDS) : 0;
}

static int write_rider(writer *w, const char *bytes, size_t len) {
  while (len > 0) {
    size_t part = len < LAJU_SNAPSHOT_CHUNK_BYTES ? len : LAJU_SNAPSHOT_CHUNK_BYTES;
    add(w, part);
    w->words[w->count + (part + 7) / 8] = 0; /* what fills up the last word */
    memcpy(w->words + 1 + w->count, bytes, part);
    w->count += (part + 7) / 8;
    if (write_chunk(w, LAJU_SNAPSHOT_RIDER) < 0) return LAJU_ERR_SYSTEM;
    bytes += part;
    len -= part;
  }
  return 0;
}

static int write_end(writer *w) {
  uint64_t chunks = w->chunks;
  add(w, chunks);
  add(w, w->keys);
  return write_chunk(w, LAJU_SNAPSHOT_END);
}

static int write_file(laju_table *table, int fd, int64_t now_us, const laju_buffer *rider) {
  writer *w = calloc(1, sizeof *w);
  uint64_t *words = malloc(CHUNK_WORDS * sizeof *words);
  int error = LAJU_ERR_MEMORY;
  if (w != NULL && words != NULL) {
    *w = (writer){.table = table, .now_us = now_us, .fd = fd, .words = words};
    error = write_header(w);
    if (error == 0) error = write_keys(w);
    if (error == 0 && rider != NULL) error = write_rider(w, rider->data, rider->len);
    if (error == 0) error = write_end(w);
  }
  int saved = errno;
  free(words);
  free(w);
  errno = saved;
  return error;
}

/* A name is only safe on disk once its directory is. */
static int sync_directory_of(const char *path) {
  char directory[PATH_MAX];
  const char *slash = strrchr(path, '/');
  size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  memcpy(directory, path, len);
  directory[len] = '\0';
  int fd = open(len == 0 ? "." : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return LAJU_ERR_SYSTEM;
  int error = fsync(fd) < 0 && errno != EINVAL ? LAJU_ERR_SYSTEM : 0; /* EINVAL: a file system that has no such thing */
  int saved = errno;
  close(fd);
  errno = saved;
  return error;
}

static int name_temporary(char out[PATH_MAX], const char *path) {
  int len = snprintf(out, PATH_MAX, "%s.tmp", path);
  if (len > 0 && len < PATH_MAX) return 0;
  errno = ENAMETOOLONG;
  return LAJU_ERR_SYSTEM;
}

static int save_aside(laju_table *table, const char *temporary, int64_t now_us, const laju_buffer *rider,
                      char why[LAJU_TEXT_SIZE]) {
  unlink(temporary); /* what a killed save left */
  int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (fd < 0) return explain(why, "cannot create", temporary);
  int error = write_file(table, fd, now_us, rider);
  if (error == 0 && fsync(fd) < 0) error = LAJU_ERR_SYSTEM;
  if (error == LAJU_ERR_SYSTEM) explain(why, "cannot write", temporary);
  if (error == LAJU_ERR_MEMORY) snprintf(why, LAJU_TEXT_SIZE, "no memory for writing %.160s", temporary);
  int saved = errno;
  close(fd);
  if (error < 0) unlink(temporary);
  errno = saved;
  return error;
}

/* A device that is replaced, /dev/null above all, is missed by the whole machine. */
static bool is_special(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && !S_ISREG(file.st_mode);
}

int laju_snapshot_save(laju_table *table, const char *path, int64_t now_us, const laju_buffer *rider,
                       char why[LAJU_TEXT_SIZE]) {
  char temporary[PATH_MAX];
  if (rider != NULL && (rider->failed || rider->len > LAJU_SNAPSHOT_RIDER_MAX)) {
    snprintf(why, LAJU_TEXT_SIZE, "what travels in the snapshot does not fit");
    return LAJU_ERR_MEMORY;
  }
  if (name_temporary(temporary, path) < 0) return explain(why, "cannot create", path);
  if (is_special(path)) {
    errno = EINVAL;
    snprintf(why, LAJU_TEXT_SIZE, "cannot replace %.160s: it is not a regular file", path);
    return LAJU_ERR_SYSTEM;
  }
  int error = save_aside(table, temporary, now_us, rider, why);
  if (error < 0) return error;
  if (rename(temporary, path) < 0) {
    error = explain(why, "cannot replace", path);
    int saved = errno;
    unlink(temporary);
    errno = saved;
    return error;
  }
  if (sync_directory_of(path) < 0) return explain(why, "cannot sync the directory of", path);
  return 0;
}
