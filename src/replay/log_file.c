#include "replay/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "replay/access_log.h"

#define GZIP_BUFFER (128 << 10) /* bytes of it are fed to zlib at once */

_Static_assert(LAJU_LOG_FILE_BUFFER >= 2 * LAJU_ACCESS_LINE_MAX, "there is room to read behind the longest line");

struct laju_log_file {
  gzFile gz;
  uint64_t size;
  size_t at, end; /* what is read and not yet given out */
  bool ended;     /* nothing more comes */
  bool failed;    /* because it cannot be read */
  bool passing;   /* over the rest of a line that was too long */
  char buffer[LAJU_LOG_FILE_BUFFER];
};

static int fail(char why[LAJU_TEXT_SIZE], const char *path, const char *reason) {
  snprintf(why, LAJU_TEXT_SIZE, "%.180s: %s", path, reason);
  return LAJU_ERR_SYSTEM;
}

/* A descriptor, or -1 with errno. */
static int open_descriptor(const char *path, uint64_t *size) {
  int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
  struct stat about;
  *size = 0;
  if (fd < 0) return -1;
  if (fstat(fd, &about) < 0 || S_ISDIR(about.st_mode)) {
    close(fd);
    errno = EISDIR;
    return -1;
  }
  if (S_ISREG(about.st_mode)) *size = (uint64_t)about.st_size;
  return fd;
}

int laju_log_file_open(laju_log_file **out, const char *path, char why[LAJU_TEXT_SIZE]) {
  uint64_t size;
  int fd = open_descriptor(path, &size);
  if (fd < 0) return fail(why, path, strerror(errno));
  laju_log_file *file = malloc(sizeof *file);
  gzFile gz = file != NULL ? gzdopen(fd, "rb") : NULL;
  if (gz == NULL) {
    free(file);
    close(fd);
    snprintf(why, LAJU_TEXT_SIZE, "memory ran out");
    return LAJU_ERR_MEMORY;
  }
  gzbuffer(gz, GZIP_BUFFER);
  file->gz = gz;
  file->size = size;
  file->at = file->end = 0;
  file->ended = file->failed = file->passing = false;
  *out = file;
  return 0;
}

void laju_log_file_close(laju_log_file *file) {
  if (file == NULL) return;
  gzclose_r(file->gz);
  free(file);
}

const char *laju_log_file_error(laju_log_file *file) {
  int error;
  const char *text = gzerror(file->gz, &error);
  if (error == Z_ERRNO) return strerror(errno);
  if (error == Z_BUF_ERROR) return "the gzip data ends too early";
  return error == Z_DATA_ERROR ? "the gzip data is damaged" : text;
}

/* Reads on behind what is there, which is moved to the front. */
static void fill(laju_log_file *file) {
  size_t kept = file->end - file->at;
  memmove(file->buffer, file->buffer + file->at, kept);
  int got = gzread(file->gz, file->buffer + kept, (unsigned)(sizeof file->buffer - kept));
  int error;
  gzerror(file->gz, &error);
  file->at = 0;
  file->end = kept + (got > 0 ? (size_t)got : 0);
  file->failed = got < 0 || (error != Z_OK && error != Z_STREAM_END);
  file->ended = file->failed || got == 0;
}

laju_log_step laju_log_file_next(laju_log_file *file, char **line, size_t *len) {
  for (;;) {
    char *begin = file->buffer + file->at;
    size_t left = file->end - file->at;
    char *newline = left > 0 ? memchr(begin, '\n', left) : NULL;
    bool passing = file->passing;
    if (newline == NULL && left == 0 && file->ended) return file->failed ? LAJU_LOG_BROKEN : LAJU_LOG_END;
    if (newline == NULL && left <= LAJU_ACCESS_LINE_MAX && !file->ended) {
      fill(file);
      continue;
    }
    *line = begin;
    *len = newline != NULL ? (size_t)(newline - begin) : left;
    file->at = newline != NULL ? file->at + *len + 1 : file->end;
    file->passing = newline == NULL && !file->ended;
    if (passing) continue;
    return *len > LAJU_ACCESS_LINE_MAX ? LAJU_LOG_LONG : LAJU_LOG_LINE;
  }
}

uint64_t laju_log_file_size(const laju_log_file *file) {
  return file->size;
}

uint64_t laju_log_file_read(laju_log_file *file) {
  z_off_t offset = gzoffset(file->gz);
  return offset > 0 ? (uint64_t)offset : 0;
}
