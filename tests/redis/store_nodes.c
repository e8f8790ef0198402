/* The register of nodes on a real Redis, through the store. */
#include "redis/nodes.h"

#include "redis/store_fixture.h"

#define NODES 3

static laju_nodes *nodes[NODES];
static _Atomic uint32_t counts[NODES];

static const laju_slice prefix = {"laju", 4};

static int open_here(void **unused) {
  (void)unused;
  open_and_wait(options_here());
  memset((void *)counts, 0, sizeof counts);
  return 0;
}

static void add_node(size_t i, const char *version) {
  assert_int_equal(laju_nodes_new(&nodes[i], the_store, loop, &prefix, version, &counts[i]), 0);
  assert_true(COMES_TRUE(loop, counts[i] > 0));
}

static void each_node_counts_those_that_are_there(void **unused) {
  (void)unused;
  for (uint32_t i = 0; i < NODES; i++) {
    add_node(i, i < 2 ? "1.0" : "1.1");
    assert_int_equal(counts[i], i + 1);
  }
  uint64_t began_ms = uv_now(loop); /* those that were first hear of the others, long before they sign in again */
  assert_true(COMES_TRUE(loop, counts[0] == NODES && counts[1] == NODES));
  assert_in_range(uv_now(loop) - began_ms, 0, LAJU_NODES_REFRESH_MS - 1);
  laju_nodes_seen seen;
  laju_nodes_look(nodes[2], &seen);
  assert_int_equal(seen.count, 3);
  assert_int_equal(seen.version_count, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(seen.versions[i].count, strcmp(seen.versions[i].text, "1.0") == 0 ? 2 : 1);
  }
  for (size_t i = 0; i < NODES; i++) laju_nodes_close(nodes[i]);
}

/* By Redis' clock: those that were last seen 15 seconds ago are none, nor those that will be seen in the future. */
static void nodes_that_are_not_seen_any_more_are_not_counted(void **unused) {
  (void)unused;
  redisReply *time = redis_command(&server, "TIME");
  long long now_ms = strtoll(time->element[0]->str, NULL, 10) * 1000;
  freeReplyObject(time);
  static const struct {
    const char *member;
    long long ago_ms;
  } others[] = {{"aaaaaaaaaaaaaaaa 1.0", 10000}, {"bbbbbbbbbbbbbbbb 1.0", 17000}, {"cccccccccccccccc 1.0", -60000}};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(redis_integer(&server, "ZADD laju:{!nodes} %lld %s", now_ms - others[i].ago_ms, others[i].member),
                     1);
  }
  add_node(0, "1.0");
  assert_int_equal(counts[0], 2);
  assert_int_equal(redis_integer(&server, "ZCARD laju:{!nodes}"), 2);
  assert_in_range(redis_integer(&server, "PTTL laju:{!nodes}"), 1, 60000);
  laju_nodes_close(nodes[0]);
}

static void what_cannot_be_a_version_or_prefix_is_refused(void **unused) {
  (void)unused;
  laju_slice braces = {"a{b}", 4};
  assert_int_equal(laju_nodes_new(&nodes[0], the_store, loop, &prefix, "1 0", &counts[0]), LAJU_ERR_NAME);
  assert_int_equal(laju_nodes_new(&nodes[0], the_store, loop, &braces, "1.0", &counts[0]), LAJU_ERR_NAME);
}

/* A key of another type is in the way, then gone. */
static void the_last_count_stands_while_there_is_no_answer(void **unused) {
  (void)unused;
  counts[0] = 7;
  freeReplyObject(redis_command(&server, "SET laju:{!nodes} x"));
  assert_int_equal(laju_nodes_new(&nodes[0], the_store, loop, &prefix, "1.0", &counts[0]), 0);
  let_pass(loop, 200);
  assert_int_equal(counts[0], 7);
  freeReplyObject(redis_command(&server, "DEL laju:{!nodes}"));
  assert_true(COMES_TRUE(loop, counts[0] == 1));
  laju_nodes_close(nodes[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(each_node_counts_those_that_are_there, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(nodes_that_are_not_seen_any_more_are_not_counted, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(what_cannot_be_a_version_or_prefix_is_refused, open_here, close_and_empty),
      cmocka_unit_test_setup_teardown(the_last_count_stands_while_there_is_no_answer, open_here, close_and_empty),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
