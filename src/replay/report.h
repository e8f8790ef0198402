/* What a replay has found, for people, for programs, and as a picture. Pure. */
#ifndef LAJU_REPLAY_REPORT_H
#define LAJU_REPLAY_REPORT_H

#include "base/buffer.h"
#include "replay/replay.h"
#include "replay/suggest.h"

#define LAJU_UNREADABLE_SHOWN 5
#define LAJU_UNREADABLE_TEXT 80 /* bytes of a line that are shown */

/* A line that could not be read. */
typedef struct laju_unreadable {
  const char *file;
  uint64_t line; /* from 1 */
  const char *why;
  size_t len; /* of the whole line */
  char text[LAJU_UNREADABLE_TEXT];
} laju_unreadable;

typedef struct laju_report {
  const laju_ruleset *rules;
  const laju_replay_tally *tally;
  const char *const *files; /* as they were given */
  size_t file_count;
  uint64_t lines;      /* those that hold no request included */
  uint64_t unreadable; /* lines; the first ones are shown */
  laju_unreadable shown[LAJU_UNREADABLE_SHOWN];
  int64_t elapsed_us;
  size_t top;                      /* how many of those refused most are told */
  const laju_suggested *suggested; /* of each rule; NULL: not asked for */
  const char *share;               /* "p99.9", as it was asked for */
  uint64_t left_out;               /* checks that suggestions know nothing of */
} laju_report;

/* Text in lines of at most `width` columns, where names and keys let it (0: any). */
void laju_report_print(const laju_report *report, size_t width, laju_buffer *to);

/* One JSON object and a newline. */
void laju_report_print_json(const laju_report *report, laju_buffer *to);

/* Requests admitted and refused over time, as an SVG document that is readable in light and in dark. */
void laju_report_draw(const laju_report *report, laju_buffer *to);

#endif
