/* A secret that a file holds, so that no command line and no configuration does. The line break that editors leave at its end is not
 * part of it. */
#ifndef LAJU_CONFIG_SECRET_FILE_H
#define LAJU_CONFIG_SECRET_FILE_H

#include <laju/laju.h>

/* Reads the file named by `len` bytes of text, which is a regular one and holds 1 to `max` (at most LAJU_SECRET_MAX) bytes, none of
 * them zero; `to` has room for one more. `what` it is, for a message. 0, or -1 with `why`; `to` is then as it was. */
#define LAJU_SECRET_MAX 256
int laju_secret_file_read(char *to, size_t max, const char *what, const char *text, size_t len,
                          char why[LAJU_TEXT_SIZE]);

#endif
