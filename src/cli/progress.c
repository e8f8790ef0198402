#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "replay/text.h"

#define DRAW_EVERY_US 100000
#define BAR_MIN 10 /* columns, below which there is none */
#define BAR_MAX 40
#define WIDTH_DEFAULT 80 /* of a terminal that does not tell */
#define CLEAR "\r\033[K"

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

size_t laju_terminal_width(int fd) {
  struct winsize size;
  if (isatty(fd) == 0) return 0;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : WIDTH_DEFAULT;
}

/* What stands behind the bar. */
static void add_figures(laju_buffer *to, const laju_progress_state *state) {
  double elapsed_s = (double)state->elapsed_us / 1e6;
  if (state->all > 0) laju_buffer_add_format(to, "%3d%%  ", (int)(100.0 * (double)state->done / (double)state->all));
  laju_text_add_count(to, state->lines);
  laju_buffer_add_text(to, " lines");
  if (state->elapsed_us <= 0) return;
  laju_buffer_add_text(to, ", ");
  laju_text_add_count(to, (uint64_t)((double)state->lines / elapsed_s));
  laju_buffer_add_text(to, " a second");
  if (state->all == 0 || state->done == 0) return;
  double left_s = elapsed_s * (double)(state->all - state->done) / (double)state->done;
  laju_buffer_add_format(to, ", %.0fs left", left_s + 0.5);
}

size_t laju_progress_format(char to[LAJU_PROGRESS_SIZE], size_t width, const laju_progress_state *state) {
  laju_progress_state s = *state;
  laju_buffer text = {0};
  if (s.all > 0 && s.done > s.all) s.done = s.all;
  add_figures(&text, &s);
  if (width > LAJU_PROGRESS_SIZE - 1) width = LAJU_PROGRESS_SIZE - 1;
  size_t bar = s.all > 0 && width > text.len + 4 ? width - text.len - 4 : 0, len = 0;
  if (bar > BAR_MAX) bar = BAR_MAX;
  if (bar >= BAR_MIN) {
    size_t full = (size_t)((double)bar * (double)s.done / (double)s.all);
    to[len++] = '[';
    memset(to + len, '-', bar);
    memset(to + len, '#', full);
    len += bar;
    to[len++] = ']';
    to[len++] = ' ';
  }
  size_t kept = text.failed ? 0 : text.len < width - len ? text.len : width - len;
  if (kept > 0) memcpy(to + len, text.data, kept);
  laju_buffer_deinit(&text);
  to[len + kept] = '\0';
  return len + kept;
}

void laju_progress_begin(laju_progress *progress) {
  *progress = (laju_progress){.shown = isatty(STDERR_FILENO) != 0, .began_us = now_us()};
}

void laju_progress_draw(laju_progress *progress, uint64_t done, uint64_t all, uint64_t lines) {
  char line[LAJU_PROGRESS_SIZE];
  if (!progress->shown) return;
  int64_t now = now_us();
  if (now - progress->drawn_us < DRAW_EVERY_US) return;
  progress->drawn_us = now;
  laju_progress_state state = {.done = done, .all = all, .lines = lines, .elapsed_us = now - progress->began_us};
  laju_progress_format(line, laju_terminal_width(STDERR_FILENO) - 1, &state);
  fprintf(stderr, CLEAR "%s", line);
}

void laju_progress_say(laju_progress *progress, const char *words) {
  if (progress->shown) fprintf(stderr, CLEAR "%s", words);
}

int64_t laju_progress_end(laju_progress *progress) {
  if (progress->shown) fputs(CLEAR, stderr);
  return now_us() - progress->began_us;
}
