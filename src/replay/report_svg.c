#include "base/duration.h"
#include "replay/access_time.h"
#include "replay/report.h"
#include "replay/text.h"

/* The picture, in its own units. */
#define WIDTH 960
#define HEIGHT 360
#define LEFT 72
#define RIGHT 24
#define TOP 64
#define BOTTOM 44
#define PLOT_WIDTH (WIDTH - LEFT - RIGHT)
#define PLOT_HEIGHT (HEIGHT - TOP - BOTTOM)
#define LABELS_MAX 6 /* of times below */

static const char head[] =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 360\" role=\"img\" font-family=\"system-ui, sans-serif\" "
    "font-size=\"12\">\n"
    "<style>\n"
    "  .page { fill: #ffffff } .text { fill: #1f2933 } .muted { fill: #5f6b7a } .line { stroke: #dfe3e8; fill: none }\n"
    "  .admitted { fill: #2a78d6 } .refused { fill: #d13c3c }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    .page { fill: #15191e } .text { fill: #e8ecf0 } .muted { fill: #9aa5b1 } .line { stroke: #323a43 }\n"
    "    .admitted { fill: #5b9ee8 } .refused { fill: #f0716b }\n"
    "  }\n"
    "</style>\n";

static uint64_t total_of(const laju_span *step) {
  return step->admitted + step->refused;
}

/* 1, 2 or 5 times a power of ten, so that up to four such steps cover `most`. */
static uint64_t grid_step(uint64_t most) {
  uint64_t step = 1;
  for (unsigned i = 0; step * 4 < most; i++) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

static uint64_t most_of(const laju_timeline *timeline) {
  uint64_t most = 1;
  for (size_t i = 0; i < timeline->count; i++) {
    if (total_of(&timeline->steps[i]) > most) most = total_of(&timeline->steps[i]);
  }
  return most;
}

static double x_of(const laju_timeline *timeline, size_t step) {
  return LEFT + (double)PLOT_WIDTH * (double)step / (double)timeline->count;
}

static double y_of(uint64_t count, uint64_t top) {
  return TOP + PLOT_HEIGHT * (1 - (double)count / (double)top);
}

/* One shape for all steps: a rectangle for each, from `from` up to `to` requests. */
static void add_shape(const laju_timeline *timeline, bool refused, uint64_t top, laju_buffer *out) {
  laju_buffer_add_format(out, "<path class=\"%s\" d=\"", refused ? "refused" : "admitted");
  for (size_t i = 0; i < timeline->count; i++) {
    const laju_span *step = &timeline->steps[i];
    uint64_t from = refused ? step->admitted : 0, to = refused ? total_of(step) : step->admitted;
    if (from == to) continue;
    laju_buffer_add_format(out, "M%.2f %.2fV%.2fH%.2fV%.2fZ", x_of(timeline, i), y_of(from, top), y_of(to, top),
                           x_of(timeline, i + 1), y_of(from, top));
  }
  laju_buffer_add_text(out, "\"/>\n");
}

static void add_grid(uint64_t step, uint64_t top, laju_buffer *out) {
  for (uint64_t at = 0; at <= top; at += step) {
    double y = y_of(at, top);
    laju_buffer_add_format(out, "<path class=\"line\" d=\"M%d %.2fH%d\"/>\n", LEFT, y, WIDTH - RIGHT);
    laju_buffer_add_format(out, "<text class=\"muted\" x=\"%d\" y=\"%.2f\" text-anchor=\"end\">", LEFT - 8, y + 4);
    laju_text_add_count(out, at);
    laju_buffer_add_text(out, "</text>\n");
  }
}

/* Times below, each where its step begins; the last at its own end. */
static void add_times(const laju_timeline *timeline, laju_buffer *out) {
  size_t labels = timeline->count < LABELS_MAX ? timeline->count : LABELS_MAX;
  for (size_t i = 0; i < labels; i++) {
    size_t step = labels > 1 ? i * (timeline->count - 1) / (labels - 1) : 0;
    char text[LAJU_TIME_TEXT_SIZE];
    laju_time_format(text, (timeline->from_s + (int64_t)step * timeline->step_s) * 1000000);
    const char *anchor = i == 0 ? "start" : i + 1 == labels ? "end" : "middle";
    double x = i + 1 == labels && i > 0 ? WIDTH - RIGHT : x_of(timeline, step);
    laju_buffer_add_format(out, "<text class=\"muted\" x=\"%.2f\" y=\"%d\" text-anchor=\"%s\">%.5s %.8s</text>\n", x,
                           HEIGHT - BOTTOM + 20, anchor, text + 5, text + 11);
  }
}

/* A square in the colour, and what it stands for. */
static void add_key(const char *class, int x, uint64_t count, laju_buffer *out) {
  laju_buffer_add_format(out, "<rect class=\"%s\" x=\"%d\" y=\"38\" width=\"10\" height=\"10\" rx=\"2\"/>\n", class, x);
  laju_buffer_add_format(out, "<text class=\"text\" x=\"%d\" y=\"47\">%s ", x + 16, class);
  laju_text_add_count(out, count);
  laju_buffer_add_text(out, "</text>\n");
}

static void add_title(const laju_report *report, laju_buffer *out) {
  const laju_replay_tally *tally = report->tally;
  const char *title = report->file_count == 1 ? report->files[0] : "several logs";
  laju_buffer_add_text(out, "<title>Requests of ");
  laju_text_add_xml(out, (laju_slice){title, strlen(title)});
  laju_buffer_add_text(out, " over time, admitted and refused</title>\n");
  laju_buffer_add_format(out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
  laju_buffer_add_format(out, "<text class=\"text\" x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"600\">", LEFT);
  laju_text_add_xml(out, (laju_slice){title, strlen(title)});
  laju_buffer_add_text(out, "</text>\n");
  add_key("admitted", LEFT, tally->admitted, out);
  add_key("refused", LEFT + 200, tally->refused, out);
}

void laju_report_draw(const laju_report *report, laju_buffer *to) {
  const laju_timeline *timeline = &report->tally->timeline;
  uint64_t step = grid_step(most_of(timeline));
  uint64_t top = (most_of(timeline) + step - 1) / step * step;
  char per[32];
  laju_duration_format(per, sizeof per, timeline->step_s * 1000000);
  laju_buffer_add_text(to, head);
  add_title(report, to);
  laju_buffer_add_format(to, "<text class=\"muted\" x=\"%d\" y=\"47\" text-anchor=\"end\">requests in %s, UTC</text>\n",
                         WIDTH - RIGHT, per);
  add_grid(step, top, to);
  if (timeline->count > 0) {
    add_shape(timeline, false, top, to);
    add_shape(timeline, true, top, to);
    add_times(timeline, to);
  }
  laju_buffer_add_text(to, "</svg>\n");
}
