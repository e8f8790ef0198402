/* Any bytes are either refused as a whole, or overrides that are written again as they were. */
#include <stdlib.h>
#include <string.h>

#include "limiter/overlay_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth) {
  if (!truth) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static laju_rule_names *names;
  static laju_overlay *overlay;
  if (names == NULL) {
    names = laju_rule_names_new();
    demand(names != NULL && laju_overlay_new(&overlay) == 0);
  }
  laju_overlay_replace(overlay, NULL, 0, 0);
  if (laju_overlay_load(overlay, names, 0, (const char *)data, size) < 0) {
    demand(laju_overlay_count(overlay) == 0);
    return 0;
  }
  laju_buffer once = {0}, twice = {0};
  size_t count = laju_overlay_count(overlay);
  laju_overlay_save(overlay, names, 0, &once);
  laju_overlay_replace(overlay, NULL, 0, 0);
  demand(laju_overlay_load(overlay, names, 0, once.data, once.len) == 0);
  demand(laju_overlay_count(overlay) == count);
  laju_overlay_save(overlay, names, 0, &twice);
  demand(once.len == twice.len);
  laju_buffer_deinit(&once);
  laju_buffer_deinit(&twice);
  return 0;
}
