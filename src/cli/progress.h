/* How far a long run is, on one line of stderr that is drawn over again, where that is a terminal. One thread. */
#ifndef LAJU_CLI_PROGRESS_H
#define LAJU_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAJU_PROGRESS_SIZE 256 /* room for the line */

typedef struct laju_progress {
  bool shown; /* stderr is a terminal */
  int64_t began_us, drawn_us;
} laju_progress;

/* What is done, of what there is. */
typedef struct laju_progress_state {
  uint64_t done, all; /* bytes; `all` is 0 where nobody knows */
  uint64_t lines;
  int64_t elapsed_us;
} laju_progress_state;

void laju_progress_begin(laju_progress *progress);

/* Draws at most ten times a second. */
void laju_progress_draw(laju_progress *progress, uint64_t done, uint64_t all, uint64_t lines);

/* Draws a few words instead of a bar, at once. */
void laju_progress_say(laju_progress *progress, const char *words);

/* Takes the line away. Returns the microseconds since the beginning. */
int64_t laju_progress_end(laju_progress *progress);

/* The line, at most `width` columns: "[#######-------]  48%  4,800,000 lines, 1,203,000 a second, 4s left". Returns its length. */
size_t laju_progress_format(char to[LAJU_PROGRESS_SIZE], size_t width, const laju_progress_state *state);

/* The columns of the terminal that the descriptor is; 0: it is none. */
size_t laju_terminal_width(int fd);

#endif
