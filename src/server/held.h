/* An answer that is kept back until its time: `wait: server`. Belongs to one loop's thread. */
#ifndef LAJU_SERVER_HELD_H
#define LAJU_SERVER_HELD_H

#include <uv.h>

typedef struct laju_held_answer {
  uv_timer_t timer;
  void (*on_over)(void *context); /* its time has come: take the bytes and free it */
  void *context;
  size_t len;
  char bytes[];
} laju_held_answer;

/* Copies the answer and calls `on_over` in `wait_ms` milliseconds from now. NULL where memory runs out. */
laju_held_answer *laju_held_answer_new(uv_loop_t *loop, const char *bytes, size_t len, uint64_t wait_ms,
                                       void (*on_over)(void *context), void *context);

/* Forgets it: `on_over` is not called any more. Its memory goes when the loop turns. NULL is allowed. */
void laju_held_answer_free(laju_held_answer *answer);

#endif
