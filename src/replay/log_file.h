/* A log file's lines, one after another: plain or gzip (told by its first bytes), or from standard input. Memory is one buffer,
 * whatever the file's size; a line lies in it until the next is asked for. One thread a file. */
#ifndef LAJU_REPLAY_LOG_FILE_H
#define LAJU_REPLAY_LOG_FILE_H

#include <laju/laju.h>

#include "base/slice.h"

typedef struct laju_log_file laju_log_file;

#define LAJU_LOG_FILE_BUFFER (1 << 20)

/* Opens a file; "-" is standard input. 0, or LAJU_ERR_SYSTEM or _MEMORY with `why`. */
int laju_log_file_open(laju_log_file **out, const char *path, char why[LAJU_TEXT_SIZE]);
void laju_log_file_close(laju_log_file *file);

typedef enum laju_log_step {
  LAJU_LOG_END,
  LAJU_LOG_LINE,
  LAJU_LOG_LONG, /* a line of more than LAJU_ACCESS_LINE_MAX bytes: `line` has its first ones, the rest is passed over */
  LAJU_LOG_BROKEN /* the rest cannot be read: laju_log_file_error */
} laju_log_step;

/* The next line, without its newline. Its bytes may be changed. */
laju_log_step laju_log_file_next(laju_log_file *file, char **line, size_t *len);

/* Why it is BROKEN. */
const char *laju_log_file_error(laju_log_file *file);

/* Bytes of the file as it is stored: how many there are (0: nobody knows), and how many were read. */
uint64_t laju_log_file_size(const laju_log_file *file);
uint64_t laju_log_file_read(laju_log_file *file);

#endif
