#include "server/held.h"

#include <stdlib.h>
#include <string.h>

static void on_timer(uv_timer_t *timer) {
  laju_held_answer *answer = timer->data;
  answer->on_over(answer->context);
}

laju_held_answer *laju_held_answer_new(uv_loop_t *loop, const char *bytes, size_t len, uint64_t wait_ms,
                                       void (*on_over)(void *context), void *context) {
  laju_held_answer *answer = malloc(sizeof *answer + len);
  if (answer == NULL) return NULL;
  answer->on_over = on_over;
  answer->context = context;
  answer->len = len;
  memcpy(answer->bytes, bytes, len);
  uv_timer_init(loop, &answer->timer);
  answer->timer.data = answer;
  uv_update_time(loop); /* the wait counts from now, not from when this turn of the loop began */
  uv_timer_start(&answer->timer, on_timer, wait_ms, 0);
  return answer;
}

static void on_closed(uv_handle_t *timer) {
  free(timer->data);
}

void laju_held_answer_free(laju_held_answer *answer) {
  if (answer != NULL) uv_close((uv_handle_t *)&answer->timer, on_closed);
}
