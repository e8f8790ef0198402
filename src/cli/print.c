#include "cli/print.h"

#include "base/duration.h"

static void add_wait(laju_buffer *to, const char *before, int64_t ms) {
  char wait[24];
  laju_duration_format(wait, sizeof wait, ms * 1000);
  laju_buffer_add_format(to, "%s%s", before, wait);
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

static void add_json_text(laju_buffer *to, const char *text) {
  laju_buffer_add_text(to, "\"");
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      laju_buffer_add_format(to, "\\%c", c);
    } else if (c < ' ') {
      laju_buffer_add_format(to, "\\u%04x", c);
    } else {
      laju_buffer_add(to, text, 1);
    }
  }
  laju_buffer_add_text(to, "\"");
}

void laju_answer_print_json(laju_buffer *to, const char *rule, const laju_answer *answer) {
  laju_buffer_add_format(to, "{\"allowed\":%s,\"rule\":", answer->allowed ? "true" : "false");
  add_json_text(to, rule);
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
