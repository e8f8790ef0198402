#include "config/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config/read_full.h"
#include "config/value.h"

/* A pipe could keep a reload waiting for ever, and would be empty then. */
static int open_regular(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about;
  if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode))) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

/* At most `size` bytes; -1 with errno, which is EINVAL where it is no regular file. */
static ssize_t read_start(const char *path, char *to, size_t size) {
  int fd = open_regular(path);
  return fd < 0 ? -1 : laju_read_full(fd, to, size);
}

/* The line break that editors leave at the end is not the password's. */
static size_t without_break(const char *text, size_t len) {
  if (len > 0 && text[len - 1] == '\n') len--;
  return len > 0 && text[len - 1] == '\r' ? len - 1 : len;
}

int laju_secret_file_read(char *to, size_t max, const char *what, const char *text, size_t len,
                          char why[LAJU_TEXT_SIZE]) {
  char path[LAJU_PATH_MAX], held[LAJU_SECRET_MAX + 3], problem[96], allowed[96];
  if (laju_value_text(text, len, 1, LAJU_PATH_MAX - 1, path, why) < 0) return -1;
  ssize_t got = read_start(path, held, max + 3);
  if (got < 0) {
    snprintf(problem, sizeof problem, "cannot be read: %s", errno == EINVAL ? "no regular file" : strerror(errno));
    snprintf(allowed, sizeof allowed, "a file that holds the %s", what);
    return laju_complain(why, text, len, problem, NULL, allowed);
  }
  size_t held_len = without_break(held, (size_t)got);
  bool good = held_len > 0 && held_len <= max && memchr(held, '\0', held_len) == NULL;
  if (good) {
    memcpy(to, held, held_len);
    to[held_len] = '\0';
  }
  explicit_bzero(held, sizeof held);
  if (good) return 0;
  snprintf(problem, sizeof problem, "holds no %s", what);
  snprintf(allowed, sizeof allowed, "a file of 1 to %zu bytes, none of them zero", max);
  return laju_complain(why, text, len, problem, NULL, allowed);
}
