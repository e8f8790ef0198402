#include "cli/print.h"

#include <string.h>

#include "proto/json_text.h"
#include "replay/text.h"

static int64_t up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}

/* As people say it, rounded up: 250ms, 12.3s, 1h46m28s, 2d3h. */
static void add_wait(laju_buffer *to, const char *before, int64_t ms) {
  laju_buffer_add_text(to, before);
  if (ms < 1000) {
    laju_buffer_add_format(to, "%lldms", (long long)ms);
    return;
  }
  int64_t tenths = up(ms, 100);
  if (tenths < 600) {
    laju_buffer_add_int(to, tenths / 10);
    if (tenths % 10 != 0) laju_buffer_add_format(to, ".%lld", (long long)(tenths % 10));
    laju_buffer_add_text(to, "s");
    return;
  }
  static const struct {
    int64_t seconds;
    const char *unit;
  } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
  int64_t left = up(ms, 1000);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (left >= units[i].seconds)
      laju_buffer_add_format(to, "%lld%s", (long long)(left / units[i].seconds), units[i].unit);
    left %= units[i].seconds;
  }
}

void laju_answer_print(laju_buffer *to, const laju_answer *answer) {
  laju_buffer_add_format(to, "%s: %lld of %lld remain", answer->allowed ? "allowed" : "denied",
                         (long long)answer->remaining, (long long)answer->limit);
  if (answer->delay_ms > 0) add_wait(to, "; wait your turn for ", answer->delay_ms);
  if (!answer->allowed && answer->retry_after_ms == LAJU_NEVER) {
    laju_buffer_add_text(to, "; the cost is above the limit, so waiting cannot help");
  } else if (!answer->allowed) {
    add_wait(to, "; try again in ", answer->retry_after_ms);
  }
  if (answer->reset_after_ms > 0) add_wait(to, "; as good as new in ", answer->reset_after_ms);
  laju_buffer_add_text(to, "\n");
}

void laju_answer_print_json(laju_buffer *to, const char *rule, const laju_answer *answer) {
  laju_buffer_add_format(to, "{\"allowed\":%s,\"rule\":", answer->allowed ? "true" : "false");
  laju_json_add_text(to, (laju_slice){rule, strlen(rule)});
  laju_buffer_add_format(to, ",\"limit\":%lld,\"remaining\":%lld,\"retry_after_ms\":", (long long)answer->limit,
                         (long long)answer->remaining);
  if (answer->retry_after_ms == LAJU_NEVER) {
    laju_buffer_add_text(to, "null");
  } else {
    laju_buffer_add_int(to, answer->retry_after_ms);
  }
  laju_buffer_add_format(to, ",\"reset_after_ms\":%lld,\"delay_ms\":%lld}\n", (long long)answer->reset_after_ms,
                         (long long)answer->delay_ms);
}

void laju_text_clean(char *text) {
  for (; *text != '\0'; text++) {
    if ((unsigned char)*text < ' ' || *text == 0x7f) *text = '?';
  }
}
