/* For tests that live on a libuv loop: turning it until something has come true. */
#ifndef TESTS_REDIS_LOOP_H
#define TESTS_REDIS_LOOP_H

#include <stdbool.h>
#include <unistd.h>
#include <uv.h>

#define PATIENCE_MS 10000

static bool patience_over;

static inline void on_patience_over(uv_timer_t *timer) {
  (void)timer;
  patience_over = true;
}

/* Turns the loop once; at most PATIENCE_MS pass until something happens, however often it is called. */
static inline void turn(uv_loop_t *loop, uv_timer_t *patience) {
  if (!uv_is_active((uv_handle_t *)patience)) uv_timer_start(patience, on_patience_over, PATIENCE_MS, 0);
  uv_run(loop, UV_RUN_ONCE);
}

static inline void begin_patience(uv_loop_t *loop, uv_timer_t *patience) {
  patience_over = false;
  uv_update_time(loop);
  uv_timer_init(loop, patience);
}

static inline bool end_patience(uv_loop_t *loop, uv_timer_t *patience) {
  uv_close((uv_handle_t *)patience, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
  return !patience_over;
}

/* True where `condition` came true. */
#define COMES_TRUE(loop, condition)                               \
  ({                                                              \
    uv_timer_t patience;                                          \
    begin_patience(loop, &patience);                              \
    while (!(condition) && !patience_over) turn(loop, &patience); \
    end_patience(loop, &patience);                                \
  })

/* Lets `ms` pass. */
static inline void let_pass(uv_loop_t *loop, uint64_t ms) {
  for (uint64_t until = uv_hrtime() + ms * 1000000; uv_hrtime() < until; usleep(1000)) uv_run(loop, UV_RUN_NOWAIT);
}

#endif
