#include "server/window.h"

#include <string.h>

void laju_window_feed(laju_window *window, const laju_histogram *now, int64_t now_us) {
  laju_histogram *reading = &window->readings[window->next];
  memset(reading, 0, sizeof *reading);
  laju_histogram_merge(reading, now);
  window->at_us[window->next] = now_us;
  window->next = (window->next + 1) % LAJU_WINDOW_READINGS;
  if (window->count < LAJU_WINDOW_READINGS) window->count++;
}

laju_lately laju_window_look(laju_window *window, const laju_histogram *now, int64_t now_us) {
  if (window->count == 0) return (laju_lately){.window_us = 0};
  size_t oldest = (window->next + LAJU_WINDOW_READINGS - window->count) % LAJU_WINDOW_READINGS;
  laju_histogram *since = &window->difference;
  memset(since, 0, sizeof *since);
  laju_histogram_merge(since, now);
  laju_histogram_subtract(since, &window->readings[oldest]);
  return (laju_lately){
      .window_us = now_us - window->at_us[oldest],
      .count = laju_histogram_count(since),
      .p50_us = laju_histogram_quantile(since, 0.5),
      .p99_us = laju_histogram_quantile(since, 0.99),
  };
}
