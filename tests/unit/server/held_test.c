#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/held.h"

typedef struct receiver {
  laju_held_answer *answer;
  char got[16];
  int times;
} receiver;

static void take(void *context) {
  receiver *r = context;
  memcpy(r->got, r->answer->bytes, r->answer->len);
  r->times++;
  laju_held_answer_free(r->answer);
}

static void an_answer_comes_once_when_its_time_is_over(void **unused) {
  (void)unused;
  uv_loop_t loop;
  receiver r = {.times = 0};
  char bytes[] = "answer";
  assert_int_equal(uv_loop_init(&loop), 0);
  uint64_t began = uv_hrtime();
  r.answer = laju_held_answer_new(&loop, bytes, sizeof bytes, 2, take, &r);
  memset(bytes, 0, sizeof bytes); /* it has a copy */
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(r.times, 1);
  assert_string_equal(r.got, "answer");
  assert_true(uv_hrtime() - began >= 1000000); /* the loop counts in whole milliseconds */
  assert_int_equal(uv_loop_close(&loop), 0);
}

static void one_that_is_freed_before_never_comes(void **unused) {
  (void)unused;
  uv_loop_t loop;
  receiver r = {.times = 0};
  assert_int_equal(uv_loop_init(&loop), 0);
  laju_held_answer_free(laju_held_answer_new(&loop, "x", 1, 0, take, &r));
  laju_held_answer_free(NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(r.times, 0);
  assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_answer_comes_once_when_its_time_is_over),
      cmocka_unit_test(one_that_is_freed_before_never_comes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
