#include "redis/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static laju_pipeline pipeline;

/* "LOST 1, UNSENT 2": in the order of `done`. */
static char told[256];

typedef struct order {
  laju_link_command command;
  int number;
} order;

static void on_done(laju_link_command *command, laju_link_fate fate, const redisReply *reply) {
  static const char *const fates[] = {"REPLIED", "LOST", "UNSENT"};
  assert_null(reply);
  size_t len = strlen(told);
  snprintf(told + len, sizeof told - len, "%s%s %d", len > 0 ? ", " : "", fates[fate], ((order *)command)->number);
}

static int begin(void **unused) {
  (void)unused;
  pipeline = (laju_pipeline){0};
  told[0] = '\0';
  return 0;
}

static int end(void **unused) {
  (void)unused;
  laju_pipeline_deinit(&pipeline);
  return 0;
}

/* A command of ten bytes: "111111111\n". */
static void add(order *o, int number, int64_t deadline_us) {
  char bytes[10];
  memset(bytes, '0' + number, 9);
  bytes[9] = '\n';
  *o = (order){.command = {.done = on_done, .deadline_us = deadline_us, .replies = 1}, .number = number};
  laju_buffer_add(&pipeline.out, bytes, 10);
  assert_true(laju_pipeline_add(&pipeline, &o->command));
}

static void assert_unsent(const char *bytes) {
  assert_int_equal(pipeline.out.len - pipeline.sent, strlen(bytes));
  if (*bytes != '\0') assert_memory_equal(pipeline.out.data + pipeline.sent, bytes, strlen(bytes));
}

static void replies_belong_to_the_commands_in_order(void **unused) {
  (void)unused;
  order a, b;
  add(&a, 1, 0);
  add(&b, 2, 0);
  a.command.awaited = 2;
  assert_null(laju_pipeline_take(&pipeline)); /* the first of two */
  assert_ptr_equal(laju_pipeline_take(&pipeline), &a.command);
  assert_ptr_equal(laju_pipeline_take(&pipeline), &b.command);
  assert_int_equal(pipeline.count, 0);
  assert_null(pipeline.first);
}

static void what_was_begun_is_lost_and_what_was_not_is_unsent(void **unused) {
  (void)unused;
  order a, b, c;
  add(&a, 1, 0);
  add(&b, 2, 0);
  add(&c, 3, 0);
  laju_pipeline_sent(&pipeline, 11);
  laju_pipeline_cut(&pipeline);
  assert_string_equal(told, "LOST 1, LOST 2, UNSENT 3");
  assert_int_equal(pipeline.count, 0);
  assert_unsent("");
}

static void a_command_that_ends_where_the_sent_bytes_end_leaves_the_next_unsent(void **unused) {
  (void)unused;
  order a, b;
  add(&a, 1, 0);
  add(&b, 2, 0);
  laju_pipeline_sent(&pipeline, 10);
  laju_pipeline_cut(&pipeline);
  assert_string_equal(told, "LOST 1, UNSENT 2");
}

static void bytes_that_must_leave_count_as_left(void **unused) {
  (void)unused;
  order a, b;
  add(&a, 1, 0);
  add(&b, 2, 0);
  laju_pipeline_commit(&pipeline, 11);
  laju_pipeline_cut(&pipeline);
  assert_string_equal(told, "LOST 1, LOST 2");
}

static void the_late_are_taken_out_from_between(void **unused) {
  (void)unused;
  order o[6];
  const int64_t deadlines[] = {10, 10, 30, 10, 30, 10};
  for (int i = 0; i < 6; i++) add(&o[i], i + 1, deadlines[i]);
  laju_pipeline_sent(&pipeline, 5); /* the first has begun, so it goes on though it is late */
  laju_pipeline_drop_late(&pipeline, 20);
  assert_string_equal(told, "UNSENT 2, UNSENT 4, UNSENT 6");
  assert_unsent("1111\n333333333\n555555555\n");
  assert_int_equal(pipeline.count, 3);

  order next;
  add(&next, 7, 30); /* behind them, as if the others had never been */
  laju_pipeline_sent(&pipeline, 16);
  assert_ptr_equal(laju_pipeline_take(&pipeline), &o[0].command);
  told[0] = '\0';
  laju_pipeline_drop_late(&pipeline, 40);
  assert_string_equal(told, "UNSENT 7");
  assert_unsent("55555555\n");
  laju_pipeline_cut(&pipeline);
  assert_string_equal(told, "UNSENT 7, LOST 3, LOST 5");
}

static void a_deadline_of_this_moment_is_not_past(void **unused) {
  (void)unused;
  order a;
  add(&a, 1, 20);
  laju_pipeline_drop_late(&pipeline, 20);
  assert_string_equal(told, "");
  laju_pipeline_drop_late(&pipeline, 21);
  assert_string_equal(told, "UNSENT 1");
  assert_unsent("");
}

static void places_go_on_when_all_has_left(void **unused) {
  (void)unused;
  order a, b;
  add(&a, 1, 0);
  laju_pipeline_sent(&pipeline, 10);
  assert_int_equal(pipeline.out.len, 0);
  add(&b, 2, 0);
  assert_int_equal(b.command.start, 10);
  laju_pipeline_cut(&pipeline);
  assert_string_equal(told, "LOST 1, UNSENT 2");
}

static void bytes_that_are_forgotten_belong_to_no_command(void **unused) {
  (void)unused;
  order a, b;
  add(&a, 1, 0);
  laju_buffer_add_text(&pipeline.out, "no command");
  laju_pipeline_forget(&pipeline);
  add(&b, 2, 0);
  assert_unsent("111111111\n222222222\n");
}

static void a_command_whose_bytes_have_no_memory_is_refused_alone(void **unused) {
  (void)unused;
  order a, b = {.number = 2};
  add(&a, 1, 0);
  laju_buffer_add_text(&pipeline.out, "half of it");
  assert_null(laju_buffer_reserve(&pipeline.out, SIZE_MAX));
  assert_false(laju_pipeline_add(&pipeline, &b.command));
  assert_unsent("111111111\n");
  assert_int_equal(pipeline.count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(replies_belong_to_the_commands_in_order, begin, end),
      cmocka_unit_test_setup_teardown(what_was_begun_is_lost_and_what_was_not_is_unsent, begin, end),
      cmocka_unit_test_setup_teardown(a_command_that_ends_where_the_sent_bytes_end_leaves_the_next_unsent, begin, end),
      cmocka_unit_test_setup_teardown(bytes_that_must_leave_count_as_left, begin, end),
      cmocka_unit_test_setup_teardown(the_late_are_taken_out_from_between, begin, end),
      cmocka_unit_test_setup_teardown(a_deadline_of_this_moment_is_not_past, begin, end),
      cmocka_unit_test_setup_teardown(places_go_on_when_all_has_left, begin, end),
      cmocka_unit_test_setup_teardown(bytes_that_are_forgotten_belong_to_no_command, begin, end),
      cmocka_unit_test_setup_teardown(a_command_whose_bytes_have_no_memory_is_refused_alone, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
