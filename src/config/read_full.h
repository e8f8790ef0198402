/* Reading a file's beginning whole, whatever pieces it comes in. */
#ifndef LAJU_CONFIG_READ_FULL_H
#define LAJU_CONFIG_READ_FULL_H

#include <stddef.h>
#include <sys/types.h>

/* Up to `size` bytes of `fd`, less only at its end, and closes it. -1 with errno. */
ssize_t laju_read_full(int fd, char *to, size_t size);

#endif
