#include "config/read_full.h"

#include <errno.h>
#include <unistd.h>

ssize_t laju_read_full(int fd, char *to, size_t size) {
  size_t len = 0;
  ssize_t got = 1;
  while (got > 0 && len < size) {
    got = read(fd, to + len, size - len);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      len += (size_t)got;
  }
  int error = errno;
  close(fd);
  errno = error;
  return got < 0 ? -1 : (ssize_t)len;
}
